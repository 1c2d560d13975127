import { serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseElement, ProseTree } from '@docrelay/model/prose/node'
import { anyTree } from '@docrelay/model/prose/testing/arbitrary'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { fillFragment, readFragment, reconcileFragment } from '../prose/prose-fragment.ts'
import { root } from '../testing/live-page.ts'
import { LateWords } from './late-words.ts'
import { RemovedBlocks } from './removed-blocks.ts'

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

/** A relay whose process may end: then nothing is left of it but its updates and the notes that it stored with them. */
class Relay {
  doc = new Y.Doc()
  late = new LateWords(this.doc)
  readonly stored: string[] = []

  constructor(fill: (doc: Y.Doc) => void) {
    this.doc.transact(() => fill(this.doc))
    this.listen()
  }

  private listen(): void {
    this.doc.on('afterTransaction', (transaction: Y.Transaction) => {
      if (transaction.origin === RELAY) this.late.remember(transaction, 0)
    })
    this.doc.on('update', () => {
      const notes = this.late.takeNotes()
      if (notes !== null) this.stored.push(notes)
    })
  }

  edit(edit: Edit): void {
    this.doc.transact(() => {
      reconcileFragment(this.doc.getXmlFragment(root), shown(this.doc), edit(shown(this.doc)))
    }, RELAY)
  }

  receive(update: Uint8Array): void {
    const words = this.late.find(update, 0)
    Y.applyUpdate(this.doc, update, 'person')
    expect(this.late.place(words, RELAY)).toBe(0)
  }

  restart(): void {
    this.doc = copyOf(this.doc)
    this.doc.getXmlFragment(root)
    this.doc.getMap('prosePages')
    this.late = new LateWords(this.doc, RemovedBlocks.restored(this.stored, 0))
    this.listen()
  }
}

it('[AG-110] after any edits and restarts of the relay each late word of a person is on the page once, in all copies', () => {
  fc.assert(
    fc.property(
      anyTree,
      fc.array(anyEdit, { minLength: 1, maxLength: 3 }),
      place,
      place,
      fc.nat(5),
      fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      (start, edits, ann, ben, half, [afterFirst, afterEdits, afterHalf]) => {
        const relay = new Relay((doc) => {
          fillFragment(doc.getXmlFragment(root), start)
          doc.getMap('prosePages').set('p', {})
        })
        const people = [
          { doc: copyOf(relay.doc), word: '⟦ann⟧', at: ann },
          { doc: copyOf(relay.doc), word: '⟦ben⟧', at: ben },
        ]
        const frames = people.map(({ doc, word, at }) => typed(doc, word, at))
        for (const [i, edit] of edits.entries()) {
          relay.edit(edit)
          if (i === 0 && afterFirst) relay.restart()
        }
        if (afterEdits) relay.restart()
        // In turns: half of what each typed, then the rest.
        for (const frame of frames) for (const update of frame.slice(0, half)) relay.receive(update)
        if (afterHalf) relay.restart()
        for (const frame of frames) for (const update of frame.slice(half)) relay.receive(update)
        const html = serialiseHtml(shown(relay.doc))
        for (const [i, { word, doc }] of people.entries()) {
          if ((frames[i] as readonly Uint8Array[]).length > 0) expect(html.split(word)).toHaveLength(2)
          Y.applyUpdate(doc, Y.encodeStateAsUpdate(relay.doc))
          expect(serialiseHtml(shown(doc))).toBe(html)
        }
      },
    ),
    { numRuns: 400 },
  )
})
