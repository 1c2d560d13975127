import { until } from '@docrelay/server/test/relay-under-test'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openConsole, openConsoleAlone } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

/** Pastes a file of this many bytes into the text. */
function paste(page: Page, name: string, size: number): Promise<void> {
  return editorOf(page).evaluate(
    (text, [fileName, length]) => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File([new Uint8Array(length)], fileName, { type: 'application/zip' }))
      text.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    },
    [name, size] as const,
  )
}

it('[LIM-4] a full workspace refuses a new document and a pasted file in words; existing documents are still edited', async (context) => {
  const { rest, openAs, allowProblems } = await openConsole(context, { quota_bytes: 2_000 })
  allowProblems(/status of 507/)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  const left = 2_000 - (await owner.usage()).storageBytes
  await owner.putDocument('minutes', minutes(`<p>Present: Ann ${'x'.repeat(left - 50)}</p>`))
  const ann = await openAs('ann')
  await ann.getByRole('button', { name: 'New document' }).click()
  await ann.keyboard.type('One too many')
  await ann.keyboard.press('Enter')
  await ann.getByRole('dialog').getByText('The workspace has no space left for this.').waitFor()
  await ann.keyboard.press('Escape')
  await ann.getByRole('link', { name: 'Weekly minutes' }).click()
  await badge(ann, 'saved').waitFor()
  await paste(ann, 'huge.zip', 3_000)
  await ann.locator('.prose-notice', { hasText: 'huge.zip: The workspace has no space left for this.' }).waitFor()
  expect(await ann.locator('.chip').count()).toBe(0)
  await editorOf(ann).click()
  await ann.keyboard.press('Control+End')
  await ann.keyboard.type(' Still here.')
  await badge(ann, 'saved').waitFor()
  expect(JSON.stringify(await owner.getDocument('minutes'))).toContain('Still here.')
})

it('[BLOB-3] a file above the size limit is refused in words that name the limit', async (context) => {
  const { rest, openAs, allowProblems } = await openConsoleAlone(context, { env: { RELAY_MAX_BLOB_BYTES: '1000' } })
  allowProblems(/status of 413/)
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await paste(ann, 'large.zip', 1_001)
  await ann.locator('.prose-notice', { hasText: 'large.zip: The file is larger than this relay takes.' }).waitFor()
  await ann.locator('.prose-notice', { hasText: 'at most 1 kB' }).waitFor()
  await paste(ann, 'small.zip', 1_000)
  await ann.locator('.chip', { hasText: 'small.zip' }).waitFor()
})

it('[WS-67] a connection above the limit says so in words and connects by itself a minute later', async (context) => {
  const { rest, openAs } = await openConsoleAlone(context, { env: { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '1' } })
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  const ben = await openAs('ben', '#doc/minutes', { onProfile: (profile) => profile.clock.install() })
  await ben.getByText('as many connections as it may have').first().waitFor()
  await ann.close()
  // Ben's client tries once after his clock moved, so the relay must have released Ann's connection before that.
  await until('the relay to let go of the connection of Ann', async () => (await owner.usage()).connections === 0)
  await ben.clock.fastForward(61_000)
  await badge(ben, 'saved').waitFor()
  await editorOf(ben).getByText('Present: Ann').waitFor()
})
