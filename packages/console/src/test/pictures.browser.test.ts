import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mcpAgent } from '@docrelay/server/test/mcp-agent'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf } from './pages.ts'

const ROOT = join(import.meta.dirname, '../../../..')
/** Whether to write the pictures; set by `npm run pictures:console`. */
const WRITES = process.env['DOCRELAY_WRITE_PICTURES'] === '1'
const LOOK = { viewport: { width: 1000, height: 620 }, colorScheme: 'light', reducedMotion: 'reduce' } as const

const MINUTES = `<h1>Weekly minutes</h1><p>Present: Ann, Ben</p><h2>Decided</h2>
<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>Move the backups to the new machine</p></li>
<li data-type="taskItem" data-checked="false"><p>Restore one of them every month</p></li></ul>
<h2>Open points</h2><p id="blk-open">Nobody has written them down yet.</p><p id="blk-ben">Next meeting:</p>`
const box = (id: string, x: number, y: number, label: string, fill: string) => ({
  ...{ id, type: 'rectangle', x, y, width: 150, height: 70, label, fill, stroke: '#1d4ed8', strokeWidth: 2 },
})
const arrow = (id: string, startShapeId: string, endShapeId: string) => ({
  ...{ id, type: 'connector', x: 0, y: 0, x2: 0, y2: 0, endArrowStyle: 'triangle', startShapeId, endShapeId },
  ...{ startAnchor: 'right', endAnchor: 'left', routingMode: 'orthogonal' },
})
const SHAPES = [
  ...[box('a', 60, 150, 'Editors', '#dbeafe'), box('b', 330, 60, 'Relay', '#bfdbfe'), box('c', 330, 240, 'Agents', '#fef3c7')],
  ...[box('d', 600, 150, 'Database', '#dcfce7'), arrow('ab', 'a', 'b'), arrow('bd', 'b', 'd'), arrow('cd', 'c', 'd')],
]

/** Checks that the file of the picture exists. Writes it only on demand, because letters look different on every machine. */
async function picture(page: Page, name: string): Promise<void> {
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished)))
  mkdirSync(join(ROOT, 'docs/pictures'), { recursive: true })
  if (WRITES) await page.screenshot({ path: join(ROOT, 'docs/pictures', name), animations: 'disabled', caret: 'initial' })
  expect(existsSync(join(ROOT, 'docs/pictures', name)), `${name}: npm run pictures:console writes it`).toBe(true)
}

/** Selects a shape of the canvas page by the mouse. */
async function select(page: Page, shape: string): Promise<void> {
  const box = await page.locator(`.canvas-drawing [data-shape="${shape}"]`).first().boundingBox()
  if (box === null) throw new Error(`${shape} is not drawn`)
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.locator('[data-handle]').first().waitFor()
}

it('[CON-34] the README pictures show two people and an agent in a text, a drawing, and changes since a recovery point', async (context) => {
  const { relay, rest, openAs, issuer } = await openConsole(context)
  const owner = await rest('ann')
  const pages = {
    richTextPages: [{ id: 'p', name: 'Minutes', content: MINUTES }],
    pages: [{ id: 'b', name: 'Plan', shapes: SHAPES }],
  }
  await owner.putDocument('minutes', { name: 'Weekly minutes', ...pages })
  await owner.captureRecoveryPoint('minutes')
  await owner.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const [ann, ben] = await Promise.all([openAs('ann', '#doc/minutes', LOOK), openAs('ben', '#doc/minutes', LOOK)])
  for (const page of [ann, ben]) await badge(page, 'saved').waitFor()
  await editorOf(ben).getByText('Next meeting:').click()
  await ben.keyboard.press('End')
  await ben.keyboard.type(' Tuesday at ten, in the small room')
  await editorOf(ann).getByText('Present').click()
  await ann.keyboard.press('End')
  await ann.keyboard.type(', Cleo')
  for (const page of [ann, ben]) await badge(page, 'saved').waitFor()
  const agent = await mcpAgent(relay.mcpUrl, await issuer.mint('ann'))
  const content = 'Who watches the restore, and what happens when it fails?'
  await agent.call('set_prose', { docId: 'minutes', pageId: 'p', id: 'blk-open', content })
  await ann.locator('.agent-mark', { hasText: content }).waitFor()
  await ann.locator('.docrelay-caret-name', { hasText: 'Ben' }).waitFor()
  await picture(ann, 'console-text.png')

  await ben.getByRole('tab', { name: 'Plan' }).click()
  await ann.getByRole('tab', { name: 'Plan' }).click()
  await select(ben, 'd')
  await select(ann, 'b')
  await picture(ann, 'console-drawing.png')

  await ann.getByRole('tab', { name: 'Minutes' }).click()
  await ann.getByRole('button', { name: 'History' }).click()
  await ann
    .getByRole('button', { name: /^Look at the state of/ })
    .last()
    .click()
  await ann.getByRole('region', { name: 'Changes since then' }).locator('ins').first().waitFor()
  await picture(ann, 'console-history.png')
})

it('[CON-34] every picture that the README and the documents name exists, and every console picture is used', () => {
  const documents = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  const shown = ['README.md', ...documents.map((name) => `docs/${name}`)].flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/!\[[^\]]*\]\(([^)]+\.png)\)/g)].map(([, path = '']) =>
      join(file, '..', path),
    ),
  )
  expect(shown.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  const ofConsole = readdirSync(join(ROOT, 'docs/pictures')).filter((name) => /^console-.*\.png$/.test(name))
  expect(ofConsole.filter((name) => !shown.includes(`docs/pictures/${name}`))).toEqual([])
  expect(ofConsole.length).toBe(3)
})
