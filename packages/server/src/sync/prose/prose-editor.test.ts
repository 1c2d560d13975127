import { equalTrees, isEmptyPage } from '@docrelay/model/prose/equal'
import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseElement, ProseTree } from '@docrelay/model/prose/node'
import { anyTree } from '@docrelay/model/prose/testing/arbitrary'
import { proseSchema } from '@docrelay/prosemirror/prose-schema'
import * as fc from 'fast-check'
import type { Node } from 'prosemirror-model'
import { describe, expect, it } from 'vitest'
import { prosemirrorToYXmlFragment, yXmlFragmentToProseMirrorRootNode } from 'y-prosemirror'
import * as Y from 'yjs'
import { fillFragment, readFragment, reconcileFragment } from './prose-fragment.ts'
import { openEditor, type Editor } from '../testing/editor.ts'
import { dice } from '../../kernel/testing/dice.ts'

const root = 'prose:p'

function filled(tree: ProseTree): Y.Doc {
  const doc = new Y.Doc()
  doc.transact(() => fillFragment(doc.getXmlFragment(root), tree))
  return doc
}

function replica(of: Y.Doc): Y.Doc {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(of))
  return doc
}

function expectTree(actual: ProseTree, wanted: ProseTree): void {
  if (!equalTrees(actual, wanted)) expect(actual).toEqual(wanted)
}

/** Returns the positions in text blocks at which a person can type. */
function typingPlaces(doc: Node): number[] {
  const places: number[] = []
  doc.descendants((node, position) => {
    if (!node.isTextblock) return
    for (let at = position + 1; at <= position + 1 + node.content.size; at++) {
      // A cursor is never between the two halves of a surrogate pair.
      if (!/[\ud800-\udbff]$/.test(doc.textBetween(position + 1, at))) places.push(at)
    }
  })
  return places
}

/** Does one random action of a person in an editor. */
function act(editor: Editor, next: (limit: number) => number): void {
  const { state } = editor
  const places = typingPlaces(state.doc)
  if (places.length === 0) return
  const at = places[next(places.length)] as number
  const $at = state.doc.resolve(at)
  const end = $at.end()
  switch (next(6)) {
    case 0:
    case 1:
      return editor.dispatch(state.tr.insertText('typed', at))
    case 2:
      return editor.dispatch(state.tr.delete(at, end))
    case 3:
      if ($at.parent.type.name === 'codeBlock') return
      return editor.dispatch(state.tr.addMark($at.start(), end, proseSchema.mark('highlight', { color: 'red' })))
    case 4:
      if ($at.parent.type.name !== 'paragraph') return
      return editor.dispatch(state.tr.split(at))
    default:
      if ($at.parent.type.name === 'codeBlock') return
      return editor.dispatch(state.tr.insert(at, proseSchema.node('citationInline', { refId: 'ref', label: 'Ref' })))
  }
}

