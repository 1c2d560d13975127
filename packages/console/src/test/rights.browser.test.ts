import { TAG } from '@docrelay/protocol/frames'
import { until } from '@docrelay/server/test/relay-under-test'
import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

it('[CON-23] a reader of a document cannot type, and the page follows a change of the right at once', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const ben = await openAs('ben', '#doc/minutes')
  await badge(ben, 'saved').waitFor()
  await editorOf(ben).click()
  await ben.keyboard.type('Ben writes. ')
  await badge(ben, 'saved').waitFor()

  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'view' }])
  await ben.getByText('Read only', { exact: true }).waitFor()
  await ben.locator('.ProseMirror[contenteditable=false]').waitFor()
  const before = await editorOf(ben).textContent()
  await editorOf(ben).click()
  await ben.keyboard.type('in vain')
  expect(await editorOf(ben).textContent()).toBe(before)
  expect(await ben.getByRole('button', { name: 'Add page' }).count()).toBe(0)
  expect(await ben.getByRole('textbox', { name: 'Title of the document' }).count()).toBe(0)

  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  await ben.locator('.ProseMirror[contenteditable=true]').waitFor()
  await ben.getByText('Read only', { exact: true }).waitFor({ state: 'detached' })
})

it('[CON-24] the page of a deleted document says so and stays readable, but cannot be edited', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', { ...minutes(), pages: [{ id: 'b', name: 'Board', shapes: [] }] })
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await owner.deleteDocument('minutes')
  await ann.getByText('This document was deleted.').waitFor()
  await ann.locator('.ProseMirror[contenteditable=false]').waitFor()
  expect(await editorOf(ann).textContent()).toContain('Present: Ann')
  await ann.getByRole('tab', { name: 'Board' }).click()
  await ann.locator('.canvas-page').waitFor()
  await ann.getByRole('tab', { name: 'Minutes' }).click()
  await ann.locator('.ProseMirror[contenteditable=false]').waitFor()
})

it('[CON-22] [CON-23] the notice about refused words disappears when the relay accepts the words', async (context) => {
  const { rest, openAs, frames } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const ben = await openAs('ben', '#doc/minutes')
  await badge(ben, 'saved').waitFor()
  // Holds the change of the level, so that the page hears of it only after the typing.
  frames.hold(TAG.joined)
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'view' }])
  await editorOf(ben).click()
  await ben.keyboard.type('Ben. ')
  const notice = ben.getByRole('alert').filter({ hasText: 'The relay does not accept what you wrote' })
  await notice.waitFor()
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  await until('both levels to be on their way', () => frames.held === 2)
  frames.release()
  await badge(ben, 'saved').waitFor()
  await notice.waitFor({ state: 'detached' })
})

it('[CON-24] a page follows a restored document to its successor', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  await owner.captureRecoveryPoint('minutes')
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  const [point] = await owner.recoveryPoints('minutes')
  const { newDocId } = await owner.restoreRecoveryPoint('minutes', point?.id ?? '')
  await ann.waitForURL((url) => url.hash.startsWith(`#doc/${newDocId}`))
  await badge(ann, 'saved').waitFor()
  await editorOf(ann).getByText('Present: Ann').waitFor()

  // Bookmarks and messages still contain the old address.
  const later = await openAs('ann', '#doc/minutes')
  await later.waitForURL((url) => url.hash.startsWith(`#doc/${newDocId}`))
  await editorOf(later).getByText('Present: Ann').waitFor()
})

it('[CON-24] a person who loses access to an open document is told so', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'view' }])
  const ben = await openAs('ben', '#doc/minutes')
  await badge(ben, 'saved').waitFor()
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'none' }])
  await ben.getByText('You may not read this document any more.').waitFor()
})

it('[CON-24] an address of no document says that there is none', async (context) => {
  const { openAs } = await openConsole(context)
  const ann = await openAs('ann', '#doc/nothing')
  await ann.getByRole('heading', { name: 'There is no such document' }).waitFor()
})

it('[CON-24] a person without access opens a document by another try after its owner gave access', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes())
  const ben = await openAs('ben', '#doc/minutes')
  const again = ben.getByRole('button', { name: 'Try again' })
  await again.click()
  await again.waitFor()
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'view' }])
  await again.click()
  await editorOf(ben).getByText('Present: Ann').waitFor()
})

it('[CON-24] a person who has scrolled down sees the notice that access to the document was removed', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes('<p>words</p>'.repeat(100)))
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const ben = await openAs('ben', '#doc/minutes')
  await badge(ben, 'saved').waitFor()
  await editorOf(ben).getByText('words').last().click()
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'none' }])
  const notice = ben.getByRole('alert').filter({ hasText: 'You may not read this document any more.' })
  await notice.waitFor()
  const box = await notice.boundingBox()
  expect(box?.y).toBeGreaterThanOrEqual(0)
  expect(await ben.evaluate(() => scrollY)).toBeGreaterThan(0)
})

it('[CON-24] the address of a deleted document says so in words, and offers no action that cannot help', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('gone', minutes())
  await owner.deleteDocument('gone')
  const ann = await openAs('ann', '#doc/gone')
  await ann.getByText('This document was deleted. Go back to the list of documents.').waitFor()
  expect(await ann.getByRole('button', { name: 'Try again' }).count()).toBe(0)
})
