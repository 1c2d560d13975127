import type { ErrorCode } from '../../kernel/errors.ts'
import { RelayError } from '../../kernel/errors.ts'
import { at } from '../../kernel/at.ts'
import type { LogFields } from '../../kernel/log.ts'
import { type AppendOutcome, type AppendRecord, removalsMember } from '../../sync/update-log.port.ts'
import type { FeedEntry } from './feed-writing.ts'
import type { Ports } from './storage-verbs.ts'
import type { StoreLoss } from './store-loss.ts'

/** A call of a method of a port, sent over a MessagePort. */
export interface Call {
  readonly kind: 'call'
  readonly id: number
  readonly port: keyof Ports
  readonly verb: string
  readonly args: readonly unknown[]
}

/**
 * The appends of one turn. All updates are concatenated in one buffer, which is transferred instead of copied; the other values are in columns. So a
 * message costs nearly the same for one record as for a thousand.
 */
export interface PackedAppends {
  readonly kind: 'appends'
  readonly ids: readonly number[]
  /** The number of records of each call. */
  readonly counts: readonly number[]
  readonly keys: Float64Array
  readonly afterSeqs: Float64Array
  readonly timesMs: Float64Array
  readonly lengths: Uint32Array
  readonly actors: readonly string[]
  readonly actorOf: Uint32Array
  readonly catchUps: readonly { readonly record: number; readonly version: number }[]
  /** The notes about removed blocks, by index of the record. Few records have notes. */
  readonly removals: readonly (readonly [record: number, removals: string])[]
  /** The epoch of each record, NaN for a record without one; absent when no record has an epoch. */
  readonly epochs?: Float64Array
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Calls and appends in the order in which they were made. */
export type ToStorage = readonly (Call | PackedAppends)[]

export type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: WireError }

/** The `seq` of each record, in the order of the calls; 0 means gone, -1 conflict, -2 fenced. */
export interface AppendReply {
  readonly id: number
  readonly seqs: readonly number[]
}

export function wireSeqOf(outcome: AppendOutcome): number {
  return outcome.kind === 'appended' ? outcome.seq : WIRE_SEQS[outcome.kind]
}

const WIRE_SEQS = { gone: 0, conflict: -1, fenced: -2 } as const

export function outcomeOf(wireSeq: number): AppendOutcome {
  if (wireSeq > 0) return { kind: 'appended', seq: wireSeq }
  if (wireSeq === WIRE_SEQS.gone) return { kind: 'gone' }
  return { kind: wireSeq === WIRE_SEQS.conflict ? 'conflict' : 'fenced' }
}

export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface FromStorage {
  readonly replies: readonly Reply[]
  readonly appended: readonly AppendReply[]
}

/** Events that the thread sends to its parent in addition to replies. */
export type ThreadEvent =
  | { readonly kind: 'ready'; readonly losses: readonly StoreLoss[] }
  /** The store has lost acknowledged writes while in use. */
  | { readonly kind: 'loss'; readonly loss: StoreLoss }
  /** A document was written or removed. */
  | { readonly kind: 'stored'; readonly workspaceId: string; readonly key: number }
  /** These rows of the change feed were committed. */
  | { readonly kind: 'told'; readonly entries: readonly FeedEntry[] }
  | { readonly kind: 'failed-to-open'; readonly message: string; readonly remedy?: string }
  | {
      readonly kind: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly event: string
      readonly msg: string
      readonly fields: LogFields | undefined
    }
  | { readonly kind: 'fatal'; readonly message: string }

export function toWireError(error: unknown): WireError {
  if (error instanceof RelayError) return { code: error.code, message: error.message, details: error.details }
  return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error), details: {} }
}

export function fromWireError({ code, message, details }: WireError): RelayError {
  return new RelayError(code, message, details)
}

export function packAppends(calls: readonly { readonly id: number; readonly records: readonly AppendRecord[] }[]): PackedAppends {
  const records = calls.flatMap((call) => call.records)
  const keys = new Float64Array(records.length)
  const afterSeqs = new Float64Array(records.length)
  const timesMs = new Float64Array(records.length)
  const lengths = new Uint32Array(records.length)
  const actorOf = new Uint32Array(records.length)
  const actors = new Map<string, number>()
  const catchUps: { record: number; version: number }[] = []
  const noted: (readonly [number, string])[] = []
  const epochs = records.some(({ epoch }) => epoch !== undefined) ? new Float64Array(records.length).fill(Number.NaN) : null
  let total = 0
  for (const [i, { key, afterSeq, atMs, actor, update, catchUp, removals, epoch }] of records.entries()) {
    keys[i] = key
    afterSeqs[i] = afterSeq
    timesMs[i] = atMs
    lengths[i] = update.byteLength
    total += update.byteLength
    const known = actors.get(actor) ?? actors.size
    actors.set(actor, known)
    actorOf[i] = known
    if (catchUp !== undefined) catchUps.push({ record: i, ...catchUp })
    if (removals !== undefined) noted.push([i, removals])
    if (epochs !== null && epoch !== undefined) epochs[i] = epoch
  }
  const bytes = new Uint8Array(total)
  let end = 0
  for (const { update } of records) {
    bytes.set(update, end)
    end += update.byteLength
  }
  const ids = calls.map((call) => call.id)
  const counts = calls.map((call) => call.records.length)
  const columns = { keys, afterSeqs, timesMs, lengths, actors: [...actors.keys()], actorOf, catchUps, removals: noted }
  return { kind: 'appends', ids, counts, ...columns, bytes, ...(epochs !== null && { epochs }) }
}

export function unpackAppends(packed: PackedAppends): { readonly id: number; readonly records: readonly AppendRecord[] }[] {
  const { keys, afterSeqs, timesMs, lengths, actors, actorOf, bytes, ids, counts } = packed
  const versions = new Map(packed.catchUps.map(({ record, version }) => [record, version]))
  const noted = new Map(packed.removals)
  const records: AppendRecord[] = []
  let start = 0
  for (const [i, length] of lengths.entries()) {
    const version = versions.get(i)
    const epoch = packed.epochs === undefined ? Number.NaN : at(packed.epochs, i)
    records.push({
      key: at(keys, i),
      afterSeq: at(afterSeqs, i),
      atMs: at(timesMs, i),
      actor: at(actors, at(actorOf, i)),
      update: bytes.subarray(start, start + length),
      ...(version === undefined ? {} : { catchUp: { version } }),
      ...removalsMember(noted.get(i)),
      ...(Number.isNaN(epoch) ? {} : { epoch }),
    })
    start += length
  }
  let from = 0
  return ids.map((id, i) => {
    const count = at(counts, i)
    from += count
    return { id, records: records.slice(from - count, from) }
  })
}

/**
 * Returns the value with every byte array replaced by a copy that owns its buffer, and adds these buffers to `owned`, to be transferred. Transferring
 * a view would take the whole shared buffer along. Parts without bytes are returned unchanged. With `gives` the sender no longer needs the value, so
 * byte arrays that use their whole buffer are transferred without a copy.
 */
export function portable(value: unknown, owned: ArrayBuffer[], gives = false): unknown {
  if (value instanceof Uint8Array) {
    const sent = gives && value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value)
    owned.push(sent.buffer as ArrayBuffer)
    return sent
  }
  if (typeof value !== 'object' || value === null || !holdsBytes(value)) return value
  if (Array.isArray(value)) return value.map((item) => portable(item, owned, gives))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, portable(member, owned, gives)]))
}

function holdsBytes(value: object): boolean {
  if (value instanceof Uint8Array) return true
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof member === 'object' && member !== null && holdsBytes(member)) return true
  }
  return false
}
