import { proseSchema } from '@docrelay/prosemirror'
import type { Node } from 'prosemirror-model'
import { type Command, EditorState, TextSelection } from 'prosemirror-state'
import { describe, expect, it } from 'vitest'
import { agentEditOf } from './agent-edits.ts'
import { toggleWrap } from './keys.ts'
import { storedHref } from './links.ts'
import { toggleList, toggleTask } from './lists.ts'
import { nodeType } from './node-types.ts'
import { headingsOf, positionOfHeading } from './outline-headings.ts'
import { emptyTable } from './tables.ts'
import { insertBlocks, setTextblock, toggleTextblock } from './text-blocks.ts'

const node = (name: string, attrs: Record<string, unknown>, ...content: readonly Node[]) => nodeType(name).create(attrs, content)
const paragraph = (text: string, id: string | null = null) =>
  node('paragraph', { id }, ...(text === '' ? [] : [proseSchema.text(text)]))

/** A page of these blocks, with the caret in the block whose text is `at`. */
function stateOf(at: string, ...blocks: readonly Node[]): EditorState {
  const doc = proseSchema.node('doc', null, blocks)
  let caret = 1
  doc.descendants((each, position) => {
    if (each.isText && each.text?.includes(at) === true) caret = position + each.text.indexOf(at)
  })
  return EditorState.create({ doc, selection: TextSelection.create(doc, caret) })
}

function after(state: EditorState, command: Command): EditorState {
  let next = state
  expect(command(state, (tr) => (next = state.apply(tr)))).toBe(true)
  next.doc.check()
  return next
}
const shown = ({ doc }: EditorState) => doc.toString()

describe('commands of a prose page', () => {
  it('[PROSE-43] a block keeps its id when it becomes a heading, a block of code, and a paragraph again', () => {
    let state = stateOf('words', paragraph('words', 'blk-a'))
    for (const command of [toggleTextblock('heading', { level: 2 }), setTextblock('codeBlock'), toggleTextblock('codeBlock')]) {
      state = after(state, command)
      expect(state.doc.firstChild?.attrs['id']).toBe('blk-a')
    }
    expect(shown(state)).toBe('doc(paragraph("words"))')
  })

  it('[PROSE-2] a list becomes a list of another kind with all its items, and the same kind again ends it at the caret', () => {
    const list = node('bulletList', {}, node('listItem', {}, paragraph('one')), node('listItem', {}, paragraph('two')))
    const tasks = after(stateOf('two', list), toggleList('taskList'))
    expect(shown(tasks)).toBe('doc(taskList(taskItem(paragraph("one")), taskItem(paragraph("two"))))')
    expect(after(tasks, toggleTask).doc.firstChild?.child(1).attrs['checked']).toBe(true)
    expect(shown(after(tasks, toggleList('taskList')))).toBe('doc(taskList(taskItem(paragraph("one"))), paragraph("two"))')
  })

  it('[PROSE-2] a heading becomes a list item with a paragraph, since items begin with one', () => {
    const state = stateOf('words', node('heading', { level: 1, id: 'blk-h' }, proseSchema.text('words')))
    const listed = after(state, toggleList('orderedList'))
    expect(shown(listed)).toBe('doc(orderedList(listItem(paragraph("words"))))')
    expect(listed.doc.firstChild?.firstChild?.firstChild?.attrs['id']).toBe('blk-h')
  })

  it('[PROSE-2] a callout is put around blocks and removed from them', () => {
    const wrapped = after(stateOf('words', paragraph('words')), toggleWrap('callout'))
    expect(shown(wrapped)).toBe('doc(callout(paragraph("words")))')
    expect(shown(after(wrapped, toggleWrap('callout')))).toBe('doc(paragraph("words"))')
  })

  it('[PROSE-2] a table replaces an empty paragraph, goes after a full one, and text can follow the table', () => {
    const table = insertBlocks(() => [emptyTable(1, 1)])
    const shownTable = 'table(tableRow(tableHeader(paragraph)))'
    expect(shown(after(stateOf('', paragraph('')), table))).toBe(`doc(${shownTable}, paragraph)`)
    const inItem = node('bulletList', {}, node('listItem', {}, paragraph('words')))
    expect(shown(after(stateOf('words', inItem), table))).toBe(
      `doc(bulletList(listItem(paragraph("words"), ${shownTable}, paragraph)))`,
    )
  })

  it('[PROSE-2] a dividing line is inserted with the caret after it, so that the next key does not replace it', () => {
    const state = after(
      stateOf('words', paragraph('words')),
      insertBlocks(() => [nodeType('horizontalRule').create()]),
    )
    expect(shown(state.apply(state.tr.insertText('more')))).toBe('doc(paragraph("words"), horizontalRule, paragraph("more"))')
  })
})

describe('awareness states of others', () => {
  it.each([
    null,
    'x',
    { user: null },
    { user: { kind: 'agent', page: 'p' } },
    { user: { kind: 'person', page: 'p', callId: 'c' } },
  ])('[PRES-1] %j is not read as an edit of an agent', (state) => {
    expect(agentEditOf(1, state, 'p')).toBeNull()
  })

  it('[PRES-1] only ids and texts are read from a hostile state, and a long name is cut', () => {
    const user = { kind: 'agent', page: 'p', name: 'n'.repeat(100), selection: [1, 'blk-a', null], callId: { no: 'text' } }
    expect(agentEditOf(1, { user }, 'p')).toEqual({ client: 1, name: 'n'.repeat(40), callId: null, blocks: ['blk-a'] })
    expect(agentEditOf(1, { user }, 'another')).toBeNull()
  })
})

describe('addresses and headings', () => {
  it.each([
    ['example.org/x', 'https://example.org/x'],
    [' https://example.org ', 'https://example.org'],
    ['relay://doc/minutes', 'relay://doc/minutes'],
    ['javascript:alert(1)', null],
    ['', null],
  ])('[PROSE-18] %j typed as a link is stored as %j', (typed, stored) => {
    expect(storedHref(typed)).toBe(stored)
  })

  it('the outline stays the same list until a heading changes, and gives the position of each heading', () => {
    const heading = (text: string) => node('heading', { level: 2 }, proseSchema.text(text))
    const { doc } = stateOf('one', heading('one'), paragraph('between'), heading('two'))
    const headings = headingsOf(doc, [])
    expect(headings).toEqual([
      { level: 2, text: 'one' },
      { level: 2, text: 'two' },
    ])
    expect(headingsOf(doc, headings)).toBe(headings)
    expect(doc.nodeAt(positionOfHeading(doc, 1) ?? -1)?.textContent).toBe('two')
    expect(positionOfHeading(doc, 2)).toBeNull()
  })
})
