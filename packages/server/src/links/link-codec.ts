import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import type { NodeMessage } from '../sync/node-links.port.ts'
import { LinkFrameError } from './link-frame-error.ts'
import { fits, type MemberType, readMember, type Shape, shapeOf, writeMembers } from './link-shapes.ts'

/**
 * Messages between nodes as bytes. A batch is a sequence of entries, each of which begins with a number:
 *
 *     0       the definition of a shape, which gets the next free number; the first is 2
 *     1       a message as text: its JSON, and separately the byte strings of the message
 *     2, 3, … a message of that shape: only the values of its members
 *
 * The frequent messages are flat (numbers, byte strings and lists of them), so they have a shape, and are sent without JSON and
 * without the names of their members. Shapes are found from the messages themselves, so new kinds and new members need no change
 * in this file. The number of a shape is valid only within its batch.
 */
const SHAPE = 0
const TEXT = 1
const FIRST_SHAPE = 2

/** A batch holds at most this many messages, so that a short batch cannot become many objects in memory. */
export const MAX_BATCH_MESSAGES = 16_384
const MAX_BATCH_SHAPES = 256
/** The maximum size of one message in bytes. */
export const MAX_MESSAGE_BYTES = 100 * 1024 * 1024
/** The maximum size of the JSON of one message in bytes, without its byte strings. Parsed JSON takes many times as much memory. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024
/** A message has at most this many levels of nesting. Only a message that contains itself by mistake has more. */
const MAX_DEPTH = 200
/** A writer remembers at most this many shapes for one kind of message. Messages of that kind with another shape are written as text. */
const SHAPES_OF_KIND = 8
const REMEMBERED_KINDS = 256

const FIRST_BYTES = 4 * 1024
/** A buffer that has grown larger than this is not reused for the next batch. */
const KEPT_BYTES = 512 * 1024

/** A message above the limits of a link: 100 MiB of byte strings and numbers, or 32 MiB of JSON. */
export class MessageTooLongError extends Error {
  override readonly name = 'MessageTooLongError'
}

/** Gathers messages in one batch. `add` copies a message at once. */
export class BatchWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #at = 0
  #count = 0
  readonly #shapes = new Map<string, Shape[]>()
  /** The shapes that this batch has defined. */
  #defined: Shape[] = []

  get bytes(): number {
    return this.#at
  }

  get count(): number {
    return this.#count
  }

  /**
   * Adds a message. Throws `TypeError` for a value that is not a plain value, which is a bug of the caller, and
   * `MessageTooLongError`; the message is not added then.
   */
  add(message: NodeMessage): void {
    if (typeof message.kind !== 'string') throw new TypeError('a message has no kind')
    const shape = this.#shapeFor(message)
    if (shape === null) this.#addText(message)
    else {
      const most = shape.mostBytes(message)
      if (most > MAX_MESSAGE_BYTES) throw new MessageTooLongError()
      if (shape.number === 0) this.#define(shape)
      this.#uint(shape.number)
      const bytes = this.#reserve(most)
      this.#at = writeMembers(bytes, this.#at, shape, message)
    }
    this.#count++
  }

  /**
   * Ends the batch and returns its bytes. When `isGivenAway` is true the caller owns the bytes; else the next message
   * overwrites them.
   */
  take(): { readonly bytes: Uint8Array; readonly isGivenAway: boolean } {
    const bytes = new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset, this.#at)
    const isGivenAway = this.#buffer.length > KEPT_BYTES
    if (isGivenAway) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.#at = 0
    this.#count = 0
    for (const shape of this.#defined) shape.number = 0
    this.#defined = []
    return { bytes, isGivenAway }
  }

  #shapeFor(message: NodeMessage): Shape | null {
    const known = this.#shapes.get(message.kind)
    if (known !== undefined) for (const shape of known) if (fits(shape, message)) return this.#usable(shape)
    if (known === undefined ? this.#shapes.size >= REMEMBERED_KINDS : known.length >= SHAPES_OF_KIND) return null
    const shape = shapeOf(message)
    if (shape === null) return null
    if (known === undefined) this.#shapes.set(message.kind, [shape])
    else known.push(shape)
    return this.#usable(shape)
  }

  #usable(shape: Shape): Shape | null {
    return shape.number !== 0 || this.#defined.length < MAX_BATCH_SHAPES ? shape : null
  }

  #define(shape: Shape): void {
    this.#uint(SHAPE)
    this.#text(shape.kind)
    this.#uint(shape.members.length)
    for (const [name, type] of shape.members) {
      this.#uint(type)
      this.#text(name)
    }
    shape.number = FIRST_SHAPE + this.#defined.length
    this.#defined.push(shape)
  }

  #addText(message: NodeMessage): void {
    const found: Found[] = []
    const rest = withoutBytes(message, [], found)
    const paths = found.length === 0 ? '' : `,${JSON.stringify(found.map(({ path }) => path))}`
    const text = `[${JSON.stringify(rest)}${paths}]`
    const most = found.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (most > MAX_MESSAGE_BYTES || Buffer.byteLength(text) > MAX_TEXT_BYTES) throw new MessageTooLongError()
    this.#uint(TEXT)
    this.#text(text)
    this.#uint(found.length)
    for (const { bytes } of found) {
      this.#uint(bytes.length)
      this.#reserve(bytes.length).set(bytes, this.#at)
      this.#at += bytes.length
    }
  }

  #uint(value: number): void {
    this.#at = writeVarUint(this.#reserve(varUintLength(value)), this.#at, value)
  }

  #text(text: string): void {
    const length = Buffer.byteLength(text)
    this.#uint(length)
    this.#reserve(length).write(text, this.#at, length, 'utf8')
    this.#at += length
  }

  #reserve(more: number): Buffer {
    const needed = this.#at + more
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, needed))
      this.#buffer.copy(grown, 0, 0, this.#at)
      this.#buffer = grown
    }
    return this.#buffer
  }
}

