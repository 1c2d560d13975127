import * as Y from 'yjs'
import { CANVAS_PAGES, isProseRoot, PROSE_PAGES, proseRoot, shapeRoots } from '../binding/binding-roots.ts'

/** A part of the document that a live edit touched: a block, a shape, a page, or for all other parts the `document`. */
export interface Touched<By> {
  readonly kind: 'block' | 'shape' | 'page' | 'document'
  readonly pageId: string
  readonly id: string | null
  readonly isRemoved: boolean
  readonly by: By
}

interface Mark<By> {
  readonly kind: Touched<By>['kind']
  readonly pageId: string
  /** The touched block. Its id is read when the mark is reported, because the element may get an id later. */
  readonly element: Y.XmlElement | null
  id: string | null
  isRemoved: boolean
  by: By
  /** True when the mark was reported and its block, shape or page was not touched since. */
  isTold: boolean
}

/** A Yjs type as `Transaction.changed` lists it. */
type Changed = Y.Transaction['changed'] extends Map<infer Type, unknown> ? Type : never

/** The kind of content that the root of a Yjs type holds, and the id of its page; '' when the content belongs to no single page. */
type Root = { readonly kind: 'prose' | 'shapes' | 'pages' | 'document'; readonly pageId: string }

const MOST_MARKS = 4_096
const noBlock = { pageId: '', element: null, id: null, isRemoved: false, isTold: false } as const
const TEXT_BLOCKS: ReadonlySet<string> = new Set(['paragraph', 'heading', 'codeBlock'])
const SHAPES = shapeRoots('').map
const PROSE = proseRoot('')

/**
 * Notes which blocks and shapes live editors touch, and who touched each of them last. A page is never parsed: each changed type leads to
 * its block, so a note costs the same in a long page as in a short one. [AG-20]
 */
export class TouchedBlocks<By> {
  /** In the order in which the marks were made, so that the oldest mark can be dropped. */
  readonly #blocks = new Map<Y.XmlElement, Mark<By>>()
  readonly #entries = new Map<Changed, Map<string, Mark<By>>>()
  readonly #roots = new WeakMap<object, Root>()
  /** By page id: words that have no place, because their page was removed. */
  readonly #lost = new Map<string, Mark<By>>()
  #fresh: Mark<By>[] = []
  #entryCount = 0

  /** Whether something was touched since the last `take`. */
  get hasNews(): boolean {
    return this.#fresh.length > 0
  }

  /** Notes what a transaction of `by` touched. Call it when the transaction ends, before its deletions are garbage-collected. */
  note(transaction: Y.Transaction, by: By): void {
    let isRebuilt = false
    for (const [changed, members] of transaction.changed) {
      // Yjs declares all changed types with one common class, which `instanceof` cannot narrow.
      const type = changed as unknown
      if (type instanceof Y.XmlText) this.#touchAround(type, by)
      else if (type instanceof Y.XmlElement) {
        isRebuilt ||= members.has(null)
        this.#touchElement(type, members, by)
      } else if (type instanceof Y.XmlFragment) isRebuilt = true
      else this.#touchEntries(changed, members, by)
    }
    if (isRebuilt) this.#noteBuilt(transaction, by)
  }

  /** Notes that words of `by` have no place, because their page was removed. [AG-110] */
  noteLost(pageId: string, by: By): void {
    this.#touchEntry(this.#lost, pageId, { ...noBlock, kind: 'block', pageId, by })
  }

  /**
   * Forgets the marks of the blocks and shapes that a transaction of the relay changes, because the author of this transaction is recorded
   * elsewhere. A shape that a person has just changed is still reported by the next `take`, so that the answer of a tool can warn that a
   * person moves the shape. [AG-104]
   */
  forget(transaction: Y.Transaction): void {
    for (const [changed, members] of transaction.changed) {
      const type = changed as unknown
      if (type instanceof Y.XmlText || type instanceof Y.XmlElement) {
        const block = blockAround(type)
        if (block !== null) this.#blocks.delete(block)
      } else {
        const marks = this.#entries.get(changed)
        for (const member of members) if (member !== null && marks?.delete(member) === true) this.#entryCount--
      }
    }
    this.#fresh = this.#fresh.filter(({ element }) => element === null || this.#blocks.has(element))
  }

