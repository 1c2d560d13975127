import type { Page } from 'playwright-core'
import { expect, it, type TestContext } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, minutes } from './pages.ts'

const PAGES = [...minutes().richTextPages, { id: 'q', name: 'Appendix', content: '<p>More</p>' }]

async function openBoth(context: TestContext) {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', { name: 'Minutes', richTextPages: PAGES })
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const [ann, ben] = await Promise.all([openAs('ann', '#doc/minutes/p'), openAs('ben', '#doc/minutes/p')])
  for (const page of [ann, ben]) await badge(page, 'saved').waitFor()
  const names = async () => {
    const { richTextPages } = await owner.getDocument('minutes')
    return (richTextPages as readonly { readonly name: string }[]).map(({ name }) => name)
  }
  return { ann, ben, names }
}

async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: /^Page .*: actions$/ }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** Presses Enter as an input method does to confirm a candidate. */
const confirmCandidate = (page: Page) =>
  page.evaluate(() => {
    const enter = { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', enter))
  })

it('[CON-25] [CON-33] a dialog about a page stays about it when another page is shown, and closes when the page goes', async (context) => {
  const { ann, ben, names } = await openBoth(context)
  await ann.getByRole('button', { name: 'Follow Ben (member)' }).click()
  await choose(ann, 'Rename page')
  await ben.getByRole('tab', { name: 'Appendix' }).click()
  await ann.locator('[role=tab][aria-selected=true]').getByText('Appendix').waitFor({ state: 'attached' })
  const dialog = ann.getByRole('dialog')
  await dialog.getByRole('textbox').fill('Decisions')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await expect.poll(names).toEqual(['Decisions', 'Appendix'])

  await choose(ann, 'Delete page')
  await dialog.getByText('Appendix').waitFor()
  await choose(ben, 'Delete page')
  await ben.getByRole('dialog').getByRole('button', { name: 'Delete page' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(names).toEqual(['Decisions'])
})

it('[CON-25] a selection of text that ends beside a dialog keeps it open; a press beside it closes it', async (context) => {
  const { ann } = await openBoth(context)
  await choose(ann, 'Rename page')
  const field = ann.getByRole('dialog').getByRole('textbox')
  await field.fill('Decisions')
  const { x = 0, y = 0, width = 0, height = 0 } = (await field.boundingBox()) ?? {}
  await ann.mouse.move(x + width / 2, y + height / 2)
  await ann.mouse.down()
  await ann.mouse.move(5, y + height / 2, { steps: 4 })
  await ann.mouse.up()
  expect(await field.inputValue()).toBe('Decisions')
  await ann.mouse.click(5, 5)
  await field.waitFor({ state: 'detached' })
})

it('[CON-26] Enter that confirms a word of an input method does not end the editing of a title', async (context) => {
  const { ann } = await openBoth(context)
  const title = ann.getByRole('textbox', { name: 'Title of the document' })
  await title.fill('会議')
  await confirmCandidate(ann)
  expect(await title.evaluate((field) => field === document.activeElement)).toBe(true)
  await ann.keyboard.press('Enter')
  expect(await title.evaluate((field) => field === document.activeElement)).toBe(false)
})

it('[CON-26] Enter that confirms a word of an input method does not connect shapes', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const shape = (id: string, x: number) => ({ id, type: 'rectangle', x, y: 100, width: 120, height: 60, label: id })
  const shapes = [shape('one', 100), shape('two', 400)]
  await (await rest('ann')).putDocument('minutes', { name: 'Minutes', pages: [{ id: 'b', name: 'Board', shapes }] })
  const ann = await openAs('ann', '#doc/minutes/b')
  await badge(ann, 'saved').waitFor()
  const list = ann.getByRole('listbox', { name: 'Shapes of the page' })
  await list.focus()
  await ann.keyboard.press('Home')
  await list.getByRole('option', { selected: true }).waitFor({ state: 'attached' })
  await ann.keyboard.press('c')
  const field = ann.getByRole('combobox')
  await field.waitFor()
  await confirmCandidate(ann)
  expect(await field.isVisible()).toBe(true)
  await ann.keyboard.press('Enter')
  await field.waitFor({ state: 'detached' })
})
