import { type Reader, writeVarUint } from '@docrelay/protocol/bytes'
import type { NodeMessage } from '../sync/node-links.port.ts'
import { LinkFrameError } from './link-frame-error.ts'

/** Types of the members of a flat message. These numbers are sent over the link, so they must not change. */
const UINT = 0
const BYTES = 1
const BYTES_LIST = 2
const UINT_LIST = 3
const BOOLEAN = 4
export type MemberType = typeof UINT | typeof BYTES | typeof BYTES_LIST | typeof UINT_LIST | typeof BOOLEAN

/** Names and types of the members of a flat message, except `kind`. Members in another order make another shape. */
export interface Shape {
  readonly kind: string
  readonly members: readonly (readonly [name: string, type: MemberType])[]
  /** The most bytes that the members of the message can take. */
  mostBytes(message: NodeMessage): number
  /** The number of this shape in the batch that is being written; 0 while it has none. */
  number: number
}

type Members = Readonly<Record<string, unknown>>

const MOST_MEMBERS = 16
const LONGEST_NAME = 64
/** Bytes of the longest varUint. */
const UINT_BYTES = 8

/** Returns the shape of a message whose members all have one of the types above, or null. */
export function shapeOf(message: NodeMessage): Shape | null {
  const names = Object.keys(message).filter((name) => name !== 'kind')
  if (names.length === 0 || names.length > MOST_MEMBERS || !isShort(message.kind)) return null
  const members: (readonly [string, MemberType])[] = []
  for (const name of names) {
    const type = typeOf((message as unknown as Members)[name])
    if (type === null || name === '__proto__' || !isShort(name)) return null
    members.push([name, type])
  }
  return { kind: message.kind, members, mostBytes: (other) => mostBytes(members, other as unknown as Members), number: 0 }
}

/** Whether the message has exactly the members of the shape. */
export function fits(shape: Shape, message: NodeMessage): boolean {
  const members = message as unknown as Members
  for (const [name, type] of shape.members) if (!isOf(members[name], type)) return false
  return Object.keys(message).length === shape.members.length + 1
}

/** Writes the members in order and returns the position after the last one. */
export function writeMembers(target: Uint8Array, position: number, shape: Shape, message: NodeMessage): number {
  let at = position
  for (const [name, type] of shape.members) {
    const value = (message as unknown as Members)[name]
    switch (type) {
      case UINT:
        at = writeVarUint(target, at, value as number)
        break
      case BYTES:
        at = writeBytes(target, at, value as Uint8Array)
        break
      case BYTES_LIST: {
        const list = value as readonly Uint8Array[]
        at = writeVarUint(target, at, list.length)
        for (const bytes of list) at = writeBytes(target, at, bytes)
        break
      }
      case UINT_LIST: {
        const list = value as readonly number[]
        at = writeVarUint(target, at, list.length)
        for (const item of list) at = writeVarUint(target, at, item)
        break
      }
      case BOOLEAN:
        target[at++] = value === true ? 1 : 0
    }
  }
  return at
}

/** Reads one member. The caller checks `reader.failed` before it uses the value. Throws `LinkFrameError`. */
export function readMember(reader: Reader, type: MemberType): unknown {
  switch (type) {
    case UINT:
      return reader.varUint()
    case BYTES:
      return reader.varBytes()
    case BYTES_LIST: {
      const list: Uint8Array[] = []
      for (let left = reader.varUint(); left > 0 && !reader.failed; left--) list.push(reader.varBytes())
      return list
    }
    case UINT_LIST: {
      const list: number[] = []
      for (let left = reader.varUint(); left > 0 && !reader.failed; left--) list.push(reader.varUint())
      return list
    }
    case BOOLEAN:
      return readBoolean(reader)
  }
}

function readBoolean(reader: Reader): boolean {
  const byte = reader.byte()
  if (byte > 1) throw new LinkFrameError('a boolean is neither 0 nor 1')
  return byte === 1
}

function writeBytes(target: Uint8Array, position: number, bytes: Uint8Array): number {
  const at = writeVarUint(target, position, bytes.length)
  target.set(bytes, at)
  return at + bytes.length
}

function mostBytes(members: Shape['members'], message: Members): number {
  let most = 0
  for (const [name, type] of members) {
    const value = message[name]
    most += UINT_BYTES
    if (type === BYTES) most += (value as Uint8Array).length
    else if (type === UINT_LIST) most += (value as readonly number[]).length * UINT_BYTES
    else if (type === BYTES_LIST) for (const bytes of value as readonly Uint8Array[]) most += UINT_BYTES + bytes.length
  }
  return most
}

function typeOf(value: unknown): MemberType | null {
  if (isUint(value)) return UINT
  if (value instanceof Uint8Array) return BYTES
  if (typeof value === 'boolean') return BOOLEAN
  if (isOf(value, UINT_LIST)) return UINT_LIST
  return isOf(value, BYTES_LIST) ? BYTES_LIST : null
}

function isOf(value: unknown, type: MemberType): boolean {
  switch (type) {
    case UINT:
      return isUint(value)
    case BYTES:
      return value instanceof Uint8Array
    case BOOLEAN:
      return typeof value === 'boolean'
    case UINT_LIST:
    case BYTES_LIST:
      if (!Array.isArray(value)) return false
      // Iterates by index, because `every` skips holes.
      for (let i = 0; i < value.length; i++)
        if (!(type === UINT_LIST ? isUint(value[i]) : value[i] instanceof Uint8Array)) return false
      return true
  }
}

const isUint = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isShort = (text: string): boolean => text.length <= LONGEST_NAME && text.isWellFormed()
