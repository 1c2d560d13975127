import { crc32 } from 'node:zlib'

/** CRC-32 of stored bytes and of the key under which they are stored, so that swapped rows are found as damage too. [LIFE-5] */
export function rowChecksum(label: string, bytes: Uint8Array, more?: Uint8Array): number {
  const sum = crc32(bytes, crc32(label))
  return more === undefined ? sum : crc32(more, sum)
}

export function updateChecksum(key: number, seq: number, actor: string, atMs: number, update: Uint8Array): number {
  return rowChecksum(`${key} ${seq} ${atMs} ${actor}`, update)
}

export function snapshotChecksum(key: number, throughSeq: number, stateVector: Uint8Array, update: Uint8Array): number {
  return rowChecksum(`${key} ${throughSeq} ${stateVector.byteLength}`, update, stateVector)
}

export function bodyChecksum(key: number, body: Uint8Array): number {
  return rowChecksum(`${key}`, body)
}

/** The columns of a document's row that its checksum covers. */
export interface HeadColumns {
  readonly workspace_id: string
  readonly id: string
  readonly version: number
  readonly owner_id: string
  readonly owner_name: string
  readonly collection_id: string | null
  readonly shared_with: string
  readonly created_at_ms: number
  readonly updated_at_ms: number
  readonly title_changed_at_ms: number
  readonly size_bytes: number
  readonly facts: string
}

export function headChecksum(row: HeadColumns): number {
  const dates = [row.created_at_ms, row.updated_at_ms, row.title_changed_at_ms]
  const texts = [row.workspace_id, row.id, row.owner_id, row.owner_name, row.collection_id, row.shared_with, row.facts]
  return crc32(JSON.stringify([row.version, row.size_bytes, dates, texts]))
}
