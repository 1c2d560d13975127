import { expect, it } from 'vitest'
import { openConsoleAlone } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

const dora = {
  id: 'dora',
  wsp: [
    { id: 'default', role: 'member' },
    { id: 'second', role: 'owner' },
  ],
} as const

it('[CON-20] a person with several workspaces chooses one, sees only its documents, and can switch', async (context) => {
  const { rest, openSignedOut } = await openConsoleAlone(context, {
    people: [dora],
    env: { RELAY_TENANCY_MODE: 'shared' },
  })
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  await owner.shareDocument('minutes', [{ userId: 'dora', permission: 'edit' }])
  const page = await openSignedOut('#documents?as=dora')
  await page.getByRole('heading', { name: 'Choose a workspace' }).waitFor()
  await page.getByRole('button', { name: 'second' }).click()
  await page.getByRole('heading', { name: 'No documents yet' }).waitFor()
  await page.getByRole('banner').getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Change workspace' }).click()
  await page.getByRole('button', { name: 'default' }).click()
  await page.getByRole('link', { name: 'Weekly minutes' }).click()
  await badge(page, 'saved').waitFor()
  await editorOf(page).click()
  await page.keyboard.type('Dora too. ')
  await badge(page, 'saved').waitFor()
  // Each tab keeps its own choice.
  await page.reload()
  await badge(page, 'saved').waitFor()
  expect(await editorOf(page).textContent()).toContain('Dora too.')
})
