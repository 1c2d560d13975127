import { equalMarks, equalNodes } from '@docrelay/model/prose/equal'
import type { ProseElement, ProseMark, ProseNode, ProseText } from '@docrelay/model/prose/node'
import { findNodeSpec, nodeSpec } from '@docrelay/model/prose/schema'
import { cleanText } from '@docrelay/model/prose/values'
import * as Y from 'yjs'
import { diffText } from './prose-fragment-diff.ts'
import { markName, readAttrs, readMarks, type TextOp } from './prose-fragment-read.ts'
import { changeAttr, createElement, createText, formatting, segments, type Segment } from './prose-fragment-write.ts'

/** Writes `content` to a live text block. Equal children at both ends stay untouched, and so does unchanged text in between. */
export function writeInline(block: Y.XmlElement, content: readonly ProseNode[]): void {
  const wanted = segments(content)
  const children = block.toArray()
  let start = 0
  let [childEnd, wantedEnd] = [children.length, wanted.length]
  while (start < childEnd && start < wantedEnd && stands(children[start], wanted[start] as Segment)) start++
  while (childEnd > start && wantedEnd > start && stands(children[childEnd - 1], wanted[wantedEnd - 1] as Segment)) {
    childEnd--
    wantedEnd--
  }
  let at = start
  let [i, j] = [start, start]
  while (i < childEnd || j < wantedEnd) {
    const child = i < childEnd ? children[i] : undefined
    const segment = j < wantedEnd ? (wanted[j] as Segment) : undefined
    if (child !== undefined && segment !== undefined && change(child, segment)) {
      i++
      j++
      at++
    } else if (segment === undefined || (child !== undefined && childEnd - i >= wantedEnd - j)) {
      block.delete(at, 1)
      i++
    } else {
      block.insert(at++, [isRuns(segment) ? createText(segment) : createElement(segment)])
      j++
    }
  }
}

function isRuns(segment: Segment): segment is readonly ProseText[] {
  return Array.isArray(segment)
}

function stands(child: unknown, segment: Segment): boolean {
  if (isRuns(segment)) return child instanceof Y.XmlText && sameRuns(child.toDelta() as readonly TextOp[], segment)
  return child instanceof Y.XmlElement && child.nodeName === segment.type && equalNodes(readLiveAtom(child, segment), segment)
}

function readLiveAtom(child: Y.XmlElement, like: ProseElement): ProseElement {
  return { type: like.type, attrs: readAttrs(child, nodeSpec(like.type)), content: [] }
}

function sameRuns(delta: readonly TextOp[], runs: readonly ProseText[]): boolean {
  return (
    delta.length === runs.length &&
    delta.every((op, i) => op.insert === runs[i]?.text && equalMarks(readMarks(op.attributes), (runs[i] as ProseText).marks))
  )
}

/** Changes a live child in place. Returns false, and changes nothing, when the child is of another kind. */
function change(child: unknown, segment: Segment): boolean {
  if (isRuns(segment)) {
    if (!(child instanceof Y.XmlText)) return false
    writeText(child, segment)
    return true
  }
  if (!(child instanceof Y.XmlElement) || child.nodeName !== segment.type) return false
  for (const spec of findNodeSpec(segment.type)?.attrs ?? []) changeAttr(child, spec, segment.attrs[spec.name])
  return true
}

/** One code point of a live text, or an embedded value, whose `text` is empty because the model has no such values in text. */
interface LivePiece {
  readonly text: string
  readonly length: number
  readonly marks: readonly ProseMark[]
  readonly attributes: NonNullable<TextOp['attributes']>
}

type TextChange =
  | { readonly retain: number; readonly attributes?: { readonly [key: string]: unknown } }
  | { readonly delete: number }
  | { readonly insert: string; readonly attributes: { readonly [key: string]: unknown } }

