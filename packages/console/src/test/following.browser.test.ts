import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf } from './pages.ts'

/** Whether a block of the text is on the screen. */
const isSeen = (page: Page, block: number): Promise<boolean> =>
  editorOf(page)
    .locator('p')
    .nth(block)
    .evaluate((paragraph) => {
      const { top, bottom } = paragraph.getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight
    })

it('[CON-33] following a person keeps their caret and their page on the screen, until the follower moves', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  const content = Array.from({ length: 120 }, (_, at) => `<p>Block ${at}</p>`).join('')
  const other = { id: 'q', name: 'Appendix', content: '<p>More</p>' }
  await owner.putDocument('minutes', { name: 'Minutes', richTextPages: [{ id: 'p', name: 'Text', content }, other] })
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const [ann, ben] = await Promise.all([openAs('ann', '#doc/minutes/p'), openAs('ben', '#doc/minutes/p')])
  for (const page of [ann, ben]) await badge(page, 'saved').waitFor()
  const follow = ann.getByRole('button', { name: 'Follow Ben (member)' })
  await follow.click()
  await ann.getByText('You see what Ben (member) sees.').waitFor()
  await editorOf(ben).click()
  await ben.keyboard.press('Control+End')
  await expect.poll(() => isSeen(ann, 119)).toBe(true)
  await ben.getByRole('tab', { name: 'Appendix' }).click()
  await ann.getByRole('tab', { name: 'Appendix', selected: true }).waitFor()
  await ben.getByRole('tab', { name: 'Text' }).click()
  await ann.getByRole('tab', { name: 'Text', selected: true }).waitFor()
  // Clicks by text, because the tab is selected before its page is on the screen.
  await editorOf(ben).getByText('Block 0', { exact: true }).click()
  await expect.poll(() => isSeen(ann, 0)).toBe(true)

  await editorOf(ann).locator('p').nth(2).click()
  await ann.getByText('You see what Ben (member) sees.').waitFor({ state: 'detached' })
  await ben.keyboard.press('Control+End')
  await ben.keyboard.type('!')
  await expect.poll(() => editorOf(ann).textContent()).toContain('Block 119!')
  expect(await isSeen(ann, 2)).toBe(true)

  // A person who leaves is no longer followed.
  await follow.click()
  await ann.getByText('You see what Ben (member) sees.').waitFor()
  await ben.close()
  await ann.getByText('You see what Ben (member) sees.').waitFor({ state: 'detached' })
})
