import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'

const MINUTES = { name: 'Weekly minutes', richTextPages: [{ id: 'p', name: 'Minutes', content: '<p>Present: Ann</p>' }] }

it('[PERM-2] who is added may edit, and whose level is lowered may only read, in the page that is open', async (context) => {
  const { rest, openAs } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', MINUTES)
  const ann = await openAs('ann', '#doc/minutes?panel=sharing')
  await ann.getByLabel('Share with').fill('ben')
  await ann.getByRole('button', { name: 'Share', exact: true }).click()
  await ann.getByLabel('What ben may do').waitFor()

  const ben = await openAs('ben', '#doc/minutes?panel=sharing')
  await ben.getByText('This document is shared with you: you may edit it.').waitFor()
  const text = ben.locator('.ProseMirror')
  await expect.poll(() => text.getAttribute('contenteditable')).toBe('true')
  await ann.getByLabel('What ben may do').selectOption('view')
  await expect.poll(() => text.getAttribute('contenteditable')).toBe('false')
  await ben.getByText('This document is shared with you: you may read it.').waitFor()
})