  /** Returns the marks that were made or touched again since the last call, each block, shape and page once. */
  take(): readonly Touched<By>[] {
    const fresh = this.#fresh
    this.#fresh = []
    for (const mark of fresh) mark.isTold = true
    // A shape has two marks when it was touched, forgotten and touched again.
    const newest = new Map(fresh.map((mark) => [mark.element ?? `${mark.kind} ${mark.pageId} ${mark.id}`, mark]))
    return [...newest.values()].map(told)
  }

  /** Returns all marks of blocks, shapes and pages that are still known, reported or not. */
  *all(): Generator<Touched<By>> {
    for (const mark of this.#blocks.values()) yield told(mark)
    for (const marks of this.#entries.values()) for (const mark of marks.values()) yield told(mark)
  }

  #touchAround(type: Y.XmlText, by: By): void {
    const block = blockAround(type)
    if (block !== null) this.#touch(block, by)
  }

  /** Marks the block of a changed element. A changed attribute of a list item marks its first paragraph, which stands for the item. */
  #touchElement(element: Y.XmlElement, members: ReadonlySet<string | null>, by: By): void {
    const block = blockAround(element)
    if (block !== null && isTextBlock(block)) return this.#touch(block, by)
    for (const member of members)
      if (member !== null) {
        const [first] = element.toArray()
        return this.#touch(first instanceof Y.XmlElement && isTextBlock(first) ? first : element, by)
      }
  }

  #touch(element: Y.XmlElement, by: By): void {
    const known = this.#blocks.get(element)
    if (known !== undefined) return this.#again(known, by)
    const root = this.#rootOf(element)
    if (root.kind !== 'prose') return
    this.#add(element, { kind: 'block', pageId: root.pageId, element, id: null, isRemoved: false, by, isTold: false })
  }

  #add(element: Y.XmlElement, mark: Mark<By>): void {
    this.#blocks.set(element, mark)
    this.#fresh.push(mark)
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= MOST_MARKS) break
      this.#blocks.delete(oldest)
    }
    if (this.#fresh.length > 2 * MOST_MARKS) this.#fresh = this.#fresh.slice(-MOST_MARKS)
  }

  #again(mark: Mark<By>, by: By): void {
    mark.by = by
    if (!mark.isTold) return
    mark.isTold = false
    this.#fresh.push(mark)
  }

  #touchEntries(type: Changed, members: ReadonlySet<string | null>, by: By): void {
    const { kind, pageId } = this.#rootOf(type)
    if (kind === 'prose') return
    const marks = this.#entries.get(type) ?? new Map<string, Mark<By>>()
    this.#entries.set(type, marks)
    if (kind === 'document' || !(type instanceof Y.Map)) return this.#touchEntry(marks, '', { ...noBlock, kind: 'document', by })
    for (const member of members) {
      if (member === null) continue
      const isRemoved = !type._map.has(member) || type._map.get(member)?.deleted === true
      const known = marks.get(member)
      if (known !== undefined) {
        known.isRemoved = isRemoved
        this.#again(known, by)
      } else if (kind === 'pages') this.#touchEntry(marks, member, { ...noBlock, kind: 'page', pageId: member, isRemoved, by })
      else this.#touchEntry(marks, member, { ...noBlock, kind: 'shape', pageId, id: member, isRemoved, by })
    }
  }

  #touchEntry(marks: Map<string, Mark<By>>, name: string, mark: Mark<By>): void {
    const known = marks.get(name)
    if (known !== undefined) return this.#again(known, mark.by)
    if (this.#entryCount >= MOST_MARKS) this.#forgetEntries()
    marks.set(name, mark)
    this.#entryCount++
    this.#fresh.push(mark)
  }

  #forgetEntries(): void {
    this.#lost.clear()
    for (const marks of this.#entries.values()) marks.clear()
    this.#entryCount = 0
  }

  /** Notes the blocks that a transaction made and removed. The time grows with the transaction, not with the page. */
  #noteBuilt(transaction: Y.Transaction, by: By): void {
    const made = new Set<string>()
    for (const element of madeBlocks(transaction)) {
      this.#touch(element, by)
      const id = idOf(element)
      if (id !== null) made.add(id)
    }
    if (transaction.deleteSet.clients.size === 0) return
    Y.iterateDeletedStructs(transaction, transaction.deleteSet, (struct) => {
      const element = elementOf(struct)
      if (element === null || !isTextBlock(element)) return
      const [id, root] = [idOf(element), this.#rootOf(element)]
      // An editor that moves or retypes a block removes it and makes it again.
      if (id === null || made.has(id) || root.kind !== 'prose') return
      const known = this.#blocks.get(element)
      if (known === undefined)
        this.#add(element, { kind: 'block', pageId: root.pageId, element, id, isRemoved: true, by, isTold: false })
      else {
        known.id = id
        known.isRemoved = true
        this.#again(known, by)
      }
    })
  }

  #rootOf(type: Changed | Y.XmlElement): Root {
    let top = type as Changed
    while (top._item !== null) top = top._item.parent as Changed
    let root = this.#roots.get(top)
    if (root === undefined) this.#roots.set(top, (root = readRoot(top)))
    return root
  }
}

