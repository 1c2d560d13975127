import { serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseElement, ProseTree } from '@docrelay/model/prose/node'
import { anyTree } from '@docrelay/model/prose/testing/arbitrary'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { fillFragment, readFragment, reconcileFragment } from '../prose/prose-fragment.ts'
import { root } from '../testing/live-page.ts'
import { LateWords } from './late-words.ts'

const RELAY = 'relay'

function copyOf(doc: Y.Doc): Y.Doc {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return copy
}

const shown = (doc: Y.Doc): ProseTree => readFragment(doc.getXmlFragment(root))

function textsIn(node: Y.XmlFragment): Y.XmlText[] {
  return node.toArray().flatMap((child) => (child instanceof Y.XmlText ? [child] : textsIn(child as Y.XmlFragment)))
}

/** Types a word letter by letter at a place that two numbers choose; the updates are for the test to deliver. */
function typed(doc: Y.Doc, word: string, [which, where]: readonly [number, number]): readonly Uint8Array[] {
  const texts = textsIn(doc.getXmlFragment(root))
  const text = texts[which % Math.max(1, texts.length)]
  if (text === undefined) return []
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  let at = where % (text.length + 1)
  // A caret never stands inside a surrogate pair.
  if (/[\ud800-\udbff]$/.test(plainText(text).slice(0, at))) at++
  for (const [i, letter] of [...word].entries()) text.insert(at + i, letter)
  return updates
}

/** With one character for each embedded value. */
function plainText(text: Y.XmlText): string {
  return (text.toDelta() as { insert: unknown }[]).map(({ insert }) => (typeof insert === 'string' ? insert : '\ufffc')).join('')
}

type Edit = (page: ProseTree) => ProseTree

/** What calls of tools do to a page: one block moved, retyped, wrapped or removed, or the whole page written. */
const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  anyTree.map(
    (tree): Edit =>
      () =>
        tree,
  ),
  fc.tuple(fc.constantFrom('move', 'retype', 'wrap', 'remove'), fc.nat(20)).map(
    ([kind, at]): Edit =>
      (page) => {
        const list = [...page]
        const [block] = list.splice(at % Math.max(1, list.length), 1)
        if (block === undefined || kind === 'remove') return list
        if (kind === 'move') return [...list, block]
        list.splice(at % (list.length + 1), 0, kind === 'wrap' ? quoted(block) : retyped(block))
        return list
      },
  ),
)

function quoted(block: ProseElement): ProseElement {
  return { type: 'blockquote', attrs: {}, content: [block] }
}

function retyped(block: ProseElement): ProseElement {
  if (block.type !== 'paragraph' && block.type !== 'heading') return block
  const { id } = block.attrs
  const type = block.type === 'paragraph' ? 'heading' : 'paragraph'
  return { type, attrs: id === undefined ? {} : { id }, content: block.content }
}

const place = fc.tuple(fc.nat(1_000), fc.nat(1_000))

it('[AG-110] after any edits by the relay each late word of a person is on the page once, in all copies', () => {
  fc.assert(
    fc.property(
      anyTree,
      fc.array(anyEdit, { minLength: 1, maxLength: 3 }),
      place,
      place,
      fc.nat(5),
      (start, edits, ann, ben, half) => {
        const relay = new Y.Doc()
        relay.transact(() => fillFragment(relay.getXmlFragment(root), start))
        relay.getMap('prosePages').set('p', {})
        const late = new LateWords(relay)
        relay.on('afterTransaction', (transaction: Y.Transaction) => {
          if (transaction.origin === RELAY) late.remember(transaction, 0)
        })
        const people = [
          { doc: copyOf(relay), word: '⟦ann⟧', at: ann },
          { doc: copyOf(relay), word: '⟦ben⟧', at: ben },
        ]
        const frames = people.map(({ doc, word, at }) => typed(doc, word, at))
        const receive = (update: Uint8Array): void => {
          const words = late.find(update, 0)
          Y.applyUpdate(relay, update, 'person')
          expect(late.place(words, RELAY)).toBe(0)
        }
        for (const edit of edits)
          relay.transact(() => reconcileFragment(relay.getXmlFragment(root), shown(relay), edit(shown(relay))), RELAY)
        // In turns: half of what each typed, then the rest.
        for (const frame of frames) frame.slice(0, half).forEach(receive)
        for (const frame of frames) frame.slice(half).forEach(receive)
        const html = serialiseHtml(shown(relay))
        for (const [i, { word, doc }] of people.entries()) {
          if ((frames[i] as readonly Uint8Array[]).length > 0) expect(html.split(word)).toHaveLength(2)
          Y.applyUpdate(doc, Y.encodeStateAsUpdate(relay))
          expect(serialiseHtml(shown(doc))).toBe(html)
        }
      },
    ),
    { numRuns: 400 },
  )
})
