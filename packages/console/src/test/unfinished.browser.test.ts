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
  return { ann, stored }
}

/** Loads the page anew as a person does, who answers that it may be left. */
async function reload(page: Page): Promise<void> {
  page.once('dialog', (asks) => void asks.accept())
  await page.reload()
  await page.locator('.document-view').waitFor()
}

it('[CON-22] a title that is being written is stored when the page is loaded anew', async (context) => {
  const { ann, stored } = await openBoard(context)
  await ann.getByRole('textbox', { name: 'Title of the document' }).fill('Minutes of May')
  await reload(ann)
  await expect.poll(stored).toEqual({ name: 'Minutes of May', label: '' })
})

it('[CON-22] the text of a shape is kept by Escape and by loading the page anew', async (context) => {
  const { ann, stored } = await openBoard(context)
  const write = async (words: string): Promise<void> => {
    const text = ann.locator('textarea.canvas-label')
    // While the page still finds its size, the shape may move away under the pointer; then the next try meets it.
    const isOpen = async (): Promise<boolean> => {
      await ann.locator('.canvas-drawing [data-shape="box"]').first().dblclick({ force: true })
      return text.isVisible()
    }
    await expect.poll(isOpen).toBe(true)
    await text.fill(words)
  }
  await write('Relay')
  await ann.keyboard.press('Escape')
  await ann.getByRole('option', { name: 'Relay, rectangle' }).waitFor({ state: 'attached' })
  await expect.poll(stored).toEqual({ name: 'Weekly minutes', label: 'Relay' })
  await write('Document relay')
  await reload(ann)
  await expect.poll(stored).toEqual({ name: 'Weekly minutes', label: 'Document relay' })
})
