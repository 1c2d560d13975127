import * as Y from 'yjs'
import { type CharId, nameOf } from './block-text.ts'

/** One insertion that an update brings: letters in a row, or one other item. */
export interface Arrival extends CharId {
  /** The number of arrivals before this arrival in its update. */
  readonly at: number
  readonly length: number
  readonly origin: CharId | null
  readonly rightOrigin: CharId | null
  readonly parent: Y.Item['parent']
  /** The letters; empty for an item that is not text, such as a change of formatting. */
  readonly text: string
  /** True when the sender has deleted and discarded the content, so that only its length is known. */
  readonly isGone: boolean
  /** The node that the arrival inserts; `null` for any other item. */
  readonly type: Y.AbstractType<unknown> | null
  /** The attribute whose value the arrival sets; `null` when the update does not tell the attribute (see `AttributeNames`). */
  readonly attribute: Attribute | null
  /** The inserted value, for example of an attribute; `undefined` for text and for a value that the sender has discarded. */
  readonly value: unknown
}

/** An attribute of a node. */
export interface Attribute {
  readonly node: CharId
  readonly name: string
}

/**
 * Finds the attribute of an item that replaces an earlier value. Such an item names only the item of the earlier value and not the
 * attribute, so this class remembers the attributes of earlier items.
 */
export class AttributeNames {
  private readonly byLast = new Map<string, Attribute>()

  /** Notes the attribute of an item under the last clock of the item. The next item of the same attribute has this clock as its origin. */
  note({ client, clock, length }: CharId & { readonly length: number }, attribute: Attribute): void {
    this.byLast.set(nameOf({ client, clock: clock + length - 1 }), attribute)
  }

  behind(origin: CharId | null): Attribute | null {
    return origin === null ? null : (this.byLast.get(nameOf(origin)) ?? null)
  }
}

type OpenArrival = Arrival & { length: number; text: string }

/** The deletions of an update: by client, ranges of clocks in ascending order with gaps between them. */
export type DeletedRanges = Y.Transaction['deleteSet']
type Ranges = readonly { readonly clock: number; readonly len: number }[]

/**
 * Reads an update. Letters that were typed one behind the other become one arrival, even if the update has an item for each letter. This
 * saves time, because every later step takes time for each arrival.
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

/** A part of a row of characters, from the clock `from` (inclusive) to the clock `to` (exclusive). */
export interface Part {
  readonly from: number
  readonly to: number
  readonly isDeleted: boolean
}

/** Splits the clocks `from` (inclusive) to `to` (exclusive) into parts that `ranges` delete and parts that they keep. */
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

/** Returns how many entries begin at `clock` or before. The entries must be in the order of their clocks. */
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
