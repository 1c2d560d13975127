import type { Cell } from './store-archive.port.ts'

/**
 * Encodes a row so that a person can read the file: one line of JSON with an array of the columns, where a column of bytes is replaced by its length.
 * The bytes follow the line, one column after the other.
 */
export function encodeRow(cells: readonly Cell[]): Uint8Array[] {
  const bytes = cells.filter((cell) => cell instanceof Uint8Array)
  const line = JSON.stringify(cells.map((cell) => (cell instanceof Uint8Array ? cell.byteLength : cell)))
  return [Buffer.from(`${line}\n`), ...bytes]
}

/**
 * Reads the rows of a file. `binary[i]` says whether column i holds bytes.
 *
 * @throws Error when the file is not what `encodeRow` writes for these columns
 */
export async function* decodeRows(
  chunks: AsyncIterable<Uint8Array>,
  binary: readonly boolean[],
): AsyncGenerator<readonly Cell[]> {
  const source = byteSource(chunks)
  for (let line = await source.line(); line !== null; line = await source.line()) {
    const values = JSON.parse(Buffer.from(line).toString('utf8')) as unknown
    if (!Array.isArray(values) || values.length !== binary.length) throw new Error('a row has the wrong number of columns')
    const row: Cell[] = []
    for (const [i, value] of values.entries()) row.push(await cellOf(value, binary[i] === true, source.bytes))
    yield row
  }
}

async function cellOf(value: unknown, isBinary: boolean, bytes: (length: number) => Promise<Uint8Array>): Promise<Cell> {
  if (value === null) return null
  if (isBinary && typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return bytes(value)
  if (!isBinary && (typeof value === 'string' || Number.isSafeInteger(value))) return value as Cell
  throw new Error('a column holds a value of the wrong type')
}

interface ByteSource {
  /** Returns the bytes up to the next line feed, without it; `null` at the end. */
  line(): Promise<Uint8Array | null>
  bytes(length: number): Promise<Uint8Array>
}

function byteSource(chunks: AsyncIterable<Uint8Array>): ByteSource {
  const iterator = chunks[Symbol.asyncIterator]()
  let held: Uint8Array = new Uint8Array(0)

  /** Returns `length` bytes; gathers chunks without copying them more than once. */
  async function take(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let missing = length
    while (missing > held.byteLength) {
      parts.push(held)
      missing -= held.byteLength
      const next = await iterator.next()
      if (next.done === true) throw new Error('a row ends before its bytes do')
      held = next.value
    }
    parts.push(held.subarray(0, missing))
    held = held.subarray(missing)
    return new Uint8Array(Buffer.concat(parts, length))
  }

  async function line(): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = []
    for (;;) {
      const end = held.indexOf(0x0a)
      if (end >= 0) {
        parts.push(held.subarray(0, end))
        held = held.subarray(end + 1)
        return Buffer.concat(parts)
      }
      parts.push(held)
      const next = await iterator.next()
      if (next.done === true) {
        if (parts.some((part) => part.byteLength > 0)) throw new Error('the last row is cut short')
        return null
      }
      held = next.value
    }
  }
  return { line, bytes: take }
}
