import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { TextSelection } from 'prosemirror-state'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { cursorAt } from '../../../../../scripts/example-cursor.ts'
import { type Editor, openCursorEditor, shownCursors } from '../../sync/testing/editor.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { saved, until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

/** People in y-prosemirror editors, an agent, and the clients of the example, each of which is shown to the others. */

const ANN = { sub: 'ann', role: 'member' }
const PAGE = 'text'
let relay: SharedRelay
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let made = 0
async function newDocument(): Promise<string> {
  const id = `cursors-${++made}`
  const content =
    '<p id="blk-one">First words</p><ul><li><p id="blk-two">Second words</p></li></ul><p id="blk-three">Third words</p>'
  await relay.rest(ANN).putDocument(id, { name: id, richTextPages: [{ id: PAGE, name: 'Text', content }] })
  return id
}

async function opened(id: string, name: string): Promise<{ readonly client: SyncClient; readonly editor: Editor }> {
  const client = relay.sync(id, ANN)
  await saved(client)
  client.awareness.setLocalState({ user: { name, color: '#8250df' } })
  return { client, editor: openCursorEditor(client.doc.getXmlFragment(`prose:${PAGE}`), client.awareness) }
}

function select({ editor }: { readonly editor: Editor }, text: string): void {
  const { state } = editor
  let from = -1
  state.doc.descendants((node, position) => {
    if (node.isText && node.text?.includes(text)) from = position + node.text.indexOf(text)
  })
  editor.isFocused = true
  editor.dispatch(state.tr.setSelection(TextSelection.create(state.doc, from, from + text.length)))
}

it('[PRES-1] [WS-42] [WS-65] two people in editors see the selection of each other at the right place', async () => {
  const id = await newDocument()
  const [ann, ben] = [await opened(id, 'Ann'), await opened(id, 'Ben')]
  select(ann, 'Second')
  select(ben, 'Third')
  const shownTo = (one: typeof ann, other: typeof ann) =>
    shownCursors(one.editor).find(({ client }) => client === other.client.doc.clientID)?.selected
  await until('the cursors', () => shownTo(ben, ann) === 'Second' && shownTo(ann, ben) === 'Third')
  ann.client.destroy()
  ben.client.destroy()
})

it('[PRES-1] [AG-29] a person sees the cursor and call of an agent on its block, and a later client sees both cursors', async () => {
  const id = await newDocument()
  const ann = await opened(id, 'Ann')
  select(ann, 'Third')
  const agent = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
  for (const [block, text] of [
    ['blk-one', 'Rewritten by an agent'],
    ['blk-two', 'In a list item'],
  ] as const) {
    const { callId } = await agent.call('set_prose', { docId: id, pageId: PAGE, id: block, content: text })
    await until(`the cursor on ${block}`, () => shownCursors(ann.editor).some(({ selected }) => selected === text))
    expect(shownCursors(ann.editor)).toHaveLength(1)
    const states = [...ann.client.awareness.getStates().values()].filter((state) => state['user']?.kind === 'agent')
    expect(states).toMatchObject([{ user: { page: PAGE, selection: [block], callId } }])
  }
  const follower = await opened(id, 'Follower')
  await until('both', () => {
    const selected = shownCursors(follower.editor).map((shown) => shown.selected)
    return selected.includes('Third') && selected.includes('In a list item')
  })
  ann.client.destroy()
  follower.client.destroy()
})

it('[PRES-1] the typists of the example and a person in an editor see each other', async () => {
  const id = await newDocument()
  const person = await opened(id, 'Person')
  const typist = relay.sync(id, ANN)
  await saved(typist)
  const text = (typist.doc.getXmlFragment(`prose:${PAGE}`).get(0) as Y.XmlElement).get(0) as Y.XmlText
  typist.awareness.setLocalState({ user: { name: 'Typist', color: '#0969da' }, cursor: cursorAt(text, 5) })
  select(person, 'Third')
  const heads = () => shownCursors(person.editor).map(({ head }) => head)
  await until('the typist', () => heads().includes(6))
  await until('the person', () =>
    [...typist.awareness.getStates().values()].some((state) => state['cursor']?.anchor?.item != null),
  )
  person.client.destroy()
  typist.destroy()
})

it('[WS-65] presence sent by a hostile client neither stops an open editor nor keeps one from opening', async () => {
  const id = await newDocument()
  const hostile = relay.sync(id, ANN)
  const ann = await opened(id, 'Ann')
  await saved(hostile)
  for (const cursor of [7, {}, { anchor: 3, head: null }, { anchor: { item: 1 }, head: { item: 2 } }]) {
    hostile.awareness.setLocalState({ user: 'no object', cursor, mark: JSON.stringify(cursor) })
    await until('the state', () =>
      [...ann.client.awareness.getStates().values()].some((state) => state['mark'] === JSON.stringify(cursor)),
    )
    ann.editor.dispatch(ann.editor.state.tr.insertText('x', 1))
    const late = await opened(id, 'Late')
    late.client.destroy()
  }
  expect(shownCursors(ann.editor)).toEqual([])
  ann.client.destroy()
  hostile.destroy()
})
