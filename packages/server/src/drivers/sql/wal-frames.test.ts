import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { inspectWal, type WalBytes } from './wal-frames.ts'

const FRAME = 24 + 4096

/** Returns a log that SQLite wrote, with `commits` transactions of some pages each, and the offset at which each transaction ends. */
function written(commits: number, options: { readonly restartAfter?: number } = {}): { bytes: Buffer; ends: number[] } {
  const folder = mkdtempSync(join(tmpdir(), 'relay-wal-'))
  const path = join(folder, 'a.db')
  const db = new DatabaseSync(path)
  try {
    db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 0')
    db.exec('create table t (n integer primary key, x blob)')
    const insert = db.prepare('insert into t (x) values (zeroblob(?))')
    const frames = db.prepare('pragma wal_checkpoint(noop)')
    const ends: number[] = []
    for (let i = 0; i < commits; i++) {
      if (i === options.restartAfter) {
        db.exec('pragma wal_checkpoint(passive)')
        ends.length = 0
      }
      insert.run(100 + ((i * 7919) % 12_000))
      ends.push(32 + Number(frames.get()?.['log']) * FRAME)
    }
    return { bytes: readFileSync(`${path}-wal`), ends }
  } finally {
    db.close()
    rmSync(folder, { recursive: true })
  }
}

const inMemory = (bytes: Uint8Array): WalBytes => ({
  size: bytes.byteLength,
  // Returns a copy, as reading a file does.
  read: (offset, length) => Uint8Array.from(bytes.subarray(offset, offset + length)),
})
const inspect = (bytes: Uint8Array) => inspectWal(inMemory(bytes))
const SOUND = { kind: 'sound' }
const WHOLE = { kind: 'sound', tail: null }

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

let log: { bytes: Buffer; ends: number[] }
let lastStart: number
let lastEnd: number
beforeAll(() => {
  log = written(12)
  lastStart = log.ends.at(-2) ?? 0
  lastEnd = log.ends.at(-1) ?? 0
})

it('[LIFE-5] a write-ahead log written by SQLite and an empty one are reported as whole', () => {
  expect(inspect(log.bytes)).toEqual(WHOLE)
  expect(inspect(log.bytes.subarray(0, 0))).toEqual(WHOLE)
})

it('[LIFE-5] a write-ahead log that restarted over older frames is reported as whole', () => {
  expect(inspect(written(12, { restartAfter: 9 }).bytes)).toEqual(WHOLE)
})

describe('a log with a torn end', () => {
  it('[LIFE-5] a write-ahead log that is cut at any byte is sound', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: log.bytes.byteLength }), (end) => {
        expect(inspect(log.bytes.subarray(0, end))).toMatchObject(SOUND)
      }),
      { numRuns: 300 },
    )
  })

  /** Which sectors of the last transaction reached the disk: each sector is new or unchanged. */
  const sectors = () => fc.array(fc.boolean(), { minLength: 200, maxLength: 200 })
  const torn = (whole: Buffer, older: Buffer, kept: readonly boolean[]): Buffer => {
    const bytes = Buffer.from(whole)
    for (let at = lastStart - (lastStart % 512), i = 0; at < lastEnd; at += 512, i++) {
      const from = Math.max(at, lastStart)
      if (kept[i] !== true) older.copy(bytes, from, from, Math.min(at + 512, lastEnd))
    }
    return bytes
  }

  it('[LIFE-5] a write-ahead log is sound when any sectors of its last transaction are missing from a new file', () => {
    const zeros = Buffer.alloc(log.bytes.byteLength)
    fc.assert(
      fc.property(sectors(), (kept) => {
        expect(inspect(torn(log.bytes, zeros, kept))).toMatchObject(SOUND)
      }),
      { numRuns: 300 },
    )
  })

  it('[LIFE-5] a write-ahead log is sound when any sectors of its last transaction still have older frames', () => {
    const older = written(30)
    fc.assert(
      fc.property(sectors(), (kept) => {
        const after = Buffer.concat([torn(log.bytes, older.bytes, kept), older.bytes.subarray(log.bytes.byteLength)])
        expect(inspect(after)).toMatchObject(SOUND)
      }),
      { numRuns: 300 },
    )
  })

  it('[LIFE-5] a write-ahead log is sound when it ends with frames of a rolled back transaction', () => {
    // The leftover frames have the salts of the log and continue each other, and none of them is a commit.
    const leftovers = Buffer.from(log.bytes.subarray(log.ends[1], log.ends[9]))
    for (let at = 0; at < leftovers.byteLength; at += FRAME) leftovers.writeUInt32BE(0, at + 4)
    fc.assert(
      fc.property(sectors(), (kept) => {
        const head = torn(log.bytes, Buffer.alloc(log.bytes.byteLength), kept).subarray(0, lastEnd)
        expect(inspect(Buffer.concat([head, leftovers]))).toMatchObject(SOUND)
      }),
      { numRuns: 100 },
    )
  })
})

