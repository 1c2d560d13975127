/** Access to the bytes of a write-ahead log. `read` returns fewer bytes than requested at the end of the file. */
export interface WalBytes {
  readonly size: number
  read(offset: number, length: number): Uint8Array
}

/** The bytes after the last readable transaction of a log that do not belong to an earlier generation of the log. */
export interface WalTail {
  /** Offset in the file of the first of these bytes. */
  readonly offset: number
  readonly bytes: number
  /** Number of frames in these bytes, including an incomplete last one. */
  readonly frames: number
}

/**
 * The state of a write-ahead log. `sound`: nothing shows that a flushed transaction is unreadable. `damaged`: a flushed transaction cannot
 * be read.
 */
export type WalFinding =
  /** `tail`: bytes that no reader uses. A crash during a commit, or damage within the last transaction, leaves them. Usually `null`. */
  | { readonly kind: 'sound'; readonly tail: WalTail | null }
  | {
      readonly kind: 'damaged'
      /** Number of the first bad frame, from 1; 0 is the header of the file. */
      readonly frame: number
      /** Offset of the first bad frame in the file. */
      readonly offset: number
      /** Number of complete transactions after the bad frame, at least 1. */
      readonly laterCommits: number
    }

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const FORMAT = 3007000
/** Number of bytes that a disk writes completely or not at all. */
const SECTOR_BYTES = 512
const READ_BYTES = 1 << 20

/** The running checksum of a log. Each frame continues the checksum of the frame before. */
type Sum = readonly [number, number]

interface WalHeader {
  readonly littleEndian: boolean
  readonly pageBytes: number
  readonly salts: Sum
  readonly sum: Sum
}

interface Frame {
  readonly page: number
  /** In the last frame of a transaction: the size of the database in pages afterwards. 0 in every other frame. */
  readonly commitPages: number
  readonly salts: Sum
  /** The checksum stored in the frame. */
  readonly sum: Sum
  /** Computes the checksum of this frame as a continuation of `seed`. */
  continuing(seed: Sum): Sum
}

/**
 * Reads the frames of SQLite's write-ahead log, including those after the first bad frame. [LIFE-5]
 *
 * With `synchronous=FULL`, a transaction is written only after the previous one was flushed. So a frame of a later transaction proves that
 * every earlier frame was on the disk, and that a bad one among them was damaged afterwards. Without such a frame, the bad frame belongs to
 * the last transaction: a torn end, of which nobody was told.
 *
 * The proof needs two facts. A commit frame at or after the bad frame ends the damaged transaction. The frame after that commit continues
 * its checksum: only a program whose commit had succeeded wrote it. Frames left in the file by a rolled-back transaction, or by an earlier
 * generation of the log, lack one of the two.
 */
export function inspectWal(file: WalBytes): WalFinding {
  const header = readHeader(file)
  if (header === null) return damagedHeader(file)
  const frames = frameReader(file, header)
  let seed = header.sum
  let bad = 0
  let committed = 0
  for (; ; bad++) {
    const frame = frames(bad)
    if (frame === null || !isNext(frame, seed, header)) break
    seed = frame.sum
    if (frame.commitPages !== 0) committed = bad + 1
  }
  const laterCommits = commitsBehind(frames, bad, seed, header)
  if (laterCommits === 0) return { kind: 'sound', tail: tailBehind(file, frames, committed, header) }
  return { kind: 'damaged', frame: bad + 1, offset: offsetOf(bad, header), laterCommits }
}

/** Returns the bytes after the first `committed` frames, up to frames of an earlier generation of the log. */
function tailBehind(file: WalBytes, frames: Frames, committed: number, header: WalHeader): WalTail | null {
  let end = committed
  for (let frame = frames(end); frame !== null; frame = frames(++end)) if (isOfEarlierGeneration(frame, header)) break
  const offset = offsetOf(committed, header)
  const isAtEndOfFile = frames(end) === null
  const bytes = (isAtEndOfFile ? file.size : offsetOf(end, header)) - offset
  if (bytes <= 0) return null
  return { offset, bytes, frames: Math.ceil(bytes / (FRAME_HEADER_BYTES + header.pageBytes)) }
}

/**
 * Whether a frame belongs to an earlier generation of the log. When SQLite starts a log again over its own file, it adds one to the first salt and
 * draws the second one at random. So a frame of an earlier generation differs in both salts, and a frame with one damaged salt only in that salt.
 */
function isOfEarlierGeneration({ page, salts }: Frame, header: WalHeader): boolean {
  const generations = (header.salts[0] - salts[0]) >>> 0
  return page !== 0 && generations > 0 && generations < 2 ** 31 && salts[1] !== header.salts[1]
}

function offsetOf(frame: number, { pageBytes }: WalHeader): number {
  return HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageBytes)
}

type Frames = (index: number) => Frame | null

function isNext(frame: Frame, seed: Sum, { salts }: WalHeader): boolean {
  return frame.page !== 0 && same(frame.salts, salts) && same(frame.continuing(seed), frame.sum)
}

