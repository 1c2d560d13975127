import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { patience } from '@docrelay/server/kernel/testing/patience'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, minutes } from './pages.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const LOOKS = [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['narrow', { viewport: { width: 320, height: 640 } }],
  // A screen of 1280 by 1024 enlarged to 400 %. [WCAG 1.4.10]
  ['400 %', { viewport: { width: 320, height: 256 } }],
] as const

// Axe checks a dozen views, each for seconds when the machine is busy.
it.for(LOOKS)(
  '[CON-26] axe finds no fault in any view, and no view scrolls sideways (%s)',
  { timeout: patience(60_000) },
  async ([, options], context) => {
    const { rest, openAs, openSignedOut } = await openConsole(context)
    const owner = await rest('ann')
    await owner.putDocument('minutes', {
      ...minutes(
        '<h1>Minutes</h1><p>Present: Ann</p><table><tbody><tr><th>Team</th></tr><tr><td>Sales</td></tr></tbody></table>',
      ),
      pages: [
        {
          id: 'board',
          name: 'Board',
          shapes: [{ id: 's', type: 'rectangle', x: 100, y: 100, width: 80, height: 40, label: 'Box' }],
        },
      ],
    })
    await owner.putDocument('other', {
      ...minutes(),
      name: 'Another document with a rather long name, so that it has to be broken',
    })
    await owner.captureRecoveryPoint('minutes')
    const found: string[] = []
    const look = async (page: Page, view: string): Promise<void> => {
      found.push(...(await faultsOf(page)).map((fault) => `${view}: ${fault}`))
      const [wide, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
      if ((wide ?? 0) > (shown ?? 0)) found.push(`${view}: ${wide} pixels wide on a screen of ${shown}`)
    }

    const out = await openSignedOut('', options)
    await out.getByRole('button', { name: 'Sign in' }).waitFor()
    await look(out, 'signed out')

    const ann = await openAs('ann', '#documents', options)
    await ann.getByRole('link', { name: 'Weekly minutes' }).waitFor()
    await look(ann, 'documents')
    await ann.getByRole('banner').getByRole('button').click()
    await look(ann, 'menu')
    await ann.keyboard.press('Escape')
    await ann.getByRole('button', { name: 'New document' }).click()
    await look(ann, 'dialog')
    await ann.keyboard.press('Escape')
    await ann.getByRole('link', { name: 'Weekly minutes' }).click()
    await badge(ann, 'saved').waitFor()
    await ann.locator('.ProseMirror').waitFor()
    await look(ann, 'prose')
    for (const panel of ['History', 'Sharing', 'Files', 'People', 'Outline']) {
      await ann.getByRole('group', { name: 'Panels' }).getByRole('button', { name: panel }).click()
      await ann.getByRole('complementary', { name: panel }).getByRole('heading').first().waitFor()
      await look(ann, `panel ${panel}`)
    }
    await ann.getByRole('button', { name: 'Close panel' }).click()
    await ann.getByRole('tab', { name: 'Board' }).click()
    await ann.locator('.canvas-page').waitFor()
    await look(ann, 'canvas')
    await ann.evaluate(() => {
      location.hash = '#usage'
    })
    await ann.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await look(ann, 'usage')
    expect(found).toEqual([])
  },
)

/** Returns the faults that axe finds by the rules of WCAG 2.2, levels A and AA. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  // Waits for animations, so that axe checks the finished view.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished)))
  // The page's Content-Security-Policy allows no further script, so axe is injected by the debugger.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async () => {
    interface Found {
      readonly violations: readonly {
        readonly id: string
        readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
      }[]
    }
    const { axe } = globalThis as unknown as { readonly axe: { run(options: object): Promise<Found> } }
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    // Leaves passed rules and selectors out of the report.
    const { violations } = await axe.run({ runOnly, resultTypes: ['violations'], selectors: false })
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
  })
}

it('[CON-26] at 400 % the line with the caret is on the screen, and so is a focused button of a dialog', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const lines = Array.from({ length: 40 }, (_, at) => `<p>Line ${at}</p>`).join('')
  await (await rest('ann')).putDocument('minutes', minutes(lines))
  const ann = await openAs('ann', '#doc/minutes', { viewport: { width: 320, height: 256 } })
  await badge(ann, 'saved').waitFor()
  await ann.locator('.ProseMirror').focus()
  await ann.keyboard.press('Control+End')
  await ann.keyboard.type(' typed')
  // Checks that nothing covers the caret.
  const covered = await ann.evaluate(() => {
    const place = getSelection()?.getRangeAt(0).getBoundingClientRect()
    const shown = place === undefined ? null : document.elementFromPoint(place.x - 2, place.y + place.height / 2)
    return shown?.closest('.ProseMirror') === null ? shown.outerHTML.slice(0, 200) : shown === null ? 'off the screen' : null
  })
  expect(covered).toBeNull()
  await ann.getByRole('link', { name: 'Documents', exact: true }).click()
  await ann.getByRole('button', { name: 'New document' }).click()
  const create = ann.getByRole('dialog').getByRole('button', { name: 'Create' })
  await create.focus()
  await create.click({ trial: true })
})
