import * as Y from 'yjs'

/** The name of one character, or of one item, of a Y.Doc: its client and the client's clock. */
export interface CharId {
  readonly client: number
  readonly clock: number
}

/** A type of a Y.Doc; `_item` is `null` for a root. */
export interface LiveType {
  readonly _item: Y.Item | null
}

/** Characters with names that follow each other. `offset` is where the first stands in its block; tombstones take no room. */
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

/** What a text block says, and the names of its characters. */
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

/** The name of a type that stands in another one. */
export function idOf(type: LiveType): CharId {
  if (type._item === null) throw new Error('a root has no id')
  return type._item.id
}

/** One text for each name of a character. */
export function nameOf({ client, clock }: CharId): string {
  return `${client}:${clock}`
}

/** How much of two texts is equal at both ends, without counting a character twice. */
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

/** Where an offset of the old text lies in the new one. Behind something that was replaced is behind what replaced it. */
export function mapOffset(offset: number, oldLength: number, newLength: number, { start, end }: CommonEnds): number {
  if (offset <= start) return offset
  return newLength - Math.min(end, oldLength - offset)
}