/**
 * Returns the messages of a batch, in order. Byte strings are views of `bytes`. Throws `LinkFrameError`, and nothing else,
 * when the batch is not well formed; until then it allocates at most a small multiple of the size of the batch.
 */
export function readBatch(bytes: Uint8Array): NodeMessage[] {
  const reader = new Reader(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))
  const messages: NodeMessage[] = []
  const shapes: ReadShape[] = []
  while (reader.remaining > 0) {
    const entry = reader.varUint()
    if (entry === SHAPE) {
      if (shapes.length >= MAX_BATCH_SHAPES) throw new LinkFrameError('too many shapes')
      shapes.push(readShape(reader))
      continue
    }
    if (messages.length >= MAX_BATCH_MESSAGES) throw new LinkFrameError('too many messages')
    messages.push(entry === TEXT ? readText(reader) : readShaped(reader, shapes[entry - FIRST_SHAPE]))
  }
  if (reader.failed) throw new LinkFrameError('cut off')
  return messages
}

interface ReadShape {
  readonly kind: string
  readonly members: readonly (readonly [name: string, type: MemberType])[]
}

const MAX_MEMBERS = 32

function readShape(reader: Reader): ReadShape {
  const kind = textOf(reader.varBytes())
  const count = reader.varUint()
  if (count === 0 || count > MAX_MEMBERS) throw new LinkFrameError('a shape has no members, or too many')
  const members: (readonly [string, MemberType])[] = []
  for (let i = 0; i < count; i++) {
    const type = reader.varUint()
    const name = textOf(reader.varBytes())
    // An assignment to `__proto__` would change the prototype of the object.
    if (name === '__proto__' || type > 4) throw new LinkFrameError('a member of a shape is not valid')
    members.push([name, type as MemberType])
  }
  if (reader.failed) throw new LinkFrameError('a shape is cut off')
  return { kind, members }
}

function readShaped(reader: Reader, shape: ReadShape | undefined): NodeMessage {
  if (shape === undefined) throw new LinkFrameError('a message of an unknown shape')
  const message: { kind: string; [name: string]: unknown } = { kind: shape.kind }
  for (const [name, type] of shape.members) message[name] = readMember(reader, type)
  if (reader.failed) throw new LinkFrameError('a message is cut off')
  return message
}