/** Counts the transactions after the one that contains the frame `bad`; `seed` is the checksum before that frame. */
function commitsBehind(frames: Frames, bad: number, seed: Sum, header: WalHeader): number {
  let before = frames(bad)
  if (before === null) return 0
  /** Whether `before` is known to be the last frame of a transaction. */
  let isCommit = same(before.salts, header.salts) && before.commitPages !== 0 && isInOneSector(bad, header)
  let proven = false
  let commits = 0
  for (let index = bad + 1; ; index++) {
    const frame = frames(index)
    if (frame === null) return proven ? Math.max(1, commits) : 0
    let links = isNext(frame, before.sum, header)
    if (!links && index === bad + 1) {
      // The frame's content is intact but its stored checksum is damaged; the next frame continues the correct one.
      links = isNext(frame, before.continuing(seed), header)
      if (links) isCommit = before.commitPages !== 0
    }
    if (links && isCommit) proven = true
    isCommit = links && frame.commitPages !== 0
    if (isCommit && proven) commits++
    before = frame
  }
}

/** Whether a frame header is within one sector. Such a header is either completely new or completely old after a power cut. */
function isInOneSector(index: number, header: WalHeader): boolean {
  const offset = offsetOf(index, header)
  return (offset % SECTOR_BYTES) + FRAME_HEADER_BYTES <= SECTOR_BYTES
}

/**
 * Returns the finding for a log whose file header cannot be read. The header is flushed before the first frame of its generation is written. So a bad
 * header before frames that continue each other was damaged afterwards, and nothing in the file can be read.
 */
function damagedHeader(file: WalBytes): WalFinding {
  const damaged: WalFinding = { kind: 'damaged', frame: 0, offset: 0, laterCommits: 1 }
  const sound: WalFinding = { kind: 'sound', tail: file.size === 0 ? null : { offset: 0, bytes: file.size, frames: 0 } }
  const bytes = file.read(0, HEADER_BYTES)
  if (bytes.byteLength < HEADER_BYTES) return sound
  const view = viewOf(bytes)
  const storedSum: Sum = [view.getUint32(24), view.getUint32(28)]
  for (let pageBytes = 512; pageBytes <= 65536; pageBytes *= 2) {
    for (const littleEndian of [true, false]) {
      const frames = frameReader(file, { littleEndian, pageBytes, salts: [0, 0], sum: storedSum })
      const first = frames(0)
      if (first === null) continue
      const header = { littleEndian, pageBytes, salts: first.salts, sum: storedSum }
      if (isNext(first, storedSum, header)) return damaged
      const second = frames(1)
      if (second !== null && isNext(second, first.sum, header)) return damaged
    }
  }
  return sound
}

function readHeader(file: WalBytes): WalHeader | null {
  const bytes = file.read(0, HEADER_BYTES)
  if (bytes.byteLength < HEADER_BYTES) return null
  const view = viewOf(bytes)
  const magic = view.getUint32(0)
  const pageBytes = view.getUint32(8)
  const isPower = pageBytes >= 512 && pageBytes <= 65536 && (pageBytes & (pageBytes - 1)) === 0
  if ((magic & ~1) !== MAGIC || view.getUint32(4) !== FORMAT || !isPower) return null
  const littleEndian = (magic & 1) === 0
  const sum: Sum = [view.getUint32(24), view.getUint32(28)]
  if (!same(checksum(view, 0, 24, littleEndian, [0, 0]), sum)) return null
  return { littleEndian, pageBytes, salts: [view.getUint32(16), view.getUint32(20)], sum }
}

/** Returns a function that reads frames by their index, in larger pieces; it returns `null` after the last complete frame. */
function frameReader(file: WalBytes, { littleEndian, pageBytes }: WalHeader): Frames {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const count = Math.floor((file.size - HEADER_BYTES) / frameBytes)
  const perPiece = Math.max(2, Math.floor(READ_BYTES / frameBytes))
  let from = 0
  let piece = viewOf(new Uint8Array(0))
  return (index) => {
    if (index >= count) return null
    if (index < from || (index - from + 1) * frameBytes > piece.byteLength) {
      from = index
      piece = viewOf(file.read(HEADER_BYTES + index * frameBytes, perPiece * frameBytes))
      if (piece.byteLength < frameBytes) return null
    }
    return frameAt(piece, (index - from) * frameBytes, pageBytes, littleEndian)
  }
}

function frameAt(view: DataView, at: number, pageBytes: number, littleEndian: boolean): Frame {
  return {
    page: view.getUint32(at),
    commitPages: view.getUint32(at + 4),
    salts: [view.getUint32(at + 8), view.getUint32(at + 12)],
    sum: [view.getUint32(at + 16), view.getUint32(at + 20)],
    continuing(seed) {
      const head = checksum(view, at, 8, littleEndian, seed)
      return checksum(view, at + FRAME_HEADER_BYTES, pageBytes, littleEndian, head)
    },
  }
}

/** Computes the checksum of SQLite's file format over `length` bytes, a multiple of 8. */
function checksum(view: DataView, from: number, length: number, littleEndian: boolean, [seed0, seed1]: Sum): Sum {
  let sum0 = seed0 | 0
  let sum1 = seed1 | 0
  for (let at = from; at < from + length; at += 8) {
    sum0 = (sum0 + view.getUint32(at, littleEndian) + sum1) | 0
    sum1 = (sum1 + view.getUint32(at + 4, littleEndian) + sum0) | 0
  }
  return [sum0 >>> 0, sum1 >>> 0]
}

function same(a: Sum, b: Sum): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
