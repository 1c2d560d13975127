import * as Y from 'yjs'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import type { Arrival } from './arrivals.ts'
import { type CharId, nameOf, readBlockText } from './block-text.ts'
import { typeAt } from './live-places.ts'
import { isThere } from './removal.ts'
import type { DeletedRun, RemovedBlock } from './removed-blocks.ts'

/*
 * At Enter, an editor deletes one half of a block and writes this half into a new block, in one update. When the relay has replaced the old
 * block meanwhile, the successor of the old block has the whole text, and the half would stand twice on the page. [AG-110]
 */

/** Letters of a new block that came from a removed block, and their offset in the removed block. */
export interface MovedLetters {
  readonly length: number
  readonly offset: number
}

/** Letters that a client deleted from a removed block, and the new blocks of the same update, which may contain the letters now. */
export interface MovedHalf {
  readonly deleted: readonly DeletedRun[]
  readonly made: readonly CharId[]
}

/** Stands for a letter that the sender has discarded. This is a private-use character of Unicode, which no text has. */
const UNKNOWN = '\uf8ff'

/** The largest number of steps of one `Search`. So many steps take a fraction of a second, and people never write so much at once. */
const MOST_LOOKS = 1_000_000
/** Reading this many letters or deletions counts as one step, like reading one arrival or block. */
const LETTERS_IN_LOOK = 10

/** The budget of a search for moved halves. When the budget is used up, no more halves are found, and their text stands twice on the page. */
export class Search {
  private left = MOST_LOOKS

  /** Takes steps for `count` arrivals or blocks and for `letters`. Returns false when the budget is used up. */
  take(count: number, letters = 0): boolean {
    this.left -= count + letters / LETTERS_IN_LOOK
    return this.left > 0
  }
}

/**
 * Finds the half of a removed block with which the content of a new block begins. Words that the client typed into the new block later come
 * after the half in the update. Returns the letters of the half, by `nameOf` of the arrivals that insert them.
 *
 * @param deleted the letters of the old block that the update deletes
 */
export function movedLetters(
  content: readonly Arrival[],
  old: RemovedBlock,
  deleted: readonly DeletedRun[],
  search: Search,
): ReadonlyMap<string, MovedLetters> {
  const found = new Map<string, MovedLetters>()
  // The half is not longer than the old block, so it is enough to read one letter more than the old block has.
  const most = old.length + 1
  let text = ''
  for (const arrival of content) {
    if (text.length >= most) break
    text += arrival.isGone ? UNKNOWN.repeat(Math.min(arrival.length, most - text.length)) : arrival.text
  }
  if (!search.take(1, text.length + deleted.length)) return found
  const length = lengthOfHalf(text, old, deleted)
  let done = 0
  for (const arrival of content) {
    const count = Math.min(arrival.isGone ? arrival.length : arrival.text.length, length - done)
    if (count <= 0) continue
    if (arrival.text !== '') found.set(nameOf(arrival), { length: count, offset: old.length - length + done })
    done += count
  }
  return found
}

function lengthOfHalf(text: string, old: RemovedBlock, deleted: readonly DeletedRun[]): number {
  const end = old.length - startOfDeletedEnd(old, deleted)
  if (end > 0 && text.length >= end && isEndOf(old, text.slice(0, end))) return end
  const count = deleted.reduce((sum, run) => sum + run.length, 0)
  return text !== '' && text.length <= Math.min(count, old.length) && isEndOf(old, text) ? text.length : 0
}

/** Returns the offset from which all letters to the end of the block are deleted; the length of the block when its end is not deleted. */
function startOfDeletedEnd({ length }: RemovedBlock, deleted: readonly DeletedRun[]): number {
  let start = length
  for (const run of deleted.toReversed()) if (run.offset + run.length >= start) start = Math.min(start, run.offset)
  return start
}

/** Whether a block ends with `text`. Only the last 2,000 characters of a long block are known, so only these are compared. */
function isEndOf({ words }: RemovedBlock, text: string): boolean {
  const known = Math.min(words.length, text.length)
  if (known === 0) return false
  const [end, said] = [words.slice(words.length - known), text.slice(text.length - known)]
  return said.includes(UNKNOWN) ? [...said].every((letter, i) => letter === UNKNOWN || letter === end[i]) : said === end
}

/** Returns the arrivals of an update inside a new block, in the order in which its writer made them. */
export function contentOf(arrivals: readonly Arrival[], root: Arrival, search: Search): readonly Arrival[] {
  const { client, clock } = root
  const inside = new Set([nameOf(root)])
  const found: Arrival[] = []
  for (let i = root.at + 1; i < arrivals.length && search.take(1); i++) {
    const arrival = arrivals[i] as Arrival
    const { type, parent, origin } = arrival
    if (arrival.client !== client) break
    // The origin tells where an arrival stands: behind the block itself means beside the block, behind a later item of the same client means
    // inside the block.
    const isInside =
      origin === null ? parent instanceof Y.ID && inside.has(nameOf(parent)) : origin.client === client && origin.clock > clock
    if (!isInside && type !== null && isBlock(type)) break
    if (!isInside) continue
    if (type !== null) inside.add(nameOf(arrival))
    found.push(arrival)
  }
  return found
}

export function isBlock(type: Y.AbstractType<unknown>): boolean {
  return type instanceof Y.XmlElement && findNodeSpec(type.nodeName)?.group !== 'inline'
}

/** Groups deleted letters into rows of letters that follow each other in their block. */
export function inRows(deleted: readonly DeletedRun[]): readonly (readonly DeletedRun[])[] {
  const rows: DeletedRun[][] = []
  let end = -1
  for (const run of deleted) {
    if (run.offset === end) (rows.at(-1) as DeletedRun[]).push(run)
    else rows.push([run])
    end = run.offset + run.length
  }
  return rows
}

/** Caches the texts of new blocks during one `place`, because many halves may be searched in the same blocks. */
export class MadeTexts {
  private readonly doc: Y.Doc
  private readonly texts = new Map<MovedHalf['made'], readonly string[]>()
  private readonly search = new Search()

  constructor(doc: Y.Doc) {
    this.doc = doc
  }

  /** Whether one of the blocks contains these letters in their order, possibly with others between them. */
  hold(made: MovedHalf['made'], letters: string): boolean {
    return this.search.take(0) && this.textsOf(made).some((text) => this.search.take(1, text.length) && holds(text, letters))
  }

  private textsOf(made: MovedHalf['made']): readonly string[] {
    let texts = this.texts.get(made)
    if (texts === undefined) {
      texts = made.flatMap((id) => {
        const element = typeAt(this.doc, id)
        return element instanceof Y.XmlElement ? readBlockText(element, isThere).text : []
      })
      this.texts.set(made, texts)
    }
    return texts
  }
}

function holds(text: string, letters: string): boolean {
  let at = 0
  for (let i = 0; i < text.length && at < letters.length; i++) if (text[i] === letters[at]) at++
  return at === letters.length
}
