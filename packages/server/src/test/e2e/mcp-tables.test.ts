import { serialiseHtml } from '@docrelay/model/prose/html'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openEditor, type Editor } from '../../sync/testing/editor.ts'
import { readFragment } from '../../sync/prose/prose-fragment.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { patience } from '../../kernel/testing/patience.ts'

type Members = Readonly<Record<string, unknown>>

let relay: SharedRelay
let ann: McpAgent

beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const table = (rows: number, cols: number): string => {
  const row = (y: number) => Array.from({ length: cols }, (_, x) => `<td><p id="blk-${y}-${x}">${y} ${x}</p></td>`).join('')
  return `<table>${Array.from({ length: rows }, (_, y) => `<tr>${row(y)}</tr>`).join('')}</table>`
}

async function put(docId: string, content: string): Promise<void> {
  const richTextPages = [{ id: 'one', name: 'One', order: 0, content }]
  await relay.rest({ sub: 'ann' }).putDocument(docId, { name: 'T', pages: [], richTextPages })
}

interface Grid {
  readonly rows: number
  readonly cols: number
  readonly cells: readonly { readonly row: number; readonly col: number; readonly text: string; readonly id?: string }[]
}

const gridOf = (result: Members) => result['table'] as Grid

/** Types a letter at the end of a block, as a person does. */
function type(editor: Editor, id: string, letter: string): void {
  let end = -1
  editor.state.doc.descendants((node, at) => {
    if (node.attrs['id'] === id) end = at + node.nodeSize - 1
  })
  expect(end, `${id} stands in the editor`).toBeGreaterThan(0)
  editor.dispatch(editor.state.tr.insertText(letter, end))
}

/** Changes around the cell in the second row and column of a table. None moves the cell for good or changes it. */
const CHANGES: readonly Members[] = [
  { op: 'addRow', row: 1 },
  { op: 'addColumn', col: 1 },
  { op: 'mergeCells', fromRow: 2, fromCol: 0, toRow: 3, toCol: 2 },
  { op: 'splitCell', row: 3, col: 1 },
  { op: 'moveRow', from: 3, to: 2 },
  { op: 'moveColumn', from: 3, to: 2 },
  { op: 'moveRow', from: 2, to: 3 },
  // Moves the first row past the cell and back.
  { op: 'moveRow', from: 0, to: 1 },
  { op: 'moveRow', from: 1, to: 0 },
  { op: 'moveColumn', from: 0, to: 1 },
  { op: 'moveColumn', from: 1, to: 0 },
  { op: 'setColumnWidth', col: 1, width: 90 },
  { op: 'setCellAttrs', row: 1, col: 1, align: 'right' },
  { op: 'toggleHeaderRow' },
  { op: 'toggleHeaderColumn' },
  { op: 'deleteRow', row: 2 },
  { op: 'deleteColumn', col: 2 },
  { op: 'addRow', row: 0, side: 'before' },
  { op: 'addColumn', col: 0, side: 'before' },
  { op: 'moveRow', from: 1, to: 0 },
  { op: 'moveColumn', from: 1, to: 0 },
  { op: 'deleteRow', row: 0 },
  { op: 'deleteColumn', col: 0 },
]

it('[TABLE-5] [CONC-8] a person who types in a table cell loses no letter while tools change the table around it', async () => {
  await put('typing', table(4, 4))
  const person = relay.sync('typing', { sub: 'ann', role: 'member' })
  await saved(person)
  const fragment = person.doc.getXmlFragment('prose:one')
  const editor = openEditor(fragment)
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  let typed = ''
  for (let round = 0; round < 3; round++)
    for (const [i, change] of CHANGES.entries()) {
      let isDone = false
      const done = ann.answer('edit_table', { docId: 'typing', pageId: 'one', ...change }).finally(() => (isDone = true))
      do {
        const letter = letters[(typed.length + i) % 26] as string
        type(editor, 'blk-1-1', letter)
        typed += letter
        await new Promise((resolve) => setTimeout(resolve, 1))
      } while (!isDone)
      const { isError, result } = await done
      expect(isError, JSON.stringify([change, result])).toBe(false)
    }
  await saved(person)
  const { page } = await ann.call('get_prose', { docId: 'typing', pageId: 'one' })
  expect((page as { readonly content: string }).content).toContain(`<p id="blk-1-1">1 1${typed}</p>`)
  expect(serialiseHtml(readFragment(fragment))).toBe((page as { readonly content: string }).content)
  editor.state.doc.check()
  editor.close()
  const grid = gridOf(await ann.call('get_table', { docId: 'typing', pageId: 'one' }))
  expect(grid.cells.find(({ id }) => id === 'blk-1-1')).toMatchObject({ row: 1, col: 1 })
  person.destroy()
})

it('[PROSE-23] [TABLE-2] the largest allowed table is read whole and changed, and cannot grow', {
  timeout: patience(60_000),
}, async () => {
  await put('largest', table(100, 200))
  const at = { docId: 'largest', pageId: 'one' }
  const grid = gridOf(await ann.call('get_table', at))
  expect([grid.rows, grid.cols, grid.cells.length]).toEqual([100, 200, 20_000])
  expect(grid.cells.at(-1)).toEqual({
    row: 99,
    col: 199,
    tag: 'td',
    colspan: 1,
    rowspan: 1,
    text: '99 199',
    id: 'blk-99-199#e0ht',
  })
  for (const op of [
    { op: 'addRow', row: 0 },
    { op: 'addColumn', col: 0 },
  ]) {
    const refusal = await ann.refused('edit_table', { ...at, ...op })
    expect(refusal).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
    expect(refusal['message']).toContain('200 columns and 20000 cells')
  }
  const shorter = gridOf(await ann.call('edit_table', { ...at, op: 'deleteRow', row: 50 }))
  expect([shorter.rows, shorter.cells.length]).toEqual([99, 19_800])
  const again = gridOf(await ann.call('edit_table', { ...at, op: 'addRow', row: 49 }))
  expect([again.rows, again.cells.length]).toEqual([100, 20_000])
  expect(gridOf(await ann.call('get_table', at))).toEqual(again)
})
