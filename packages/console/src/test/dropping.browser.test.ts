import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Drops a file of this machine onto a place of the page, as a person does from another window. */
async function drop(page: Page, file: string, onto: Locator): Promise<void> {
  const box = await onto.boundingBox()
  if (box === null) throw new Error('the place is not on the screen')
  const devtools = await page.context().newCDPSession(page)
  const where = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, ...where, data })
}

it('[BLOB-6] an image is dropped into a text or onto a drawing; dropped elsewhere, or by who may only read, it changes nothing', async (context) => {
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
