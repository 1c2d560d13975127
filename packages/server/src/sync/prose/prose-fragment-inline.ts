import { equalLists, equalMarks } from '@docrelay/model/prose/equal'
import { appendText } from '@docrelay/model/prose/marks'
import type { ProseElement, ProseMark, ProseNode } from '@docrelay/model/prose/node'
import { diff } from './prose-fragment-hunks.ts'

/** One character (a whole code point) or one atom of a text block. */
interface Piece {
  /** Equal characters have the same number, and so have equal atoms. Marks do not count. */
  readonly number: number
  readonly text: string
  readonly marks: readonly ProseMark[]
  readonly atom?: ProseNode
}

/**
 * Merges two changes of a text block's content `before`: `after` and `live`. Text that either side removed is removed, and text that either
 * side added is kept (once, when both added the same). A change of marks applies to the text that remains. [LIFE-14]
 */
export function mergeInline(
  before: readonly ProseNode[],
  after: readonly ProseNode[],
  live: readonly ProseNode[],
): readonly ProseNode[] {
  // This comparison comes first, so that the result is `live` itself and the caller writes nothing. Writing an equal list would remove an
  // empty text node in which a person may be about to type. [CONC-8]
  if (equalLists(before, after)) return live
  if (equalLists(before, live)) return after
  const atoms = new Map<string, number>()
  const [base, ours, theirs] = [pieces(before, atoms), pieces(after, atoms), pieces(live, atoms)]
  const toOurs = align(base, ours)
  const toTheirs = align(base, theirs)
  const out: ProseNode[] = []
  let [o, t] = [0, 0]
  for (let i = 0; i <= base.length; i++) {
    const inOurs = i === base.length ? ours.length : (toOurs[i] as number)
    const inTheirs = i === base.length ? theirs.length : (toTheirs[i] as number)
    // A side has added the pieces that stand before its next kept piece.
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

/**
 * Joins the additions of both sides at one place. When one addition begins or ends with the other, it is the same addition at a later
 * moment, and only the longer one is kept.
 */
function joinAdded(theirs: readonly Piece[], ours: readonly Piece[]): readonly Piece[] {
  const [longer, shorter] = theirs.length >= ours.length ? [theirs, ours] : [ours, theirs]
  const from = longer.length - shorter.length
  const isPart = (at: number) => shorter.every((piece, i) => piece.number === longer[at + i]?.number)
  return isPart(0) || isPart(from) ? longer : [...theirs, ...ours]
}

function emit(out: ProseNode[], piece: Piece): void {
  if (piece.atom === undefined) appendText(out, piece.text, piece.marks)
  else out.push(piece.atom)
}

function pieces(nodes: readonly ProseNode[], atoms: Map<string, number>): readonly Piece[] {
  const out: Piece[] = []
  for (const node of nodes) {
    if (node.type !== 'text') out.push({ number: atomNumber(node, atoms), text: '', marks: [], atom: node })
    else
      for (const character of node.text)
        out.push({ number: character.codePointAt(0) as number, text: character, marks: node.marks })
  }
  return out
}

/** Returns the number of an atom, which is higher than the number of any character. The order of its attributes does not count. */
function atomNumber({ type, attrs, content }: ProseElement, atoms: Map<string, number>): number {
  const sorted = Object.entries(attrs).sort(([one], [other]) => (one < other ? -1 : 1))
  const key = JSON.stringify([type, sorted, content])
  const number = atoms.get(key) ?? 0x11_00_00 + atoms.size
  atoms.set(key, number)
  return number
}

/** In texts that differ everywhere, `diff` keeps rows of 32 characters that stand once in each text, and between them rows of 8 that do. */
const WINDOWS = [32, 8]

/** Returns for each piece of the first list its place in the second list, or -1. */
function align(a: readonly Piece[], b: readonly Piece[]): readonly number[] {
  const to: number[] = new Array<number>(a.length).fill(-1)
  let [i, j] = [0, 0]
  const hunks = diff(numbersOf(a), numbersOf(b), WINDOWS)
  for (const hunk of [...hunks, { aFrom: a.length, aTo: a.length, bFrom: b.length, bTo: b.length }]) {
    while (i < hunk.aFrom) to[i++] = j++
    i = hunk.aTo
    j = hunk.bTo
  }
  return to
}

function numbersOf(list: readonly Piece[]): Int32Array {
  const numbers = new Int32Array(list.length)
  list.forEach(({ number }, at) => (numbers[at] = number))
  return numbers
}
