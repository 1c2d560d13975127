import { equalTrees } from '@docrelay/model/prose/equal'
import { FixList } from '@docrelay/model/prose/fixes'
import { heal } from '@docrelay/model/prose/heal'
import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseElement, ProseTree } from '@docrelay/model/prose/node'
import { anyBlock, anyTree, looseNodes } from '@docrelay/model/prose/testing/arbitrary'
import { violations } from '@docrelay/model/prose/testing/content-model'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { fillFragment, readFragment, reconcileFragment } from './prose-fragment.ts'
import { createProseCache, forgetTouched } from './prose-fragment-read.ts'
import { createElement, createText, segments } from './prose-fragment-write.ts'

function page(tree: ProseTree, clientId = 1): { doc: Y.Doc; fragment: Y.XmlFragment } {
  const doc = new Y.Doc()
  doc.clientID = clientId
  const fragment = doc.getXmlFragment('prose:p')
  doc.transact(() => fillFragment(fragment, tree))
  return { doc, fragment }
}

function expectTree(actual: ProseTree, wanted: ProseTree): void {
  if (!equalTrees(actual, wanted)) expect(actual).toEqual(wanted)
}

/** A page, and a version of it with some blocks removed, moved, changed or added. */
const edited = anyTree.chain((before) =>
  fc
    .array(fc.tuple(fc.constantFrom('remove', 'insert', 'replace', 'move', 'nested'), fc.nat(10), anyBlock), {
      minLength: 1,
      maxLength: 3,
    })
    .map((edits) => ({ before, after: tidy(edits.reduce<ProseTree>(apply, before)) })),
)

/** Makes the result of random edits valid, for example by merging adjacent runs with equal marks. */
function tidy(tree: ProseTree): ProseTree {
  return tree.length === 0 ? tree : heal(tree, new FixList())
}

function apply(tree: ProseTree, [kind, at, block]: [string, number, ProseElement]): ProseTree {
  const index = tree.length === 0 ? 0 : at % tree.length
  const list = [...tree]
  const target = list[index]
  if (kind === 'remove') list.splice(index, 1)
  else if (kind === 'insert' || target === undefined) list.splice(index, 0, block)
  else if (kind === 'replace') list[index] = block
  else if (kind === 'move') list.splice((index + 1) % list.length, 0, ...list.splice(index, 1))
  else if (target.type === 'blockquote' || target.type === 'callout')
    list[index] = { ...target, content: [...target.content, block] }
  else if (target.type === 'paragraph') {
    list[index] = {
      ...target,
      content: [{ type: 'text', text: 'new ', marks: [] }, ...target.content.slice(target.content[0]?.type === 'text' ? 1 : 0)],
    }
  }
  return list
}

