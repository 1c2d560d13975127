const SECTOR_BYTES = 512

/** Takes a write-ahead log before and after a commit, and returns a log that a crash during the commit may leave. */
type Tear = (before: Buffer, after: Buffer) => Buffer

/** Returns the range of bytes that the last transaction wrote. */
function lastWritten(before: Buffer, after: Buffer): { readonly start: number; readonly end: number } {
  let start = 0
  while (start < before.byteLength && before[start] === after[start]) start++
  let end = after.byteLength
  while (end > start && end <= before.byteLength && before[end - 1] === after[end - 1]) end--
  if (start >= end) throw new Error('the commit wrote nothing into the log')
  return { start, end }
}

/** Returns the new bytes, except those from `from` to `to`, which did not reach the disk. */
function without(before: Buffer, after: Buffer, from: number, to: number): Buffer {
  const torn = Buffer.from(after)
  torn.fill(0, from, to)
  before.subarray(from, to).copy(torn, from)
  return torn
}

/**
 * Ways to tear a log. All except the last can happen on a working disk: each sector is new or unchanged. In the last one the disk has written
 * garbage.
 */
export const TORN_LOGS: Readonly<Record<string, Tear>> = {
  'the first half'(before, after) {
    const { start, end } = lastWritten(before, after)
    const middle = Math.floor((start + end) / 2)
    return Buffer.concat([after.subarray(0, middle), before.subarray(middle)])
  },
  'everything but the first sector'(before, after) {
    const { start } = lastWritten(before, after)
    return without(before, after, start, start - (start % SECTOR_BYTES) + SECTOR_BYTES)
  },
  'everything but the last sector'(before, after) {
    const { start, end } = lastWritten(before, after)
    return without(before, after, Math.max(start, end - SECTOR_BYTES), end)
  },
  'a last sector that is rubbish'(before, after) {
    const { start, end } = lastWritten(before, after)
    const torn = Buffer.from(after)
    for (let at = Math.max(start, end - SECTOR_BYTES); at < end; at++) torn[at] = ~(after[at] ?? 0) & 0xff
    return torn
  },
}
