import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page, Route } from 'playwright-core'
import { expect, it, type TestContext } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Drops a local file onto an element, as a person does from another window. */
async function drop(page: Page, file: string, onto: Locator): Promise<void> {
  const box = await onto.boundingBox()
  if (box === null) throw new Error('the place is not on the screen')
  const devtools = await page.context().newCDPSession(page)
  const where = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, ...where, data })
}

/** Holds the uploads of the page; the result releases them or makes them fail. */
async function holdFiles(page: Page) {
  const held: Route[] = []
  await page.route(/\/api\/.*blobs/, (route) => (route.request().method() === 'GET' ? route.continue() : void held.push(route)))
  return {
    held,
    release: () => Promise.all(held.splice(0).map((route) => route.continue())),
    fail: () =>
      Promise.all(held.splice(0).map((route) => route.fulfill({ status: 403, json: { error: 'no', code: 'FORBIDDEN' } }))),
  }
}

/** Opens Ann's page of a document with a text and a canvas page, and writes a picture file. */
async function openWithPicture(context: TestContext) {
  const opened = await openConsole(context)
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-drop-'))
  context.onTestFinished(() => rmSync(folder, { recursive: true }))
  const picture = join(folder, 'dot.png')
  writeFileSync(picture, PNG)
  const owner = await opened.rest('ann')
  await owner.putDocument('minutes', { ...minutes('<p>First</p>'), pages: [{ id: 'board', name: 'Board', shapes: [] }] })
  const ann = await opened.openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  const files = await holdFiles(ann)
  const stored = async () => JSON.stringify(await owner.getDocument('minutes'))
  return { ...opened, picture, ann, files, stored }
}

it('[CON-22] [CON-33] a file dropped into a text is inserted when another page is shown during the upload', async (context) => {
  const { picture, ann, files, stored } = await openWithPicture(context)
  await drop(ann, picture, editorOf(ann).locator('p').first())
  await expect.poll(() => files.held.length).toBe(1)
  await ann.getByRole('tab', { name: 'Board' }).click()
  await ann.locator('.canvas-page').waitFor()
  await files.release()
  await expect.poll(stored).toContain('blob://')
})

it('[CON-22] [CON-33] a file dropped onto a canvas is inserted when the document is left during the upload', async (context) => {
  const { picture, ann, files, stored } = await openWithPicture(context)
  await ann.getByRole('tab', { name: 'Board' }).click()
  await drop(ann, picture, ann.locator('.canvas-page'))
  await expect.poll(() => files.held.length).toBe(1)
  await ann.getByRole('link', { name: 'Documents', exact: true }).click()
  await ann.getByRole('link', { name: 'Weekly minutes' }).waitFor()
  await files.release()
  await expect.poll(stored).toContain('dot.png')
})

it('[CON-22] [CON-33] a file that fails after its document was left is reported; the page asks before closing during an upload', async (context) => {
  const { picture, ann, files, stored, allowProblems } = await openWithPicture(context)
  allowProblems(/status of 403/)
  await ann.getByRole('tab', { name: 'Board' }).click()
  await drop(ann, picture, ann.locator('.canvas-page'))
  await expect.poll(() => files.held.length).toBe(1)
  await ann.getByRole('button', { name: 'Close panel' }).click()
  await ann.getByRole('link', { name: 'Documents', exact: true }).click()
  await ann.getByRole('link', { name: 'Weekly minutes' }).waitFor()
  const asked = ann.waitForEvent('dialog')
  await ann.evaluate(() => void setTimeout(() => location.reload()))
  await (await asked).dismiss()
  await files.fail()
  const told = ann.getByRole('alert').filter({ hasText: 'dot.png' })
  await told.waitFor()
  await told.getByRole('link', { name: 'Open the document' }).click()
  const panel = ann.getByRole('complementary', { name: 'Files' })
  await panel.getByRole('button', { name: 'Close the note on dot.png' }).waitFor()
  await told.waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: 'Close the note on dot.png' }).click()
  expect(await stored()).not.toContain('dot.png')
})

it('[BLOB-6] an image can be dropped into a text or a canvas page; elsewhere, or by a reader, a drop changes nothing', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-drop-'))
  context.onTestFinished(() => rmSync(folder, { recursive: true }))
  const picture = join(folder, 'dot.png')
  writeFileSync(picture, PNG)
  const owner = await rest('ann')
  const board = { id: 'board', name: 'Board', shapes: [] }
  await owner.putDocument('minutes', { ...minutes('<p>First</p><p>Second</p>'), pages: [board] })
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'view' }])
  const [ann, ben] = await Promise.all([openAs('ann', '#doc/minutes'), openAs('ben', '#doc/minutes')])
  for (const page of [ann, ben]) await badge(page, 'saved').waitFor()

  await drop(ann, picture, editorOf(ann).locator('p').first())
  for (const page of [ann, ben]) await page.locator('.prose-text img[alt=dot]').waitFor()
  expect(await editorOf(ben).evaluate((text) => [...text.children].map((block) => block.tagName))).toEqual(['P', 'IMG', 'P'])

  await drop(ann, picture, ann.getByRole('banner'))
  await drop(ben, picture, editorOf(ben).locator('p').first())
  for (const page of [ann, ben]) {
    await editorOf(page).getByText('Second').waitFor()
    expect(await page.locator('.prose-text img').count()).toBe(1)
  }

  await ann.getByRole('tab', { name: 'Board' }).click()
  await drop(ann, picture, ann.locator('.canvas-page'))
  await ann.getByRole('complementary', { name: 'Files' }).waitFor()
  const shapes = async () =>
    ((await owner.getDocument('minutes')) as { readonly pages: readonly { readonly shapes: readonly object[] }[] }).pages[0]
      ?.shapes
  await expect.poll(shapes).toMatchObject([{ type: 'file', fileName: 'dot.png' }])
})
