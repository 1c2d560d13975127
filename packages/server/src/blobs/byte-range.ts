import type { ByteRange } from './blob-store.port.ts'

const ONE_RANGE = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i

/**
 * Reads a Range header for `sizeBytes`. `whole` when there is no range, or several, or one that cannot be parsed: a
 * server answers these in full. [BLOB-7, RFC 9110]
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first = '', last = ''] = ONE_RANGE.exec(header ?? '') ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last)
  if (end < start) return 'whole'
  return start >= sizeBytes ? 'unsatisfiable' : { start, end: Math.min(end, sizeBytes - 1) }
}
