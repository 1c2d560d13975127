import * as Y from 'yjs'
import { type CharId, nameOf } from './block-text.ts'

/** What an update brings: letters in a row, or one other item. */
export interface Arrival extends CharId {
  /** How many arrivals come before it in its update. */
  readonly at: number
  readonly length: number
  readonly origin: CharId | null
  readonly rightOrigin: CharId | null
  readonly parent: Y.Item['parent']
  /** Empty for what is no text, as a change of formatting. */
  readonly text: string
  /** Its text was thrown away by the sender, after it was deleted. */
  readonly isGone: boolean
  /** The node that it brings. */
  readonly type: Y.AbstractType<unknown> | null
  /** The attribute that it gives a value, where the update names it; see `AttributeNames`. */
  readonly attribute: Attribute | null
  /** The value that it brings, as of an attribute; `undefined` for one that the sender has thrown away, and for text. */
  readonly value: unknown
}

/** An attribute of a node. */
export interface Attribute {
  readonly node: CharId
  readonly name: string
}

/**
 * Attributes by the items that gave them values. An item that replaces the value of another one names only that one, so this is where the name
 * of its attribute is known.
 */
export class AttributeNames {
  private readonly byLast = new Map<string, Attribute>()

  /** Notes the attribute of an item; the next item of it names the last clock of this one. */
  note({ client, clock, length }: CharId & { readonly length: number }, attribute: Attribute): void {
    this.byLast.set(nameOf({ client, clock: clock + length - 1 }), attribute)
  }

  behind(origin: CharId | null): Attribute | null {
    return origin === null ? null : (this.byLast.get(nameOf(origin)) ?? null)
  }
}

type OpenArrival = Arrival & { length: number; text: string }

/** The deletions of an update: by client, runs of characters in the order of their clocks, which do not touch. */
export type DeletedRanges = Y.Transaction['deleteSet']
type Ranges = readonly { readonly clock: number; readonly len: number }[]

/**
 * Reads an update. Letters of which each was typed behind the one before are one arrival, although an update may bring each of them as an item of
 * its own: what follows costs time for each arrival.
 */
export function readArrivals(update: Uint8Array): { readonly arrivals: readonly Arrival[]; readonly deleted: DeletedRanges } {
  const { structs, ds } = Y.decodeUpdate(update)
  const arrivals: OpenArrival[] = []
  const names = new AttributeNames()
  for (const item of structs) {
    if (!(item instanceof Y.Item)) continue
    const { id, length, origin, rightOrigin, parent, content } = item
    const text = content instanceof Y.ContentString ? content.str : ''
    const last = arrivals.at(-1)
    if (last !== undefined && text !== '' && last.text !== '' && follows(id, origin, last)) {
      last.text += text
      last.length += length
    } else {
      const { client, clock } = id
      const attribute = attributeOf(item) ?? names.behind(origin)
      if (attribute !== null) names.note({ client, clock, length }, attribute)
      arrivals.push({
        ...{ at: arrivals.length, client, clock, length, origin, rightOrigin, parent, text, attribute },
        isGone: content instanceof Y.ContentDeleted && item.parentSub === null && attribute === null,
        type: attribute === null && content instanceof Y.ContentType ? content.type : null,
        value: text === '' ? content.getContent().at(-1) : undefined,
      })
    }
  }
  return { arrivals, deleted: Y.mergeDeleteSets([ds]) }
}

function attributeOf({ parent, parentSub }: Y.Item): Attribute | null {
  return parentSub !== null && parent instanceof Y.ID ? { node: parent, name: parentSub } : null
}

function follows({ client, clock }: CharId, origin: CharId | null, last: Arrival): boolean {
  return client === last.client && clock === last.clock + last.length && origin?.client === client && origin.clock === clock - 1
}

/** Some characters of a row, by their clocks. */
export interface Part {
  readonly from: number
  readonly to: number
  readonly isDeleted: boolean
}

/** The characters `from` to `to` of a client, cut where those begin and end that an update deletes. */
export function partsOf(from: number, to: number, ranges: Ranges = []): readonly Part[] {
  const parts: Part[] = []
  let at = from
  for (let i = Math.max(0, placeOf(ranges, from) - 1); at < to && i < ranges.length; i++) {
    const { clock, len } = ranges[i] as Ranges[number]
    const [start, end] = [Math.max(at, Math.min(clock, to)), Math.min(clock + len, to)]
    if (start > at) parts.push({ from: at, to: start, isDeleted: false })
    if (end > start) parts.push({ from: start, to: end, isDeleted: true })
    at = Math.max(start, end)
  }
  if (at < to) parts.push({ from: at, to, isDeleted: false })
  return parts
}

/** How many entries, which are in the order of clocks, begin at `clock` or before. */
export function placeOf(entries: readonly { readonly clock: number }[], clock: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((entries[middle] as { readonly clock: number }).clock <= clock) low = middle + 1
    else high = middle
  }
  return low
}
