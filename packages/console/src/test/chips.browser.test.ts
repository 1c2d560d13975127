import type { Page } from 'playwright-core'
import { expect, it, type TestContext } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf } from './pages.ts'
import { textOf, step } from './prose-page.ts'

const CHIPS = {
  field: '<span data-field data-name="client" data-label="Acme">Acme</span>',
  citation: '<span data-citation data-ref-id="doe"></span>',
}

/** Opens a page with one chip between words, for two people. */
async function openWith(chip: string, context: TestContext, before = ''): Promise<{ readonly ann: Page; readonly ben: Page }> {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  const content = `${before}<p>For ${chip}</p><p>The end</p>`
  await owner.putDocument('minutes', {
    name: 'Minutes',
    richTextPages: [{ id: 'p', name: 'Minutes', content }],
    fields: { client: { value: 'Acme' } },
  })
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const [ann, ben] = await Promise.all([openAs('ann', '#doc/minutes'), openAs('ben', '#doc/minutes')])
  for (const page of [ann, ben]) await badge(page, 'saved').waitFor()
  return { ann, ben }
}

it('[CON-30] a click on a chip puts the caret after it: typing does not replace the chip, and the keys move on', async (context) => {
  // A caret set to the start of the page within 200 ms of a focus counts as set by the browser, so another line comes first.
  const { ann, ben } = await openWith(CHIPS.field, context, '<p>Notes</p>')
  await ann.locator('.chip').click()
  await ann.getByRole('dialog').waitFor()
  await ann.keyboard.press('Escape')
  await ann.getByRole('dialog').waitFor({ state: 'detached' })
  await ann.keyboard.type(' and sons')
  await ann.keyboard.press('Control+End')
  await ann.keyboard.type('.')
  await ann.locator('.chip').click()
  await ann.getByRole('dialog').waitFor()
  await ann.keyboard.press('Escape')
  await ann.getByRole('dialog').waitFor({ state: 'detached' })
  await ann.keyboard.type(',')
  await badge(ann, 'saved').waitFor()
  await step(ann, 'Home', 1)
  await ann.keyboard.type('Made ')
  await step(ann, 'End', 1)
  await ann.keyboard.type('!')
  for (const page of [ann, ben]) await expect.poll(() => textOf(page)).toBe('Notes\nMade For Acme, and sons!\nThe end.')
})

it('[CON-30] text typed on a chip that the arrow keys selected goes after it; Backspace removes the chip', async (context) => {
  const { ann, ben } = await openWith(CHIPS.citation, context)
  await editorOf(ann).getByText('For').click()
  await step(ann, 'Home', 1)
  await step(ann, 'ArrowRight', 'For '.length + 1)
  await ann.locator('.chip.ProseMirror-selectednode').waitFor()
  await ann.keyboard.type(', read it')
  for (const page of [ann, ben]) await expect.poll(() => textOf(page)).toBe('For (doe), read it\nThe end')
  await step(ann, 'ArrowLeft', ', read it'.length + 1)
  await ann.locator('.chip.ProseMirror-selectednode').waitFor()
  // Composes text as the keyboard of a phone or a Japanese input method does.
  const keyboard = await ann.context().newCDPSession(ann)
  await keyboard.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 })
  await keyboard.send('Input.insertText', { text: '日本' })
  for (const page of [ann, ben]) await expect.poll(() => textOf(page)).toBe('For (doe)日本, read it\nThe end')
  await expect
    .poll(async () => {
      await step(ann, 'Backspace', 1)
      return ben.locator('.chip').count()
    })
    .toBe(0)
})

it('[CON-26] every button in the dialog of a formula has a name, and keys apply the dialog', async (context) => {
  const { ann } = await openWith(CHIPS.field, context)
  await editorOf(ann).getByText('The end').click()
  await ann.getByRole('button', { name: 'Formula' }).click()
  const dialog = ann.getByRole('dialog')
  await dialog.waitFor()
  expect(
    await dialog.getByRole('button').evaluateAll((buttons) => buttons.map((each) => each.textContent || each.ariaLabel)),
  ).toEqual(['Close', 'Cancel', 'Apply'])
  await ann.keyboard.type('x^2')
  await ann.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  await ann.locator('.chip-mathInline', { hasText: 'x^2' }).waitFor()
})
