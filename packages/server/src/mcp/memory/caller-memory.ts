import { type BodyDelta, type PageDelta, stillUnseen } from '@docrelay/model/seen/body-delta'
import type { SeenOutline, SeenPage } from '@docrelay/model/seen/seen'
import { outlineShown, outlineWritten } from '@docrelay/model/seen/seen-outline'
import { readShownBlock, type ShownBlock, type ShownHeadings, type ShownPage } from '@docrelay/model/seen/shown'

export const MOST_BLOCKS = 5_000
const MOST_CURSORS = 16
const PAGE_BYTES = 256
const BLOCK_BYTES = 96

/** The cursors of one answer of a list: `given` came with the call, `next` asks for the following answer. */
export interface Cursors {
  readonly given: string | null
  readonly next: string | null
}

const NO_HEADINGS: ShownHeadings = { from: 0, blocks: [] }

interface PageMemory {
  /** How often each block stands on the page: blocks without id may have equal text. */
  readonly blocks: Map<ShownBlock, number>
  /** The block last shown under each id. */
  readonly byId: Map<string, ShownBlock>
  isWhole: boolean
  /** The page was shown without gaps from its start to where the last answer ended. */
  isBegun: boolean
  /** The headings last shown, by their index on the page. [AG-79] */
  outline: SeenOutline
  /** Number of headings shown since the page was last shown from its start. */
  listed: number
}

function emptyPage(): PageMemory {
  return { blocks: new Map(), byId: new Map(), isWhole: false, isBegun: false, outline: [], listed: 0 }
}

/** What one caller last saw of one document. [AG-17] */
export class DocumentMemory {
  /** The version of the last answer that updated this memory. */
  version = 0
  /** Sequence number, in the change record, of the last change this caller was notified of. */
  toldTo = 0
  /** Sequence number, in the change record, of the last change that `version` includes. */
  partOf = 0
  #blocks = 0
  #bytes = 0
  /** Pages by id, ordered by last use; the most recently used page is last. */
  readonly #pages = new Map<string, PageMemory>()
  /** By the cursor for the next answer of a list: the page in which the answer that returned the cursor ended. */
  readonly #endedIn = new Map<string, string>()

  /** Estimated bytes that this object takes. */
  get bytes(): number {
    const headings = [...this.#pages.values()].reduce((sum, { outline }) => sum + outline.length, 0)
    return this.#bytes + headings * BLOCK_BYTES + this.#pages.size * PAGE_BYTES
  }

  pages(ids: (pageId: string) => boolean): readonly SeenPage[] {
    return [...this.#pages].flatMap(([pageId, { blocks, isWhole, outline }]) =>
      ids(pageId)
        ? {
            pageId,
            isWhole,
            blocks: [...blocks].flatMap(([block, count]) => Array<ShownBlock>(count).fill(block)),
            ...(outline.length > 0 && { outline }),
          }
        : [],
    )
  }

  /** Records pages, or parts of pages, that an answer showed. An answer to a cursor continues where the answer before it ended. */
  saw(pages: readonly ShownPage[], { given, next }: Cursors): void {
    const before = given === null ? null : (this.#endedIn.get(given) ?? null)
    for (const [i, { pageId, blocks, isPart, headings = NO_HEADINGS }] of pages.entries()) {
      const page = this.#page(pageId)
      if (isPart === true) page.outline = outlineShown(page.outline, headings)
      else {
        const goesOn = i === 0 && given !== null
        const begins = !goesOn || (before !== null && before !== pageId)
        if (begins) this.#empty(page)
        page.isBegun = begins || (page.isBegun && before === pageId)
        page.isWhole = page.isBegun && (i < pages.length - 1 || next === null)
        this.#list(page, headings)
        // This answer began with another page, so the page before it was shown to its end.
        if (goesOn && begins) this.#ended(before)
      }
      for (const block of blocks) this.#add(page, block, isPart !== true)
      this.#bound(pageId)
    }
    const last = pages.at(-1)
    if (next !== null && last !== undefined) this.#goOn(next, last.pageId)
  }

  /** Records the headings of a page that is read from its start, in one or several answers. */
  #list(page: PageMemory, { blocks }: ShownHeadings): void {
    page.outline = page.isBegun ? outlineShown(page.outline, { from: page.listed, blocks }) : []
    page.listed += blocks.length
    if (page.isWhole) page.outline = page.outline.slice(0, page.listed)
  }

  #goOn(cursor: string, pageId: string): void {
    this.#endedIn.set(cursor, pageId)
    for (const oldest of this.#endedIn.keys()) {
      if (this.#endedIn.size <= MOST_CURSORS) break
      this.#endedIn.delete(oldest)
    }
  }

  #ended(pageId: string | null): void {
    const page = pageId === null ? undefined : this.#pages.get(pageId)
    if (page !== undefined) page.isWhole = page.isBegun
  }

