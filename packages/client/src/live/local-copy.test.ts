import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { LocalCopy } from './local-copy.ts'

it('[WS-64] opening a copy makes no edit, since the person may have no right to edit', () => {
  const writer = new Y.Doc()
  writer.getText('page').insert(0, 'foo bar')
  const [ann, ben] = [new Y.Doc(), new Y.Doc()]
  for (const doc of [ann, ben]) Y.applyUpdate(doc, Y.encodeStateAsUpdate(writer))
  ben.getText('page').format(0, 3, { bold: true })
  ann.getText('page').delete(0, 3)
  // The mark of bold text that somebody else deleted remains twice. Yjs would remove one of the two by an edit.
  const update = Y.mergeUpdates([ann, ben].map((doc) => Y.encodeStateAsUpdate(doc)))
  const ydoc = new Y.Doc()
  ydoc.getText('page')
  const origins: unknown[] = []
  ydoc.on('update', (_, origin) => origins.push(origin))
  const stored = { content: { lineage: 'L', update }, begin: async () => {}, append: async () => true, remove: async () => {} }
  const copy = new LocalCopy(
    ydoc,
    stored,
    () => {},
    () => false,
  )
  expect([copy.state, origins]).toEqual(['on', [copy]])
})
