import { equalLists } from '@docrelay/model/prose/equal'
import type { ProseElement } from '@docrelay/model/prose/node'
import { findNodeSpec, nodeSpec } from '@docrelay/model/prose/schema'
import { type TextChange, type TextSplice, visibleText } from '@docrelay/model/prose/text-splices'
import { cleanText } from '@docrelay/model/prose/values'
import * as Y from 'yjs'
import type { TextOp } from './prose-fragment-read.ts'

/**
 * Writes to a live text block only the words that an edit replaced, each in its place. All other text keeps its live items, including text
 * that people type meanwhile. [AG-48]
 *
 * Returns whether the block has the whole change now. Returns false when the live block differs from the block that was edited, or when the
 * change is more than text inside a text, such as a new line break. Then the caller compares the two versions and writes the rest.
 */
export function writeWords(
  element: Y.XmlElement,
  live: ProseElement,
  after: ProseElement,
  changes: readonly TextChange[],
): boolean {
  const id = after.attrs['id'] ?? null
  const change = changes.find(
    (known) => known.id === id && equalLists(known.from, live.content) && equalLists(known.to, after.content),
  )
  if (change === undefined || !isPlain(element, live)) return false
  const isCode = nodeSpec(after.type).content === 'code'
  return change.steps.every((splices) => (isCode || !splices.some(hasBreak)) && spliceTexts(element, splices))
}

function hasBreak({ insert }: TextSplice): boolean {
  return insert.includes('\n')
}

/** Whether each child is a known atom or a text that the model shows unchanged. Then offsets are the same in the model and the live block. */
function isPlain(element: Y.XmlElement, live: ProseElement): boolean {
  const text = visibleText(live)
  let count = 0
  for (const child of element.toArray()) {
    const shown = child instanceof Y.XmlText ? textOf(child) : isAtom(child) ? text[count] : null
    if (typeof shown !== 'string' || !text.startsWith(shown, count)) return false
    count += shown.length
  }
  return count === text.length
}

function isAtom(child: unknown): boolean {
  const spec = child instanceof Y.XmlElement ? findNodeSpec(child.nodeName) : undefined
  // A file reference without its file is shown as text.
  return spec?.group === 'inline' && (spec.type !== 'fileRef' || (child as Y.XmlElement).getAttribute('blobRef') !== undefined)
}

/** Returns the characters of a text; `null` when it has embedded values, or characters that the model does not show. */
function textOf(text: Y.XmlText): string | null {
  let whole = ''
  for (const { insert } of text.toDelta() as readonly TextOp[]) {
    if (typeof insert !== 'string') return null
    whole += insert
  }
  return cleanText(whole) === whole ? whole : null
}

/** Writes the splices of one step, text by text. Stops and returns false at a splice that is not inside one text. */
function spliceTexts(element: Y.XmlElement, splices: readonly TextSplice[]): boolean {
  let start = 0
  let next = 0
  for (const child of element.toArray()) {
    const length = child instanceof Y.XmlText ? child.length : 1
    const end = start + length
    const from = next
    while (child instanceof Y.XmlText && next < splices.length && isWithin(splices[next] as TextSplice, start, end)) next++
    if (child instanceof Y.XmlText && next > from) child.applyDelta(deltaOf(child, splices.slice(from, next), start))
    start = end
  }
  return next === splices.length
}

/** Whether a splice lies inside a text. A pure insertion belongs to the text with the character `like`, whose formatting it takes. */
function isWithin({ at, remove, like }: TextSplice, start: number, end: number): boolean {
  return remove > 0 ? at >= start && at + remove <= end : like >= start && like < end
}

type Delta = ({ retain: number } | { delete: number } | { insert: string; attributes: object })[]

/** Returns one delta for all splices, because looking up a place walks the text from its beginning. */
function deltaOf(text: Y.XmlText, splices: readonly TextSplice[], start: number): Delta {
  const attributesAt = attributeReader(text, start)
  const delta: Delta = []
  let done = start
  for (const { at, remove, insert, like } of splices) {
    if (at > done) delta.push({ retain: at - done })
    // The deletion comes before the insertion, so that the new text follows the deleted text.
    if (remove > 0) delta.push({ delete: remove })
    if (insert !== '') delta.push({ insert, attributes: attributesAt(like) })
    done = at + remove
  }
  return delta
}

/** Returns a function that reads the formatting of characters from left to right. */
function attributeReader(text: Y.XmlText, start: number): (place: number) => object {
  const ops = text.toDelta() as readonly (TextOp & { readonly insert: string })[]
  let end = start
  let next = 0
  let attributes: object = {}
  return (place) => {
    while (next < ops.length && end <= place) {
      const op = ops[next++] as (typeof ops)[number]
      attributes = op.attributes ?? {}
      end += op.insert.length
    }
    return attributes
  }
}