  /** Records pages that the caller wrote as a whole. */
  wroteWhole(pages: readonly ShownPage[]): void {
    this.saw(pages, { given: null, next: null })
  }

  /** Records what a write of the caller changed. `isBrief`: the answer does not show the written blocks. */
  wrote(delta: BodyDelta, isBrief = false): void {
    for (const change of delta) this.#wrote(change, isBrief)
  }

  #wrote(change: PageDelta, isBrief: boolean): void {
    const { kind, pageId, written, gone, outlines, isNew, isGone } = change
    if (kind !== 'prose') return
    if (isGone === true) return this.#forget(pageId)
    if (!this.#pages.has(pageId) && isNew !== true && written.length === 0) return
    const page = this.#page(pageId)
    const unseen = stillUnseen(change, (id) => page.byId.get(id), isBrief)
    const isTold = (block: ShownBlock) => !unseen.has(readShownBlock(block).id ?? '')
    for (const block of gone.filter(isTold)) this.#remove(page, block)
    for (const block of written.filter(isTold)) this.#add(page, block, true)
    if (isNew === true) page.isWhole = true
    if (outlines !== undefined) page.outline = (isNew === true ? outlines.after : outlineWritten(page.outline, outlines)) ?? []
    this.#bound(pageId)
  }

  #page(pageId: string): PageMemory {
    const page = this.#pages.get(pageId) ?? emptyPage()
    this.#pages.delete(pageId)
    this.#pages.set(pageId, page)
    return page
  }

  /** Adds a block. A block without id that equals a known one counts as another block if `isMore`, otherwise as the known one. */
  #add(page: PageMemory, block: ShownBlock, isMore: boolean): void {
    const { id } = readShownBlock(block)
    if (id !== null) {
      const old = page.byId.get(id)
      if (old === block) return
      if (old !== undefined) this.#take(page, old)
      page.byId.set(id, block)
    } else if (!isMore && page.blocks.has(block)) return
    page.blocks.set(block, (page.blocks.get(block) ?? 0) + 1)
    this.#count(1, block)
  }

  #remove(page: PageMemory, block: ShownBlock): void {
    const { id } = readShownBlock(block)
    const known = id === null ? block : page.byId.get(id)
    if (known === undefined) return
    if (id !== null) page.byId.delete(id)
    this.#take(page, known)
  }

  #take(page: PageMemory, block: ShownBlock): void {
    const count = page.blocks.get(block)
    if (count === undefined) return
    if (count === 1) page.blocks.delete(block)
    else page.blocks.set(block, count - 1)
    this.#count(-1, block)
  }

  #count(by: 1 | -1, block: ShownBlock): void {
    this.#blocks += by
    this.#bytes += by * (BLOCK_BYTES + 2 * block.length)
  }

  #empty(page: PageMemory): void {
    for (const [block, count] of page.blocks) for (let i = 0; i < count; i++) this.#count(-1, block)
    page.blocks.clear()
    page.byId.clear()
    page.isWhole = false
    page.isBegun = false
    page.outline = []
    page.listed = 0
  }

  #forget(pageId: string): void {
    const page = this.#pages.get(pageId)
    if (page !== undefined) this.#empty(page)
    this.#pages.delete(pageId)
  }

  /** Enforces MOST_BLOCKS: forgets the least recently used pages, then the earliest blocks of the page `newest`. */
  #bound(newest: string): void {
    for (const pageId of [...this.#pages.keys()]) if (this.#blocks > MOST_BLOCKS && pageId !== newest) this.#forget(pageId)
    const page = this.#pages.get(newest)
    if (page === undefined || this.#blocks <= MOST_BLOCKS) return
    page.isWhole = false
    page.isBegun = false
    for (const block of [...page.blocks.keys()]) {
      if (this.#blocks <= MOST_BLOCKS) break
      this.#remove(page, block)
    }
  }
}
