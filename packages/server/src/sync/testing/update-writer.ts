import * as Y from 'yjs'
import { dice } from '../../kernel/testing/dice.ts'

/** Writes bytes of an update v1 by hand, valid or not. */
export class UpdateWriter {
  private readonly out: number[] = []

  bytes(): Uint8Array {
    return Uint8Array.from(this.out)
  }

  raw(bytes: readonly number[]): this {
    for (const byte of bytes) this.out.push(byte)
    return this
  }

  uint(value: number): this {
    let rest = value
    while (rest >= 128) {
      this.out.push((rest % 128) | 128)
      rest = Math.floor(rest / 128)
    }
    this.out.push(rest)
    return this
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(value)
    return this.uint(bytes.length).raw([...bytes])
  }

  blocks(count: number): this {
    return this.uint(count)
  }

  rawBlock(client: number, clock: number, count: number, struct: (writer: this, i: number) => void): this {
    this.uint(count).uint(client).uint(clock)
    for (let i = 0; i < count; i++) struct(this, i)
    return this
  }

  /** Writes the only block of an update. */
  block(client: number, clock: number, count: number, struct: (writer: this, i: number) => void): this {
    return this.blocks(1).rawBlock(client, clock, count, struct)
  }

  /** Ends the update with the delete set of one client: client, clock, length. */
  deletes(ranges: readonly (readonly [number, number, number])[]): Uint8Array {
    const [first] = ranges
    if (first === undefined) return this.uint(0).bytes()
    this.uint(1).uint(first[0]).uint(ranges.length)
    for (const [, clock, length] of ranges) this.uint(clock).uint(length)
    return this.bytes()
  }

  gc(length: number): this {
    return this.raw([0]).uint(length)
  }

  private inRoot(kind: number, root: string): this {
    return this.raw([kind]).uint(1).text(root)
  }

  string(root: string, value: string): this {
    return this.inRoot(4, root).text(value)
  }

  rawString(root: string, bytes: readonly number[]): this {
    return this.inRoot(4, root).uint(bytes.length).raw(bytes)
  }

  stringAfter(client: number, clock: number, value: string): this {
    return this.raw([0x84]).uint(client).uint(clock).text(value)
  }

  json(root: string, value: string): this {
    return this.inRoot(5, root).text(value)
  }

  jsonContent(root: string, value: string): this {
    return this.inRoot(2, root).uint(1).text(value)
  }

  format(root: string, key: string, value: string): this {
    return this.inRoot(6, root).text(key).text(value)
  }

  type(root: string): this {
    return this.inRoot(7, root).uint(0)
  }

  typeIn(client: number, clock: number): this {
    return this.raw([7]).uint(0).uint(client).uint(clock).uint(0)
  }

  subdocument(root: string): this {
    return this.inRoot(9, root).text('guid').raw([118, 0])
  }

  anyObject(root: string, key: string): this {
    return this.inRoot(8, root).uint(1).raw([118, 1]).text(key).raw([126])
  }

  anyArrays(root: string, depth: number): this {
    this.inRoot(8, root).uint(1)
    for (let i = 1; i < depth; i++) this.raw([117, 1])
    return this.raw([117, 0])
  }

  /** Writes a map entry whose value is null. */
  entry(root: string, key: string): this {
    return this.raw([0x28]).uint(1).text(root).text(key).uint(1).raw([126])
  }
}

/** Returns an update with one struct, whose JSON value has `depth` nested arrays. */
export function nested(kind: 'any' | 'embed' | 'json' | 'format', depth: number): Uint8Array {
  const text = '['.repeat(depth) + ']'.repeat(depth)
  const writer = new UpdateWriter()
  return writer
    .block(9, 0, 1, (w) => {
      if (kind === 'any') w.anyArrays('any', depth)
      else if (kind === 'embed') w.json('any', text)
      else if (kind === 'json') w.jsonContent('any', text)
      else w.format('any', 'bold', text)
    })
    .deletes([])
}

/** Returns an update of items without origin. Each has an item in the middle as its right origin, so the cost to integrate them is quadratic. */
export function quadratic(count: number, from = 0): Uint8Array {
  return new UpdateWriter()
    .block(50, from, count, (w, i) => {
      const at = from + i
      if (at === 0) w.string('any', 'x')
      else
        w.raw([0x44])
          .uint(50)
          .uint(Math.floor(at / 2))
          .text('x')
    })
    .deletes([])
}

interface HonestHistory {
  readonly updates: readonly Uint8Array[]
  readonly state: Uint8Array
}

/** Histories are kept, because laws use the few hundred histories of their seeds thousands of times. */
const honestHistories = new Map<string, HonestHistory>()

/**
 * Returns the edits of three editors of one document, which depend on the seed. The updates are in an order in which each can be applied.
 * `state` is the state at the end.
 */
export function honestHistory(seed: number, edits: number): HonestHistory {
  const key = `${seed} ${edits}`
  const made = honestHistories.get(key) ?? makeHistory(seed, edits)
  honestHistories.set(key, made)
  return made
}

function makeHistory(seed: number, edits: number): HonestHistory {
  const random = dice(seed)
  const updates: Uint8Array[] = []
  const docs = [11, 12, 13].map((id) => {
    const doc = new Y.Doc()
    doc.clientID = seed * 100 + id
    doc.on('update', (update: Uint8Array, origin: unknown) => origin !== 'remote' && updates.push(update))
    return doc
  })
  const share = (): void => {
    for (const from of docs)
      for (const to of docs) if (from !== to) Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)), 'remote')
  }
  for (let i = 0; i < edits; i++) {
    editOnce(docs[random(3)] as Y.Doc, random)
    if (random(3) === 0) share()
  }
  share()
  return { updates, state: Y.encodeStateAsUpdate(docs[0] as Y.Doc) }
}

function editOnce(doc: Y.Doc, random: (below: number) => number): void {
  const fragment = doc.getXmlFragment('prose:p1')
  const text = [...fragment.createTreeWalker((node) => node instanceof Y.XmlText)][random(4)] as Y.XmlText | undefined
  switch (random(8)) {
    case 0: {
      const paragraph = new Y.XmlElement('paragraph')
      paragraph.insert(0, [new Y.XmlText('hello wörld 😀')])
      fragment.insert(random(fragment.length + 1), [paragraph])
      return
    }
    case 1:
      doc.getMap('shapes:c1').set(`s${random(5)}`, { id: 's', x: random(1000) / 7, tags: ['a', null, true], nested: { y: 1 } })
      return
    case 2:
      doc.getArray('shapeOrder:c1').insert(0, [`s${random(5)}`, `s${random(5)}`])
      return
    case 3:
      if (fragment.length > 2) fragment.delete(random(fragment.length), 1)
      return
    case 4:
      if (text !== undefined && text.length > 2) text.format(0, 2, { bold: random(2) === 0 ? {} : null })
      return
    case 5:
      if (text !== undefined && text.length > 2) text.delete(random(text.length - 1), 1)
      return
    default:
      text?.insert(random(text.length + 1), 'abc'.slice(random(3)))
  }
}
