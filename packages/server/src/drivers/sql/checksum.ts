import { crc32 } from 'node:zlib'

/** CRC-32 of stored bytes together with what they are filed under, so that exchanged rows show as damage too. [LIFE-5] */
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