/** Writes `runs` to a live text: replaces the words that differ, then changes the marks that differ. */
function writeText(text: Y.XmlText, runs: readonly ProseText[]): void {
  const live = livePieces(text)
  const wanted = runs.flatMap((run) => Array.from(run.text, (character) => ({ text: character, marks: run.marks })))
  const offsets = [0]
  for (const piece of live) offsets.push((offsets.at(-1) as number) + piece.length)
  const delta: TextChange[] = []
  let end = 0
  for (const hunk of diffText(live, wanted)) {
    const [from, to] = [offsets[hunk.aFrom] as number, offsets[hunk.aTo] as number]
    const neighbours = [live[hunk.aFrom - 1], live[hunk.aTo], live[hunk.aFrom]]
    if (from > end) delta.push({ retain: from - end })
    // The deletion comes before the insertion, so that the new text follows the deleted text. Then text that is rewritten repeatedly
    // leaves only one deleted range behind.
    if (to > from) delta.push({ delete: to - from })
    for (const run of mergedRuns(wanted.slice(hunk.bFrom, hunk.bTo))) {
      const alike = neighbours.find((piece) => piece !== undefined && equalMarks(piece.marks, run.marks))
      delta.push({ insert: run.text, attributes: alike?.attributes ?? formatting(run.marks) })
    }
    end = to
  }
  // One delta for the whole text, because looking up a position walks the text from its beginning.
  if (delta.length > 0) text.applyDelta(delta)
  writeMarks(text, runs)
}

function mergedRuns(
  list: readonly { text: string; marks: readonly ProseMark[] }[],
): { text: string; marks: readonly ProseMark[] }[] {
  const out: { text: string; marks: readonly ProseMark[] }[] = []
  for (const piece of list) {
    const last = out.at(-1)
    if (last !== undefined && equalMarks(last.marks, piece.marks))
      out[out.length - 1] = { text: last.text + piece.text, marks: last.marks }
    else out.push({ text: piece.text, marks: piece.marks })
  }
  return out
}

function livePieces(text: Y.XmlText): readonly LivePiece[] {
  const out: LivePiece[] = []
  for (const op of text.toDelta() as readonly TextOp[]) {
    const attributes = op.attributes ?? {}
    const marks = readMarks(op.attributes)
    if (typeof op.insert !== 'string') {
      out.push({ text: '', length: 1, marks, attributes })
      continue
    }
    const isClean = cleanText(op.insert) === op.insert
    for (const letter of op.insert)
      out.push({ text: isClean ? letter : cleanText(letter), length: letter.length, marks, attributes })
  }
  return out
}

/** Formats the parts of a text whose marks differ. The text of `runs` equals the live text. */
function writeMarks(text: Y.XmlText, runs: readonly ProseText[]): void {
  const delta: TextChange[] = []
  let differs = false
  let r = 0
  let used = 0
  for (const op of text.toDelta() as readonly TextOp[]) {
    let left = typeof op.insert === 'string' ? op.insert.length : 1
    while (left > 0 && r < runs.length) {
      const run = runs[r] as ProseText
      const length = Math.min(left, run.text.length - used)
      const attributes = formattingChange(op.attributes ?? {}, run.marks)
      differs ||= attributes !== undefined
      delta.push(attributes === undefined ? { retain: length } : { retain: length, attributes })
      left -= length
      used += length
      if (used === run.text.length) {
        r++
        used = 0
      }
    }
  }
  if (differs) text.applyDelta(delta)
}

function formattingChange(
  stands: NonNullable<TextOp['attributes']>,
  marks: readonly ProseMark[],
): { [key: string]: unknown } | undefined {
  const now = readMarks(stands)
  if (equalMarks(now, marks)) return undefined
  const change: { [key: string]: unknown } = {}
  const same = (mark: ProseMark) => now.some((other) => other.type === mark.type && equalMarks([other], [mark]))
  for (const key of Object.keys(stands)) {
    const mark = now.find((other) => other.type === markName(key))
    if (mark !== undefined && !marks.some((other) => equalMarks([other], [mark]))) change[key] = null
  }
  for (const mark of marks) if (!same(mark)) change[mark.type] = formatting([mark])[mark.type]
  return change
}
