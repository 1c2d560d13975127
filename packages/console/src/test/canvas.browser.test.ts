import type { Locator, Page } from 'playwright-core'
import { mcpAgent } from '@docrelay/server/test/mcp-agent'
import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'

const box = (id: string, x: number, y: number, label: string) => {
  return { id, type: 'rectangle', x, y, width: 120, height: 60, label, fill: '#bfdbfe', stroke: '#1d4ed8', strokeWidth: 2 }
}
const connector = (id: string, startShapeId: string, endShapeId: string) => {
  const ends = { startShapeId, endShapeId, startAnchor: 'right', endAnchor: 'left', routingMode: 'orthogonal' }
  return { id, type: 'connector', x: 0, y: 0, x2: 0, y2: 0, endArrowStyle: 'triangle', ...ends }
}
const SHAPES = [box('a', 100, 100, 'Alpha'), box('b', 400, 100, 'Beta'), box('d', 400, 300, 'Delta'), connector('c', 'a', 'b')]

const board = (shapes: readonly object[]) => ({ name: 'Board', pages: [{ id: 'p', name: 'Board', shapes }] })

const drawn = (page: Page, id: string): Locator => page.locator(`.canvas-drawing [data-shape="${id}"]`).first()

async function middle(shape: Locator): Promise<readonly [number, number]> {
  const { x, y, width, height } = (await shape.boundingBox()) as NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>
  return [x + width / 2, y + height / 2]
}

/** Drags with the mouse from one point of the window to another. */
async function drag(page: Page, from: readonly [number, number], to: readonly [number, number]): Promise<void> {
  await page.mouse.move(...from)
  await page.mouse.down()
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2)
  await page.mouse.move(...to)
}

it('[CON-20] [CANVAS-21] edits of shapes by mouse and by keys reach the other person and the relay', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const client = await rest('ann')
  await client.putDocument('board', board(SHAPES))
  await client.shareDocument('board', [{ userId: 'ben', permission: 'edit' }])
  const [ann, ben] = await Promise.all([openAs('ann', '#doc/board/p'), openAs('ben', '#doc/board/p')])
  await Promise.all([drawn(ann, 'd').waitFor(), drawn(ben, 'd').waitFor()])
  const stored = async (id: string) => {
    const body = (await client.getDocument('board')) as { readonly body?: unknown }
    return shapeIn(body, id)
  }

  // By mouse: while Ann drags, Ben sees the shape move, and the connector with it.
  const [x, y] = await middle(drawn(ann, 'a'))
  const before = await middle(drawn(ben, 'a'))
  await drag(ann, [x, y], [x + 30, y + 80])
  await expect.poll(async () => Math.round((await middle(drawn(ben, 'a')))[1] - before[1])).toBe(80)
  await ann.mouse.up()
  await expect.poll(() => stored('a')).toMatchObject({ x: 130, y: 180, label: 'Alpha' })
  await expect.poll(() => stored('c')).toMatchObject({ x: 190, y: 180, x2: 340, y2: 100 })

  // Resized by its corner.
  const [cx, cy] = await middle(ann.locator('[data-handle="1,1"]'))
  await drag(ann, [cx, cy], [cx + 20, cy + 10])
  await ann.mouse.up()
  await expect.poll(() => stored('a')).toMatchObject({ width: 140, height: 70 })

  // By keys: goes from shape to shape in reading order, then moves one.
  const list = ann.getByRole('listbox', { name: 'Shapes of the page' })
  await list.focus()
  await ann.keyboard.press('Home')
  await expect.poll(() => list.getByRole('option', { selected: true }).textContent()).toBe('Beta, rectangle')
  await ben.getByRole('option', { name: 'Beta, rectangle, selected by Ann' }).waitFor({ state: 'attached' })
  await ann.keyboard.press('Control+ArrowRight')
  await ann.keyboard.press('Control+ArrowRight')
  await expect.poll(() => stored('b')).toMatchObject({ x: 420, y: 100 })

  // By keys: edits the text of the shape, then connects it to another shape.
  await ann.keyboard.press('Enter')
  await ann.getByRole('textbox', { name: 'Text of Beta' }).fill('Gamma')
  await ann.keyboard.press('Enter')
  await ben.getByRole('option', { name: 'Gamma, rectangle' }).waitFor({ state: 'attached' })
  await ann.keyboard.press('c')
  await ann.getByRole('combobox', { name: 'Connect Gamma to' }).fill('delta')
  await ann.keyboard.press('Enter')
  await ben.getByRole('option', { name: 'Connector from Gamma to Delta' }).waitFor({ state: 'attached' })

  // By keys: sends the shape to the back and deletes it with its connectors; undo restores everything.
  await ann.keyboard.press('Home')
  await ann.getByRole('button', { name: 'Send to back' }).click()
  await expect.poll(() => ben.locator('.canvas-drawing [data-shape]').first().getAttribute('data-shape')).toBe('b')
  await list.focus()
  await ann.keyboard.press('Delete')
  await expect.poll(() => ben.getByRole('option').count()).toBe(2)
  await ann.keyboard.press('Control+z')
  await expect.poll(() => ben.getByRole('option').count()).toBe(5)
})