function told<By>({ kind, pageId, id, element, isRemoved, by }: Mark<By>): Touched<By> {
  return { kind, pageId, id: id ?? (element === null ? null : idOf(element)), isRemoved, by }
}

function readRoot(type: Changed): Root {
  const name = Y.findRootTypeKey(type)
  if (isProseRoot(name)) return { kind: 'prose', pageId: name.slice(PROSE.length) }
  if (name.startsWith(SHAPES)) return { kind: 'shapes', pageId: name.slice(SHAPES.length) }
  return { kind: name === PROSE_PAGES.map || name === CANVAS_PAGES.map ? 'pages' : 'document', pageId: '' }
}

function isTextBlock({ nodeName }: Y.XmlElement): boolean {
  return TEXT_BLOCKS.has(nodeName)
}

/** Returns the text block that a type is or stands in. Returns the outermost element when there is no such block. */
function blockAround(type: Y.XmlText | Y.XmlElement): Y.XmlElement | null {
  let found: Y.XmlElement | null = null
  for (let at: unknown = type; at instanceof Y.XmlElement || at instanceof Y.XmlText; at = at._item?.parent) {
    if (at instanceof Y.XmlText) continue
    found = at
    if (isTextBlock(at)) break
  }
  return found
}

/** Returns the id of an element, even of one that has just been removed; `null` when it has none. */
function idOf(element: Y.XmlElement): string | null {
  const content = element._map.get('id')?.content
  const value: unknown = content instanceof Y.ContentAny ? content.arr.at(-1) : undefined
  return typeof value === 'string' && value !== '' ? value : null
}

function elementOf(struct: Y.Item | Y.GC): Y.XmlElement | null {
  if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) return null
  const { type } = struct.content as { readonly type: unknown }
  return type instanceof Y.XmlElement ? type : null
}

function* madeBlocks({ doc, beforeState, afterState }: Y.Transaction): Generator<Y.XmlElement> {
  for (const [client, clock] of afterState) {
    const from = beforeState.get(client) ?? 0
    if (clock === from) continue
    const structs = doc.store.clients.get(client) ?? []
    for (let i = Y.findIndexSS(structs as Y.Item[], from); i < structs.length; i++) {
      const struct = structs[i] as Y.Item
      const element = struct.deleted ? null : elementOf(struct)
      if (element !== null && isTextBlock(element)) yield element
    }
  }
}