describe('live prose and a real ProseMirror editor', () => {
  it('[PROSE-2] [PROSE-7] [YDOC-13] an editor that opens a page written by the relay changes and deletes nothing', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const doc = filled(tree)
        const opened = replica(doc)
        const fragment = opened.getXmlFragment(root)
        const before = Y.encodeStateAsUpdate(opened)
        // An empty page is stored without a block, but the editor's schema requires one.
        const empty = isEmptyPage(tree)
        if (!empty) yXmlFragmentToProseMirrorRootNode(fragment, proseSchema).check()
        const editor = openEditor(fragment)
        if (!empty) editor.state.doc.check()
        expect(Y.encodeStateAsUpdate(opened)).toEqual(before)
        expect(editor.state.doc.childCount).toBe(fragment.length)
        editor.close()
      }),
      { numRuns: 80, examples: [[[{ type: 'paragraph', attrs: {}, content: [] }]]] },
    )
  })

  it('[PROSE-6] [PROSE-8] a page stored by an editor reads as the same page, and its HTML reads back equal', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const node = yXmlFragmentToProseMirrorRootNode(filled(tree).getXmlFragment(root), proseSchema)
        const doc = new Y.Doc()
        const fragment = prosemirrorToYXmlFragment(node, doc.getXmlFragment(root))
        const read = readFragment(fragment)
        expectTree(read, tree)
        const html = serialiseHtml(read)
        expectTree(parseHtml(html, { source: 'stored' }).tree, read)
      }),
      { numRuns: 80 },
    )
  })

  it('[PROSE-6] [PROSE-8] after random typing the page and its HTML read back equal, and another editor opens the page without a change', () => {
    fc.assert(
      fc.property(anyTree, fc.nat(1e9), (tree, seed) => {
        const next = dice(seed)
        const doc = filled(tree)
        const editor = openEditor(doc.getXmlFragment(root))
        for (let i = 0; i < 8; i++) act(editor, next)
        const read = readFragment(doc.getXmlFragment(root))
        expectTree(parseHtml(serialiseHtml(read), { source: 'stored' }).tree, read)
        const shown = readFragment(filled(read).getXmlFragment(root))
        expectTree(shown, read)
        if (isEmptyPage(read)) return
        const asEditorShows = (of: Y.Doc) => yXmlFragmentToProseMirrorRootNode(of.getXmlFragment(root), proseSchema)
        expect(asEditorShows(filled(read)).toJSON()).toEqual(asEditorShows(doc).toJSON())
      }),
      { numRuns: 60 },
    )
  })

  it('[LIFE-14] a block that the relay rewrites while a person types in it keeps every character, in 60 schedules', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const next = dice(seed)
      const before: ProseElement[] = Array.from({ length: 4 }, (_, i) => ({
        type: 'paragraph',
        attrs: { id: `blk-${i}` },
        content: [{ type: 'text', text: `block ${i} says something`, marks: [] }],
      }))
      const server = filled(before)
      const client = replica(server)
      const editor = openEditor(client.getXmlFragment(root))
      const typedIn = next(4)
      const changed = (typedIn + 1 + next(3)) % 4
      const exchange = () => {
        Y.applyUpdate(client, Y.encodeStateAsUpdate(server, Y.encodeStateVector(client)))
        Y.applyUpdate(server, Y.encodeStateAsUpdate(client, Y.encodeStateVector(server)))
      }
      let page: ProseTree = before
      let typed = ''
      let written = ''
      for (let step = 0; step < 12; step++) {
        const kind = next(3)
        if (kind === 0) {
          const letter = String.fromCharCode(97 + next(26))
          typed += letter
          let position = 0
          for (let i = 0; i < typedIn; i++) position += editor.state.doc.child(i).nodeSize
          editor.dispatch(editor.state.tr.insertText(letter, position + editor.state.doc.child(typedIn).nodeSize - 1))
        } else if (kind === 1) {
          const digit = String(next(10))
          written += digit
          const after = page.map((block, i): ProseElement => {
            if (i !== changed) return block
            const text = `block ${i} says something${written}`
            return { ...block, content: [{ type: 'text', text, marks: [] }] }
          })
          server.transact(() => reconcileFragment(server.getXmlFragment(root), page, after))
          page = after
        } else exchange()
      }
      exchange()
      exchange()
      const texts = readFragment(server.getXmlFragment(root)).map((block) =>
        block.content.map((node) => (node.type === 'text' ? node.text : '')).join(''),
      )
      expect(texts, `seed ${seed}`).toEqual(
        before.map((_, i) => `block ${i} says something${i === typedIn ? typed : i === changed ? written : ''}`),
      )
      expectTree(readFragment(client.getXmlFragment(root)), readFragment(server.getXmlFragment(root)))
      expect(editor.state.doc.childCount).toBe(4)
    }
  })

  it('[LIFE-14] a page that is reconciled while an editor types ends equal on both replicas and in its HTML', () => {
    fc.assert(
      fc.property(anyTree, anyTree, fc.nat(1e9), (before, other, seed) => {
        const next = dice(seed)
        const server = filled(before)
        const client = replica(server)
        const editor = openEditor(client.getXmlFragment(root))
        for (let i = 0; i < 4; i++) act(editor, next)
        const at = next(before.length + 1)
        const after = [...before.slice(0, at), ...other, ...before.slice(Math.min(before.length, at + next(2)))]
        server.transact(() => reconcileFragment(server.getXmlFragment(root), before, after))
        Y.applyUpdate(server, Y.encodeStateAsUpdate(client))
        Y.applyUpdate(client, Y.encodeStateAsUpdate(server))
        const read = readFragment(server.getXmlFragment(root))
        expectTree(readFragment(client.getXmlFragment(root)), read)
        expectTree(parseHtml(serialiseHtml(read), { source: 'stored' }).tree, read)
      }),
      { numRuns: 60 },
    )
  })
})