function readText(reader: Reader): NodeMessage {
  const head = reader.varBytes()
  const count = reader.varUint()
  if (reader.failed || head.length > MAX_TEXT_BYTES || count > reader.remaining) throw new LinkFrameError('a message is cut off')
  const parsed = parse(head)
  if (!Array.isArray(parsed) || parsed.length !== (count === 0 ? 1 : 2)) throw new LinkFrameError('not a message')
  const [message, paths] = parsed as readonly unknown[]
  if (!isMessage(message)) throw new LinkFrameError('a message has no kind')
  if (count > 0) {
    if (!Array.isArray(paths) || paths.length !== count) throw new LinkFrameError('the places of the bytes are wrong')
    for (const path of paths as readonly unknown[]) putBytes(message, path, reader.varBytes())
  }
  if (reader.failed) throw new LinkFrameError('a message is cut off')
  return message
}

function isMessage(value: unknown): value is NodeMessage {
  return (
    typeof value === 'object' && value !== null && Object.hasOwn(value, 'kind') && typeof (value as NodeMessage).kind === 'string'
  )
}

/** Puts bytes back in the place where the sender replaced them with a 0. */
function putBytes(message: NodeMessage, path: unknown, bytes: Uint8Array): void {
  if (!Array.isArray(path) || path.length === 0) throw new LinkFrameError('the place of bytes is wrong')
  let at: unknown = message
  let holder: Record<string | number, unknown> | null = null
  let last: string | number = ''
  for (const step of path as readonly unknown[]) {
    if (typeof at !== 'object' || at === null || at instanceof Uint8Array || !isStep(step) || !Object.hasOwn(at, step))
      throw new LinkFrameError('the place of bytes is not there')
    holder = at as Record<string | number, unknown>
    last = step
    at = holder[step]
  }
  if (holder === null || at !== 0) throw new LinkFrameError('the place of bytes is taken')
  holder[last] = bytes
}

const isStep = (step: unknown): step is string | number => typeof step === 'string' || typeof step === 'number'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new LinkFrameError('a text is not UTF-8')
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes))
  } catch {
    throw new LinkFrameError('the text of a message is not JSON')
  }
}

interface Found {
  readonly path: readonly (string | number)[]
  readonly bytes: Uint8Array
}

/**
 * Returns the value with 0 in place of each byte string; parts without byte strings stay the same objects. `path` is the
 * place of the value in the message; the function changes `path` while it runs and restores it before it returns.
 */
function withoutBytes(value: unknown, path: (string | number)[], found: Found[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`a message cannot hold ${value}, at ${path.join('.')}`)
      return value
    case 'object':
      if (value === null) return value
      if (value instanceof Uint8Array) {
        found.push({ path: [...path], bytes: value })
        return 0
      }
      if (path.length > MAX_DEPTH) throw new TypeError('a message is nested too deep, or holds itself')
      return Array.isArray(value) ? itemsWithoutBytes(value, path, found) : membersWithoutBytes(value, path, found)
    default:
      throw new TypeError(`a message cannot hold a value of type ${typeof value}, at ${path.join('.')}`)
  }
}

function itemsWithoutBytes(items: readonly unknown[], path: (string | number)[], found: Found[]): readonly unknown[] {
  let copy: unknown[] | null = null
  // Iterates by index, so that a hole in the array is refused.
  for (let i = 0; i < items.length; i++) {
    path.push(i)
    const rest = withoutBytes(items[i], path, found)
    path.pop()
    if (rest === items[i]) continue
    copy ??= [...items]
    copy[i] = rest
  }
  return copy ?? items
}

function membersWithoutBytes(value: object, path: (string | number)[], found: Found[]): object {
  const inherited: unknown = Object.getPrototypeOf(value)
  if (inherited !== null && Object.getPrototypeOf(inherited) !== null)
    throw new TypeError(`a message can hold plain objects only, at ${path.join('.')}`)
  let copy: Map<string, unknown> | null = null
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    if (member === undefined) continue
    path.push(name)
    const rest = withoutBytes(member, path, found)
    path.pop()
    if (rest === member) continue
    copy ??= new Map<string, unknown>(Object.entries(value))
    copy.set(name, rest)
  }
  return copy === null ? value : Object.fromEntries(copy)
}
