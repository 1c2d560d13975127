import * as Y from 'yjs'

/** The name of one character or item of a Y.Doc: its Y client and the clock of that client. */
export interface CharId {
  readonly client: number
  readonly clock: number
}

/** A type of a Y.Doc; `_item` is `null` for a root. */
export interface LiveType {
  readonly _item: Y.Item | null
}

/** Characters with consecutive clocks. `offset` is the place of the first one in its block, without counting deleted characters. */
export interface CharRun extends CharId {
  readonly length: number
  readonly offset: number
  readonly visible: boolean
}

/** One child of a text block: a text with its characters, or an atom such as a line break. Offsets count from the start of the block. */
export interface BlockChild {
  readonly id: CharId
  readonly type: LiveType
  readonly offset: number
  readonly end: number
  readonly runs: readonly CharRun[]
}

/** The text of a text block, and the names of its characters. */
export interface BlockText {
  readonly text: string
  readonly children: readonly BlockChild[]
}

/** Reads a text block; `visible` decides which items count, so that a block can be read as it was before a transaction. */
export function readBlockText(block: Y.XmlElement | Y.XmlText, visible: (item: Y.Item) => boolean): BlockText {
  let text = ''
  const children: BlockChild[] = []
  const read = (type: LiveType): void => {
    const offset = text.length
    const runs: CharRun[] = []
    if (type instanceof Y.XmlText)
      for (let item = type._start; item !== null; item = item.right) {
        const shown = item.content instanceof Y.ContentString && visible(item) ? item.content.str : ''
        const { client, clock } = item.id
        runs.push({ client, clock, length: item.length, offset: text.length, visible: shown !== '' })
        text += shown
      }
    children.push({ id: idOf(type), type, offset, end: text.length, runs })
  }
  if (block instanceof Y.XmlText) read(block)
  else
    for (let item = block._start; item !== null; item = item.right)
      if (item.content instanceof Y.ContentType && visible(item)) read(item.content.type)
  return { text, children }
}

/** Returns the name of a type that stands inside another type. Throws for a root. */
export function idOf(type: LiveType): CharId {
  if (type._item === null) throw new Error('a root has no id')
  return type._item.id
}

/** Returns a `CharId` as text, such as `7:42`, for use as a key. */
export function nameOf({ client, clock }: CharId): string {
  return `${client}:${clock}`
}

/** The lengths of the equal parts at the start and at the end of two texts. No character counts for both parts. */
export interface CommonEnds {
  readonly start: number
  readonly end: number
}

export function commonEnds(a: string, b: string): CommonEnds {
  const most = Math.min(a.length, b.length)
  let start = 0
  while (start < most && a[start] === b[start]) start++
  let end = 0
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return { start, end }
}

/** Returns where an offset of the old text lies in the new one. An offset inside or behind a replaced part maps to behind its replacement. */
export function mapOffset(offset: number, oldLength: number, newLength: number, { start, end }: CommonEnds): number {
  if (offset <= start) return offset
  return newLength - Math.min(end, oldLength - offset)
}