describe('the unread end of a log', () => {
  it('[LIFE-5] a log cut within its last transaction reports the remaining bytes, one cut between two none', () => {
    fc.assert(
      fc.property(fc.integer({ min: lastStart, max: lastEnd }), (end) => {
        const bytes = end - lastStart
        const tail = bytes === 0 || end === lastEnd ? null : { offset: lastStart, bytes, frames: Math.ceil(bytes / FRAME) }
        expect(inspect(log.bytes.subarray(0, end))).toEqual({ kind: 'sound', tail })
      }),
      { numRuns: 200 },
    )
    expect(inspect(log.bytes.subarray(0, lastStart))).toEqual(WHOLE)
  })

  it('[LIFE-5] an incomplete header of a write-ahead log is reported as an unread end', () => {
    expect(inspect(log.bytes.subarray(0, 20))).toEqual({ kind: 'sound', tail: { offset: 0, bytes: 20, frames: 0 } })
  })

  it.each([
    ['in a new file', () => written(12)],
    ['above an earlier generation', () => written(12, { restartAfter: 9 })],
  ])('[LIFE-5] a bit flipped in the last transaction makes it the unread end, %s', (_, write) => {
    const { bytes, ends } = write()
    const [start = 0, end = 0] = ends.slice(-2)
    fc.assert(
      fc.property(fc.integer({ min: start, max: end - 1 }), fc.integer({ min: 0, max: 7 }), (byte, bit) => {
        fc.pre((byte - 32) % FRAME < 4 || (byte - 32) % FRAME >= 8)
        expect(inspect(flipped(bytes, byte * 8 + bit))).toEqual({
          kind: 'sound',
          tail: { offset: start, bytes: end - start, frames: (end - start) / FRAME },
        })
      }),
      { numRuns: 300 },
    )
  })
})

describe('damage before the last transaction', () => {
  it('[LIFE-5] a bit flipped before the last two transactions of a log is reported as damage', () => {
    const before = log.ends.at(-3) ?? 0
    fc.assert(
      fc.property(fc.integer({ min: 0, max: before * 8 - 1 }), (bit) => {
        const found = inspect(flipped(log.bytes, bit))
        expect(found.kind).toBe('damaged')
        const frame = bit < 32 * 8 ? 0 : 1 + Math.floor(((bit >> 3) - 32) / FRAME)
        expect(found).toMatchObject({ frame })
      }),
      { numRuns: 500 },
    )
  })

  it('[LIFE-5] sectors of a log that are zero or from another file are reported as damage', () => {
    const before = log.ends.at(-3) ?? 0
    const foreign = written(20).bytes
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Math.floor(before / 512) - 1 }), fc.boolean(), (sector, zero) => {
        const bytes = Buffer.from(log.bytes)
        if (zero) bytes.fill(0, sector * 512, (sector + 1) * 512)
        else foreign.copy(bytes, sector * 512, sector * 512, (sector + 1) * 512)
        // A page may already contain zeros, so changes without effect are excluded.
        fc.pre(!bytes.equals(log.bytes))
        expect(inspect(bytes)).toMatchObject({ kind: 'damaged' })
      }),
      { numRuns: 200 },
    )
  })

  it('[LIFE-5] damage in the commit frame of the second last transaction of a log is reported', () => {
    const at = lastStart - 100
    expect(inspect(flipped(log.bytes, at * 8))).toMatchObject({ kind: 'damaged', laterCommits: 1 })
  })

  it('[LIFE-5] a bit flipped in the last transaction of a log is a torn end, not damage', () => {
    fc.assert(
      fc.property(fc.integer({ min: lastStart, max: lastEnd - 1 }), fc.integer({ min: 0, max: 7 }), (byte, bit) => {
        // The size field that marks a commit is excluded: a change of that field in a middle frame also counts as damage.
        fc.pre((byte - 32) % FRAME < 4 || (byte - 32) % FRAME >= 8)
        expect(inspect(flipped(log.bytes, byte * 8 + bit))).toMatchObject(SOUND)
      }),
      { numRuns: 300 },
    )
  })
})
