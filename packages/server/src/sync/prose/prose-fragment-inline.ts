import { equalLists, equalMarks, equalNodes } from '@docrelay/model/prose/equal'
import { appendText } from '@docrelay/model/prose/marks'
import type { ProseMark, ProseNode } from '@docrelay/model/prose/node'

/** One character (a whole code point) or one atom of a text block. */
interface Piece {
  readonly text: string
  readonly marks: readonly ProseMark[]
  readonly atom?: ProseNode
}

/** A stretch of the first sequence that the second has other content for. Ends are exclusive. */
export interface Hunk {
  readonly aFrom: number
  readonly aTo: number
  readonly bFrom: number
  readonly bTo: number
}

/**
 * A text block's content after two changes of `before`: one made in the live page, one to `after`. Text that either side removed is
 * gone, text that either side added stays (once, when both added the same), and a change of marks lands on the text that is left. [LIFE-14]
 */
export function mergeInline(
  before: readonly ProseNode[],
  after: readonly ProseNode[],
  live: readonly ProseNode[],
): readonly ProseNode[] {
  if (equalLists(before, live)) return after
  if (equalLists(before, after)) return live
  const [base, ours, theirs] = [pieces(before), pieces(after), pieces(live)]
  const toOurs = align(base, ours)
  const toTheirs = align(base, theirs)
  const out: ProseNode[] = []
  let [o, t] = [0, 0]
  for (let i = 0; i <= base.length; i++) {
    const inOurs = i === base.length ? ours.length : (toOurs[i] as number)
    const inTheirs = i === base.length ? theirs.length : (toTheirs[i] as number)
    // What a side has before the next piece that it kept was added by it.
    const theirNew = inTheirs === -1 ? [] : theirs.slice(t, inTheirs)
    const ourNew = inOurs === -1 ? [] : ours.slice(o, inOurs)
    for (const piece of joinAdded(theirNew, ourNew)) emit(out, piece)
    t += theirNew.length
    o += ourNew.length
    if (i === base.length) break
    if (inOurs !== -1) o++
    if (inTheirs !== -1) t++
    if (inOurs === -1 || inTheirs === -1) continue
    const [was, our, their] = [base[i] as Piece, ours[inOurs] as Piece, theirs[inTheirs] as Piece]
    emit(out, equalMarks(was.marks, our.marks) ? their : our)
  }
  return out
}

/** What both sides added at one place; an addition that the other one begins or ends with is the same one, seen earlier. */
function joinAdded(theirs: readonly Piece[], ours: readonly Piece[]): readonly Piece[] {
  const [longer, shorter] = theirs.length >= ours.length ? [theirs, ours] : [ours, theirs]
  const from = longer.length - shorter.length
  const isPart = (at: number) => shorter.every((piece, i) => samePiece(piece, longer[at + i] as Piece))
  return isPart(0) || isPart(from) ? longer : [...theirs, ...ours]
}

function emit(out: ProseNode[], piece: Piece): void {
  if (piece.atom === undefined) appendText(out, piece.text, piece.marks)
  else out.push(piece.atom)
}

function pieces(nodes: readonly ProseNode[]): readonly Piece[] {
  const out: Piece[] = []
  for (const node of nodes) {
    if (node.type !== 'text') out.push({ text: '', marks: [], atom: node })
    else for (const character of node.text) out.push({ text: character, marks: node.marks })
  }
  return out
}

function align(a: readonly Piece[], b: readonly Piece[]): readonly number[] {
  const to: number[] = new Array<number>(a.length).fill(-1)
  let [i, j] = [0, 0]
  for (const hunk of [...diff(a, b, samePiece), { aFrom: a.length, aTo: a.length, bFrom: b.length, bTo: b.length }]) {
    while (i < hunk.aFrom) to[i++] = j++
    i = hunk.aTo
    j = hunk.bTo
  }
  return to
}

function samePiece(a: Piece, b: Piece): boolean {
  if (a.atom !== undefined || b.atom !== undefined)
    return a.atom !== undefined && b.atom !== undefined && equalNodes(a.atom, b.atom)
  return a.text === b.text
}

/** Up to this many comparisons the middle of two sequences is compared piece by piece; a larger one is one hunk. */
const maxComparisons = 1_000_000

/** The differences of two sequences: common ends kept, in between the longest common subsequence. */
export function diff<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean): readonly Hunk[] {
  let start = 0
  let [aEnd, bEnd] = [a.length, b.length]
  while (start < aEnd && start < bEnd && same(a[start] as T, b[start] as T)) start++
  while (aEnd > start && bEnd > start && same(a[aEnd - 1] as T, b[bEnd - 1] as T)) {
    aEnd--
    bEnd--
  }
  if (start === aEnd && start === bEnd) return []
  const whole: Hunk = { aFrom: start, aTo: aEnd, bFrom: start, bTo: bEnd }
  const [rows, columns] = [aEnd - start, bEnd - start]
  if (rows === 0 || columns === 0 || rows * columns > maxComparisons) return [whole]
  return middleHunks(a, b, same, whole)
}

function middleHunks<T>(
  a: readonly T[],
  b: readonly T[],
  same: (a: T, b: T) => boolean,
  { aFrom, aTo, bFrom, bTo }: Hunk,
): readonly Hunk[] {
  const width = bTo - bFrom + 1
  // lengths[i * width + j]: the longest common subsequence of a[aFrom + i…] and b[bFrom + j…].
  const lengths = new Uint32Array((aTo - aFrom + 1) * width)
  for (let i = aTo - aFrom - 1; i >= 0; i--) {
    for (let j = width - 2; j >= 0; j--) {
      const at = i * width + j
      lengths[at] = same(a[aFrom + i] as T, b[bFrom + j] as T)
        ? (lengths[at + width + 1] as number) + 1
        : Math.max(lengths[at + width] as number, lengths[at + 1] as number)
    }
  }
  const hunks: Hunk[] = []
  let [i, j] = [0, 0]
  let [hunkA, hunkB] = [0, 0]
  const close = () => {
    if (hunkA < i || hunkB < j) hunks.push({ aFrom: aFrom + hunkA, aTo: aFrom + i, bFrom: bFrom + hunkB, bTo: bFrom + j })
  }
  while (i < aTo - aFrom && j < width - 1) {
    if (same(a[aFrom + i] as T, b[bFrom + j] as T)) {
      close()
      hunkA = ++i
      hunkB = ++j
    } else if ((lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number)) i++
    else j++
  }
  i = aTo - aFrom
  j = width - 1
  close()
  return hunks
}

/** Hunks with those made one that fewer than `fewest` equal elements part: single letters that two sentences share are no common text. */
export function joinNear(hunks: readonly Hunk[], fewest: number): readonly Hunk[] {
  const out: Hunk[] = []
  for (const hunk of hunks) {
    const last = out.at(-1)
    if (last === undefined || hunk.aFrom - last.aTo >= fewest) out.push(hunk)
    else out[out.length - 1] = { aFrom: last.aFrom, aTo: hunk.aTo, bFrom: last.bFrom, bTo: hunk.bTo }
  }
  return out
}
