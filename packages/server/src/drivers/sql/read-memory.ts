import type { DocumentRecord, DocumentRef, DocumentStore } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ChangeStamps } from './change-stamps.ts'

/** How long an answer may be given again. A tool beside the relay changes documents without moving their stamps. */
const MOST_AGE_MS = 1000
/** A larger document is read each time. */
const MOST_BYTES_OF_ONE = 128 << 10
/** Maximum bytes of all remembered documents. */
const MOST_BYTES = 8 << 20
/** Bytes in memory that a remembered document takes beside its body and its shares, about. */
const FIXED_BYTES = 1024

interface Remembered {
  readonly key: number
  readonly readAtMs: number
  /** The record, and the stamp of its key before it was read; `null` after a first reading, before which the key was not known. */
  readonly answer: { readonly record: DocumentRecord; readonly stamp: number } | null
  readonly bytes: number
}

/**
 * Makes a `DocumentStore.read` that gives a small document again, without a call to the storage thread, while it has not changed. Remembers a document
 * at its second reading within a second: the stamp must be taken before the reading and belongs to the key, which the first reading tells. So
 * documents that are read once take hardly any memory. The callers share the record, so they must not change its bytes.
 *
 * Every writer of the store except a tool beside the relay must move `stamps`. [LIFE-11]
 */
export function rememberingRead(read: DocumentStore['read'], stamps: ChangeStamps, clock: Clock): DocumentStore['read'] {
  /** By name of the document; what was read longest ago comes first. */
  const remembered = new Map<string, Remembered>()
  let bytes = 0

  function forget(name: string): void {
    bytes -= remembered.get(name)?.bytes ?? 0
    remembered.delete(name)
  }

  function remember(name: string, reading: Remembered): void {
    forget(name)
    remembered.set(name, reading)
    bytes += reading.bytes
    for (const [oldest, { readAtMs }] of remembered) {
      if (bytes <= MOST_BYTES && reading.readAtMs - readAtMs < MOST_AGE_MS) return
      forget(oldest)
    }
  }

  return async (ref) => {
    const name = nameOf(ref)
    const readAtMs = clock.monotonicMs()
    const before = remembered.get(name)
    const stamp = before === undefined ? null : stamps.of(before.key)
    if (before?.answer != null && before.answer.stamp === stamp && readAtMs - before.readAtMs < MOST_AGE_MS) {
      return before.answer.record
    }
    const record = await read(ref)
    if (record === null || record.head.sizeBytes > MOST_BYTES_OF_ONE) {
      forget(name)
      return record
    }
    const { key, sizeBytes } = record.head
    const isWhole = stamp !== null && before?.key === key
    const kept = isWhole ? { answer: { record, stamp }, bytes: FIXED_BYTES + sizeBytes } : { answer: null, bytes: FIXED_BYTES }
    remember(name, { key, readAtMs, ...kept })
    return record
  }
}

/** Neither id can contain a NUL. [BODY-11] */
function nameOf({ workspaceId, id }: DocumentRef): string {
  return `${workspaceId}\0${id}`
}