it('[CON-20] the mouse alone draws, names, connects and deletes a shape; a text in which nobody typed is not written', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const client = await rest('ann')
  await client.putDocument('board', board(SHAPES))
  const ann = await openAs('ann', '#doc/board/p')
  const named = (name: string) => ann.getByRole('option', { name, exact: true })
  await drawn(ann, 'd').waitFor()

  await ann.getByRole('button', { name: 'Ellipse' }).click()
  const [x, y] = await middle(drawn(ann, 'a'))
  await drag(ann, [x - 50, y + 120], [x + 50, y + 200])
  await ann.mouse.up()
  await ann.getByRole('textbox', { name: 'Text of ellipse without text' }).fill('New')
  await ann.mouse.click(...(await middle(drawn(ann, 'd'))))
  await named('New, ellipse').waitFor({ state: 'attached' })

  await drag(ann, await middle(ann.locator('[data-side="left"]')), await middle(drawn(ann, 'a')))
  await ann.mouse.up()
  await named('Connector from Delta to Alpha').waitFor({ state: 'attached' })

  await ann.mouse.dblclick(...(await middle(drawn(ann, 'a'))))
  const field = ann.getByRole('textbox', { name: 'Text of Alpha' })
  await field.waitFor()
  await client.putDocument('board', board([{ ...box('a', 100, 100, 'Theirs'), height: 70 }, ...SHAPES.slice(1)]))
  await named('Theirs, rectangle').waitFor({ state: 'attached' })
  await ann.mouse.click(...(await middle(drawn(ann, 'b'))))
  await expect.poll(() => ann.getByRole('textbox', { name: /^Text of/ }).count()).toBe(0)
  expect(await named('Theirs, rectangle').count()).toBe(1)

  const [bx, by] = await middle(drawn(ann, 'b'))
  await drag(ann, [bx + 90, by - 60], [bx - 90, by + 60])
  await ann.mouse.up()
  await ann.getByRole('button', { name: 'Delete' }).click()
  await named('Beta, rectangle').waitFor({ state: 'detached' })
  await named('Theirs, rectangle').waitFor({ state: 'attached' })
})

it('[CON-20] [PRES-1] shapes that an agent writes are marked with its name for some seconds', async (context) => {
  const { rest, openAs, relay, issuer } = await openConsole(context)
  await (await rest('ann')).putDocument('board', board(SHAPES))
  const ann = await openAs('ann', '#doc/board/p')
  await drawn(ann, 'd').waitFor()
  const agent = await mcpAgent(relay.mcpUrl, await issuer.mint('ann'))
  await agent.call('update_shape', { docId: 'board', pageId: 'p', id: 'b', patch: { text: 'Written' } })
  const marked = ann.getByRole('option', { name: /^Written, rectangle, just written by / })
  await marked.waitFor({ state: 'attached' })
  await ann.locator('.canvas-agent').waitFor()
  await ann.locator('.canvas-agent').waitFor({ state: 'detached' })
  await ann.getByRole('option', { name: 'Written, rectangle', exact: true }).waitFor({ state: 'attached' })
})

it('[CON-20] [PERM-1] a person with the right to view sees the page, and can change nothing', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const client = await rest('ann')
  await client.putDocument('board', board(SHAPES))
  await client.shareDocument('board', [{ userId: 'cleo', permission: 'view' }])
  const cleo = await openAs('cleo', '#doc/board/p')
  await drawn(cleo, 'd').waitFor()
  await drag(cleo, await middle(drawn(cleo, 'a')), [600, 500])
  await cleo.mouse.up()
  await cleo.keyboard.press('Delete')
  expect(await cleo.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  expect(await cleo.getByRole('option').count()).toBe(4)
})

it('[CON-20] [CON-28] on a page of 2,000 shapes, a drag redraws only the dragged shape and its connectors', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const boxes = Array.from({ length: 1_000 }, (_, i) => box(`s${i}`, (i % 40) * 180, Math.floor(i / 40) * 120, `Shape ${i}`))
  const lines = boxes.map(({ id }, i) => connector(`c${i}`, id, `s${(i + 1) % 1_000}`))
  await (await rest('ann')).putDocument('board', board([...boxes, ...lines]))
  const ann = await openAs('ann', '#doc/board/p')
  await drawn(ann, 'c999').waitFor({ state: 'attached' })
  await ann.evaluate(() => {
    const frames: unknown[] = []
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntriesByName('canvas-draw') as PerformanceMeasure[]) frames.push(detail)
    }).observe({ type: 'measure' })
    Object.assign(window, { frames })
  })
  const [x, y] = await middle(drawn(ann, 's410'))
  await drag(ann, [x, y], [x + 20, y + 30])
  const drawnShapes = async () => (await ann.evaluate('frames.map(({ shapes }) => shapes)')) as readonly number[]
  await expect.poll(async () => (await drawnShapes()).includes(3)).toBe(true)
  await ann.mouse.up()
  expect(Math.max(...(await drawnShapes()))).toBe(3)
})

function shapeIn(body: unknown, id: string): unknown {
  const found: unknown[] = []
  JSON.stringify(body, (_, value: unknown) => {
    if (typeof value === 'object' && value !== null && (value as { readonly id?: unknown }).id === id) found.push(value)
    return value
  })
  return found[0]
}
