import type { Page } from 'playwright-core'
import { expect, it, type TestContext } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, minutes } from './pages.ts'

const BOX = { id: 'box', type: 'rectangle', x: 100, y: 100, width: 120, height: 60, label: '' }

async function openBoard(context: TestContext) {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', { ...minutes(), pages: [{ id: 'b', name: 'Board', shapes: [BOX] }] })
  const ann = await openAs('ann', '#doc/minutes/b')
  await badge(ann, 'saved').waitFor()
  const stored = async () => {
    const { name, pages } = await owner.getDocument('minutes')
    const [board] = pages as readonly { readonly shapes: readonly { readonly label: string }[] }[]
    return { name, label: board?.shapes[0]?.label }
  }
  return { ann, owner, openAs, stored }
}

/** Opens the text of the only shape and types into it. */
async function writeInBox(page: Page, words: string): Promise<void> {
  const text = page.locator('textarea.canvas-label')
  // While the page still determines its size, the shape may move away from the pointer; then the next try hits it.
  const isOpen = async (): Promise<boolean> => {
    await page.locator('.canvas-drawing [data-shape="box"]').first().dblclick({ force: true })
    return text.isVisible()
  }
  await expect.poll(isOpen).toBe(true)
  await text.fill(words)
}

/** Reloads the page and confirms the browser's question whether to leave it. */
async function reload(page: Page): Promise<void> {
  page.once('dialog', (asks) => void asks.accept())
  await page.reload()
  await page.locator('.document-view').waitFor()
}

it('[CON-22] an unfinished title is stored when the page is reloaded', async (context) => {
  const { ann, stored } = await openBoard(context)
  await ann.getByRole('textbox', { name: 'Title of the document' }).fill('Minutes of May')
  await reload(ann)
  await expect.poll(stored).toEqual({ name: 'Minutes of May', label: '' })
})

it('[CON-22] Escape and a reload of the page both store the unfinished text of a shape', async (context) => {
  const { ann, stored } = await openBoard(context)
  await writeInBox(ann, 'Relay')
  await ann.keyboard.press('Escape')
  await ann.getByRole('option', { name: 'Relay, rectangle' }).waitFor({ state: 'attached' })
  await expect.poll(stored).toEqual({ name: 'Weekly minutes', label: 'Relay' })
  await writeInBox(ann, 'Document relay')
  await reload(ann)
  await expect.poll(stored).toEqual({ name: 'Weekly minutes', label: 'Document relay' })
})

it('[CON-22] an unfinished title and shape text are stored when the person goes back', async (context) => {
  const { ann, stored } = await openBoard(context)
  const leaveAndReturn = async (): Promise<void> => {
    await ann.goBack()
    await ann.locator('.document-view').waitFor({ state: 'detached' })
    await ann.goForward()
    await badge(ann, 'saved').waitFor()
  }
  await ann.evaluate(() => {
    location.hash = '#documents'
  })
  await ann.locator('.document-view').waitFor({ state: 'detached' })
  await ann.evaluate(() => {
    location.hash = '#doc/minutes/b'
  })
  await badge(ann, 'saved').waitFor()
  await ann.getByRole('textbox', { name: 'Title of the document' }).fill('Minutes of May')
  await leaveAndReturn()
  await expect.poll(stored).toEqual({ name: 'Minutes of May', label: '' })
  await writeInBox(ann, 'Relay')
  await leaveAndReturn()
  await expect.poll(stored).toEqual({ name: 'Minutes of May', label: 'Relay' })
})

it('[CON-22] [CON-33] opening the text of a shape stops following; another page that is shown stores the text', async (context) => {
  const { ann, owner, openAs, stored } = await openBoard(context)
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const ben = await openAs('ben', '#doc/minutes/b')
  await badge(ben, 'saved').waitFor()
  const follow = ann.getByRole('button', { name: 'Follow Ben (member)' })
  await follow.click()
  expect(await follow.getAttribute('aria-pressed')).toBe('true')
  await writeInBox(ann, 'Relay')
  await expect.poll(() => follow.getAttribute('aria-pressed')).toBe('false')
  await follow.evaluate((button) => (button as HTMLButtonElement).click())
  await ben.getByRole('tab', { name: 'Minutes' }).click()
  await ann.locator('.ProseMirror').waitFor()
  await expect.poll(stored).toEqual({ name: 'Weekly minutes', label: 'Relay' })
})

it('[CON-22] a person who writes in a shape is told when somebody else deletes it', async (context) => {
  const { ann, owner } = await openBoard(context)
  await writeInBox(ann, 'Relay')
  await owner.putDocument('minutes', { ...minutes(), pages: [{ id: 'b', name: 'Board', shapes: [] }] })
  await ann.getByText('Somebody else deleted the shape').waitFor({ state: 'attached' })
  await expect.poll(() => ann.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('listbox')
})