describe('laws of live prose', () => {
  it('[PROSE-1] [PROSE-7] a page written to a live fragment reads back equal, and so does its HTML', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const read = readFragment(page(tree).fragment)
        expectTree(read, tree)
        expectTree(parseHtml(serialiseHtml(read), { source: 'stored' }).tree, tree)
      }),
      { numRuns: 200 },
    )
  })

  it('[YDOC-9] two fills of one page under the same client id are byte-identical', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        expect(Y.encodeStateAsUpdate(page(tree, 7).doc)).toEqual(
          Y.encodeStateAsUpdate(page(structuredClone(tree) as ProseTree, 7).doc),
        )
      }),
      { numRuns: 60 },
    )
  })

  it('[PROSE-8] reading a live page never writes', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const { doc, fragment } = page(tree)
        const state = Y.encodeStateAsUpdate(doc)
        readFragment(fragment)
        expect(Y.encodeStateAsUpdate(doc)).toEqual(state)
      }),
      { numRuns: 60 },
    )
  })

  it('[LIFE-14] reconciling a page that nobody else edits makes it exactly the new version', () => {
    fc.assert(
      fc.property(edited, ({ before, after }) => {
        const { doc, fragment } = page(before)
        doc.transact(() => reconcileFragment(fragment, before, after))
        expectTree(readFragment(fragment), after.length === 0 ? [] : after)
      }),
      { numRuns: 250 },
    )
  })

  it('[LIFE-14] reconciling with a version that the live page already has changes nothing', () => {
    fc.assert(
      fc.property(edited, ({ before, after }) => {
        const { doc, fragment } = page(after)
        doc.transact(() => reconcileFragment(fragment, before, after))
        expectTree(readFragment(fragment), after)
      }),
      { numRuns: 250 },
    )
  })

  it('[PROSE-50] blocks that are equal in both versions keep their live nodes', () => {
    fc.assert(
      fc.property(anyTree, anyBlock, (tree, block) => {
        const { doc, fragment } = page(tree)
        const kept = fragment.toArray()
        doc.transact(() => reconcileFragment(fragment, tree, [...tree, block]))
        expect(fragment.toArray().slice(0, kept.length)).toEqual(kept)
        expect(
          fragment
            .toArray()
            .slice(0, kept.length)
            .every((node, i) => node === kept[i]),
        ).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('[LIFE-14] two versions of one page merge to a valid page, which is the same on both replicas', () => {
    fc.assert(
      fc.property(edited, anyBlock, fc.nat(5), ({ before, after }, block, at) => {
        const left = page(before)
        const right = new Y.Doc()
        right.clientID = 2
        Y.applyUpdate(right, Y.encodeStateAsUpdate(left.doc))
        const fragment = right.getXmlFragment('prose:p')
        right.transact(() => reconcileFragment(fragment, before, [...before.slice(0, at), block, ...before.slice(at)]))
        left.doc.transact(() => reconcileFragment(left.fragment, before, after))
        Y.applyUpdate(right, Y.encodeStateAsUpdate(left.doc))
        Y.applyUpdate(left.doc, Y.encodeStateAsUpdate(right))
        const read = readFragment(left.fragment)
        expectTree(readFragment(fragment), read)
        if (read.length > 0) expect(violations(read)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('[LIFE-14] a version made from an older page changes the current page and keeps what others added to it', () => {
    fc.assert(
      fc.property(edited, anyBlock, fc.nat(5), ({ before, after }, block, at) => {
        const { doc, fragment } = page(before)
        const now = [...before.slice(0, at), block, ...before.slice(at)]
        doc.transact(() => reconcileFragment(fragment, before, now))
        doc.transact(() => reconcileFragment(fragment, before, after))
        const read = readFragment(fragment)
        if (read.length > 0) expect(violations(read)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('[PROSE-8] a cached reading equals an uncached one after any change, and unchanged blocks are the same objects', () => {
    fc.assert(
      fc.property(edited, ({ before, after }) => {
        const { doc, fragment } = page(before)
        const cache = createProseCache()
        doc.on('afterTransaction', (transaction: Y.Transaction) => forgetTouched(cache, transaction))
        const first = readFragment(fragment, cache)
        expect(readFragment(fragment, cache).every((block, i) => block === first[i])).toBe(true)
        doc.transact(() => reconcileFragment(fragment, before, after, cache))
        expectTree(readFragment(fragment, cache), readFragment(fragment))
      }),
      { numRuns: 200 },
    )
  })

  it('[PROSE-24] [YDOC-13] a live page outside the content model is read repaired, and reconciles exactly', () => {
    fc.assert(
      fc.property(looseNodes, anyBlock, fc.nat(10), (nodes, block, at) => {
        const doc = new Y.Doc()
        const fragment = doc.getXmlFragment('prose:p')
        doc.transact(() => {
          for (const segment of segments(nodes)) {
            fragment.insert(fragment.length, [
              Array.isArray(segment) ? createText(segment) : createElement(segment as ProseElement),
            ])
          }
        })
        const before = readFragment(fragment)
        if (before.length > 0) expect(violations(before)).toEqual([])
        const index = before.length === 0 ? 0 : at % before.length
        const after = [...before.slice(0, index), block, ...before.slice(index + (at % 2))]
        doc.transact(() => reconcileFragment(fragment, before, after))
        expectTree(readFragment(fragment), after)
      }),
      { numRuns: 200 },
    )
  })
})
