import { serialiseHtml } from '@docrelay/model/prose/html'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import type { ProseElement, ProseTree } from '@docrelay/model/prose/node'
import { anyTree } from '@docrelay/model/prose/testing/arbitrary'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { fillFragment, readFragment, reconcileFragment } from '../prose/prose-fragment.ts'
import { element, plain, root } from '../testing/live-page.ts'
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

/** Returns the fragment and all elements in it, in document order. */
function nodesIn(node: Y.XmlFragment): Y.XmlFragment[] {
  return [node, ...node.toArray().flatMap((child) => (child instanceof Y.XmlElement ? nodesIn(child) : []))]
}

const takesBlocks = (node: Y.XmlFragment): boolean =>
  !(node instanceof Y.XmlElement) || findNodeSpec(node.nodeName)?.content === 'blocks'

const isTextBlock = (node: Y.XmlFragment): boolean =>
  node instanceof Y.XmlElement && ['inline', 'code'].includes(findNodeSpec(node.nodeName)?.content ?? '')

/** Runs `write` on a copy and returns the updates that it emits. The test delivers them later. */
function updatesOf(doc: Y.Doc, write: () => void): readonly Uint8Array[] {
  const updates: Uint8Array[] = []
  const add = (update: Uint8Array): number => updates.push(update)
  doc.on('update', add)
  write()
  doc.off('update', add)
  return updates
}

/** Writes a word letter by letter into a new paragraph. Two numbers choose the container and the place in it. */
function writtenBlock(doc: Y.Doc, word: string, [which, where]: readonly [number, number]): readonly Uint8Array[] {
  const containers = nodesIn(doc.getXmlFragment(root)).filter(takesBlocks)
  const container = containers[which % containers.length] as Y.XmlFragment
  return updatesOf(doc, () => {
    const text = plain('')
    container.insert(where % (container.length + 1), [element('paragraph', {}, text)])
    for (const [i, letter] of [...word].entries()) text.insert(i, letter)
  })
}

/** Writes at the head of a node as an editor does: letters, a text, or a heading that may replace the first block. */
function writtenAtHead(doc: Y.Doc, [which, kind]: readonly [number, number]): readonly Uint8Array[] {
  const nodes = nodesIn(doc.getXmlFragment(root))
  const node = nodes[which % nodes.length] as Y.XmlFragment
  return updatesOf(doc, () =>
    doc.transact(() => {
      const first = node.length > 0 ? node.get(0) : undefined
      if (first instanceof Y.XmlText) first.insert(0, 'letters')
      else if (isTextBlock(node)) node.insert(0, [plain('words')])
      else {
        if (kind % 2 === 0 && first !== undefined) node.delete(0, 1)
        node.insert(0, [element('heading', { level: 2 }, plain('heading'))])
      }
    }),
  )
}

/** A character for private use, which no page has. */
const TYPO = '\uf8ff'

/** Types a word letter by letter at a place that two numbers choose. Types and deletes `typos[i]` wrong letters behind letter i. */
function typed(
  doc: Y.Doc,
  word: string,
  [which, where]: readonly [number, number],
  typos: readonly number[],
): readonly Uint8Array[] {
  const texts = textsIn(doc.getXmlFragment(root))
  const text = texts[which % Math.max(1, texts.length)]
  if (text === undefined) return []
  let at = where % (text.length + 1)
  // A caret never stands inside a surrogate pair.
  if (/[\ud800-\udbff]$/.test(plainText(text).slice(0, at))) at++
  return updatesOf(doc, () => {
    for (const [i, letter] of [...word].entries()) {
      text.insert(at + i, letter)
      const wrong = typos[i] ?? 0
      for (let n = 1; n <= wrong; n++) text.insert(at + i + n, TYPO)
      for (let n = wrong; n > 0; n--) text.delete(at + i + n, 1)
    }
  })
}

/** Returns the text with one character for each embedded value. */
function plainText(text: Y.XmlText): string {
  return (text.toDelta() as { insert: unknown }[]).map(({ insert }) => (typeof insert === 'string' ? insert : '\ufffc')).join('')
}

type Edit = (page: ProseTree) => ProseTree

function rearranged(kind: string, at: number): Edit {
  return (page) => {
    const list = [...page]
    const [block] = list.splice(at % Math.max(1, list.length), 1)
    if (block === undefined || kind === 'remove') return list
    if (kind === 'move') return [...list, block]
    list.splice(at % (list.length + 1), 0, kind === 'wrap' ? quoted(block) : retyped(block))
    return list
  }
}

/** Edits as tools make them: one block is moved, retyped, wrapped or removed, or the whole page is written. */
const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  anyTree.map(
    (tree): Edit =>
      () =>
        tree,
  ),
  fc.tuple(fc.constantFrom('move', 'retype', 'wrap', 'remove'), fc.nat(20)).map(([kind, at]) => rearranged(kind, at)),
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

/** A relay whose process may restart. Only its updates and the notes stored with them survive a restart. */
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
      fc.record({
        inNewBlock: fc.boolean(),
        typos: fc.array(fc.nat(2), { maxLength: 5 }),
        /** When true, the copies keep deleted letters, and each person sends everything in one update. */
        atOnce: fc.boolean(),
      }),
      (start, edits, ann, ben, half, [afterFirst, afterEdits, afterHalf], { inNewBlock, typos, atOnce }) => {
        const relay = new Relay((doc) => {
          fillFragment(doc.getXmlFragment(root), start)
          doc.getMap('prosePages').set('p', {})
        })
        const people = [
          { doc: copyOf(relay.doc), word: '⟦ann⟧', at: ann },
          { doc: copyOf(relay.doc), word: '⟦ben⟧', at: ben },
        ]
        const frames = people.map(({ doc, word, at }, i) => {
          doc.gc = !atOnce
          const updates = i === 0 && inNewBlock ? writtenBlock(doc, word, at) : typed(doc, word, at, typos)
          return atOnce && updates.length > 0 ? [Y.encodeStateAsUpdate(doc)] : updates
        })
        for (const [i, edit] of edits.entries()) {
          relay.edit(edit)
          if (i === 0 && afterFirst) relay.restart()
        }
        if (afterEdits) relay.restart()
        // First the first `half` updates of each person arrive, then the rest.
        for (const frame of frames) for (const update of frame.slice(0, half)) relay.receive(update)
        if (afterHalf) relay.restart()
        for (const frame of frames) for (const update of frame.slice(half)) relay.receive(update)
        const html = serialiseHtml(shown(relay.doc))
        expect(html).not.toContain(TYPO)
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

it('[AG-110] after a client has got a removal at the head of a node, nothing that it writes at that head is late', () => {
  fc.assert(
    fc.property(anyTree, fc.array(fc.tuple(anyEdit, place), { minLength: 1, maxLength: 4 }), (start, turns) => {
      const relay = new Relay((doc) => fillFragment(doc.getXmlFragment(root), start))
      const person = copyOf(relay.doc)
      for (const [edit, at] of turns) {
        relay.edit(edit)
        Y.applyUpdate(person, Y.encodeStateAsUpdate(relay.doc))
        for (const update of writtenAtHead(person, at)) {
          expect(relay.late.find(update, 0)).toEqual([])
          Y.applyUpdate(relay.doc, update, 'person')
        }
        expect(serialiseHtml(shown(relay.doc))).toBe(serialiseHtml(shown(person)))
      }
    }),
    { numRuns: 300 },
  )
})
