import { patience } from '@docrelay/server/kernel/testing/patience'
import { TAG } from '@docrelay/protocol/frames'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { type ConsoleUnderTest, openConsole } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

it('[CON-20] a person who signs in sees the documents and opens one', async (context) => {
  const { rest, signInAs } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await signInAs('ann')
  await ann.getByRole('link', { name: 'Weekly minutes' }).click()
  await ann.getByRole('textbox', { name: 'Title of the document' }).waitFor()
  await editorOf(ann).getByText('Present: Ann').waitFor()
  expect(new URL(ann.url()).hash).toBe('#doc/minutes')
  expect(new URL(ann.url()).search).toBe('')
  await ann.reload()
  await editorOf(ann).getByText('Present: Ann').waitFor()
})

it('[CON-20] without a sign-in the page asks to sign in, then shows the place that the person wanted', async (context) => {
  const { rest, openSignedOut } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', minutes())
  const page = await openSignedOut('#doc/minutes')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Ann' }).click()
  await editorOf(page).getByText('Present: Ann').waitFor()
})

it('[CON-21] a token that is about to expire is renewed while a document is open', async (context) => {
  const { rest, signInAs, issuer } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', minutes())
  let renewals = 0
  const ann = await signInAs('ann', '#doc/minutes', {
    // The first token expires soon, so that the client asks for another one while the document is open.
    async onProfile(profile) {
      await profile.route(`${issuer.url}/token`, async (route) => {
        const answer = await route.fetch()
        const tokens = (await answer.json()) as Record<string, unknown>
        if (route.request().postData()?.includes('grant_type=refresh_token')) renewals++
        else tokens['access_token'] = await issuer.mint('ann', { lifetimeSec: 20 })
        await route.fulfill({ response: answer, json: tokens })
      })
    },
  })
  await badge(ann, 'saved').waitFor()
  // A token of 20 s is renewed after half its time.
  await expect.poll(() => renewals, { timeout: patience(20_000) }).toBeGreaterThan(0)
  await editorOf(ann).click()
  await ann.keyboard.type('Still here. ')
  await badge(ann, 'saved').waitFor()
})

it('[CON-21] when the issuer refuses tokens, the page asks to sign in again and keeps unsaved words', async (context) => {
  const { relay, rest, signInAs, issuer, allowProblems } = await openConsole(context)
  // The browser logs the issuer's refusal.
  allowProblems(/Failed to load resource.*400/)
  await (await rest('ann')).putDocument('minutes', minutes())
  let accessToken = ''
  const ann = await signInAs('ann', '#doc/minutes', {
    async onProfile(profile) {
      await profile.route(`${issuer.url}/token`, async (route) => {
        if (route.request().postData()?.includes('grant_type=refresh_token')) {
          const headers = { 'access-control-allow-origin': '*' }
          return route.fulfill({ status: 400, headers, json: { error: 'invalid_grant' } })
        }
        const answer = await route.fetch()
        accessToken = ((await answer.json()) as { access_token: string }).access_token
        await route.fulfill({ response: answer })
      })
    },
  })
  await badge(ann, 'saved').waitFor()
  await revoke(relay, accessToken)
  await ann.getByText('You are signed out.').waitFor()
  await editorOf(ann).click()
  await ann.keyboard.press('Control+Home')
  await ann.keyboard.type('Typed while signed out. ')
  await badge(ann, 'local').waitFor()
  await ann.getByRole('button', { name: 'Sign in again' }).click()
  await badge(ann, 'saved').waitFor()
  await ann.getByText('You are signed out.').waitFor({ state: 'detached' })
  const body = JSON.stringify(await (await rest('ann')).getDocument('minutes'))
  expect(body).toContain('Typed while signed out. Present: Ann')
})

it('[CON-20] [CON-21] signing out removes the copies of documents from the device', async (context) => {
  const { rest, signInAs } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await signInAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await expect.poll(() => copiesIn(ann)).toBe(1)
  await ann.getByRole('banner').getByRole('button').click()
  await ann.getByRole('menuitem', { name: 'Sign out' }).click()
  await ann.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await copiesIn(ann)).toBe(0)
  expect(await ann.evaluate(() => sessionStorage.length)).toBe(0)
})

it('[CON-21] a sign-out that cannot remove the copies from the device says so', async (context) => {
  const { rest, openAs } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await expect.poll(() => copiesIn(ann)).toBe(1)
  await ann.evaluate(() => {
    IDBDatabase.prototype.transaction = () => {
      throw new Error('the disk is full')
    }
  })
  await ann.getByRole('banner').getByRole('button').click()
  await ann.getByRole('menuitem', { name: 'Sign out' }).click()
  await ann.getByRole('heading', { name: 'Sign in' }).waitFor()
  await ann.getByRole('alert').getByText('Copies of your documents are still on this device').waitFor()
})

it('[CON-21] a sign-out asks first when words of an earlier page load are not saved', async (context) => {
  const { rest, signInAs, frames } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await signInAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await expect.poll(() => copiesIn(ann)).toBe(1)
  frames.hold(TAG.syncAck)
  await editorOf(ann).click()
  await ann.keyboard.type('Unsent. ')
  await badge(ann, 'saving').waitFor()
  ann.on('dialog', (asks) => void asks.accept())
  await ann.evaluate(() => history.replaceState(null, '', '#documents'))
  await ann.reload()
  await ann.getByRole('link', { name: 'Weekly minutes' }).waitFor()
  const signOut = async (): Promise<void> => {
    await ann.getByRole('banner').getByRole('button').click()
    await ann.getByRole('menuitem', { name: 'Sign out' }).click()
  }
  await signOut()
  const asked = ann.getByRole('dialog', { name: 'Not everything is saved' })
  await asked.getByRole('button', { name: 'Cancel' }).click()
  expect(await copiesIn(ann)).toBe(1)

  // Opening the document again sends the words, so that the sign-out asks nothing.
  frames.release()
  await ann.getByRole('link', { name: 'Weekly minutes' }).click()
  await editorOf(ann).getByText('Unsent.').waitFor()
  await badge(ann, 'saved').waitFor()
  await signOut()
  await ann.getByRole('heading', { name: 'Sign in' }).waitFor()
})

async function revoke(relay: ConsoleUnderTest['relay'], token: string): Promise<void> {
  const { jti } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }
  const answer = await relay.fetch('/api/v1/internal/revoke', {
    method: 'POST',
    headers: { authorization: 'Bearer revocation-secret-for-tests', 'content-type': 'application/json' },
    body: JSON.stringify({ revocations: [{ jti, revoked_at: new Date().toISOString() }] }),
  })
  expect(answer.status).toBe(204)
}

function copiesIn(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const opening = indexedDB.open('docrelay')
        opening.onerror = () => reject(opening.error)
        opening.onsuccess = () => {
          const counting = opening.result.transaction('copies').objectStore('copies').count()
          counting.onsuccess = () => {
            opening.result.close()
            resolve(counting.result)
          }
        }
      }),
  )
}
