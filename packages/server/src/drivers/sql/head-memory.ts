import type { DocumentHead, DocumentStore } from '../../documents/document-store.port.ts'
import { type CheckedHead, type HeadLists, STAMP } from './head-lists.ts'

type Heads = ReadonlyMap<number, CheckedHead>

interface Remembered {
  readonly heads: Heads
  readonly bytes: number
}

/** What one call for heads asks for, so that no answer holds the thread that receives it for long. */
const CHUNK = 1000
/** Of all workspaces together. */
const MAX_REMEMBERED_BYTES = 64 << 20

/**
 * `DocumentStore.list` that remembers what it listed: only heads whose row has changed since are read again. Rows are told apart by key,
 * version and checksum in every call, so that writes of other processes show as well.
 */
export function rememberingList(lists: HeadLists, maxBytes = MAX_REMEMBERED_BYTES): DocumentStore['list'] {
  const workspaces = new Map<string, Remembered>()

  return async (workspaceId) => {
    const bytes = await lists.stamps(workspaceId)
    const stamps = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / Float64Array.BYTES_PER_ELEMENT)
    const known: Heads = workspaces.get(workspaceId)?.heads ?? new Map()
    const read = await readChanged(lists, stamps, known)
    const now = new Map<number, CheckedHead>()
    for (let at = 0; at < stamps.length; at += STAMP.length) {
      const key = stamps[at] as number
      const checked = read.get(key) ?? current(known.get(key), stamps, at)
      if (checked !== undefined) now.set(key, checked)
    }
    remember(workspaces, workspaceId, now, maxBytes)
    const heads = [...now.values()].map(({ head }) => head)
    return read.size === 0 ? heads : ordered(heads)
  }
}

async function readChanged(lists: HeadLists, stamps: Float64Array, known: Heads): Promise<Heads> {
  const changed: number[] = []
  for (let at = 0; at < stamps.length; at += STAMP.length) {
    const key = stamps[at] as number
    if (!isSame(known.get(key), stamps, at)) changed.push(key)
  }
  const read = new Map<number, CheckedHead>()
  for (let from = 0; from < changed.length; from += CHUNK) {
    for (const checked of await lists.heads(changed.slice(from, from + CHUNK))) read.set(checked.head.key, checked)
  }
  return read
}

/** A row without log numbers is damage, and is read to be found out. */
function isSame(known: CheckedHead | undefined, stamps: Float64Array, at: number): known is CheckedHead {
  return (
    known !== undefined &&
    known.head.version === stamps[at + 1] &&
    known.crc32 === stamps[at + 2] &&
    !Number.isNaN(stamps[at + 3]) &&
    !Number.isNaN(stamps[at + 4])
  )
}

/** The remembered head with the log numbers of the stamp; `undefined` when the row is another one. */
function current(known: CheckedHead | undefined, stamps: Float64Array, at: number): CheckedHead | undefined {
  if (!isSame(known, stamps, at)) return undefined
  const { head } = known
  const [lastSeq, coveredSeq, bodyAhead] = [stamps[at + 3] as number, stamps[at + 4] as number, stamps[at + 5] === 1]
  if (head.lastSeq === lastSeq && head.coveredSeq === coveredSeq && head.bodyAhead === bodyAhead) return known
  return { ...known, head: { ...head, lastSeq, coveredSeq, bodyAhead } }
}

/** Heads that were written after their stamps were taken stand where they stood before. */
function ordered(heads: readonly DocumentHead[]): readonly DocumentHead[] {
  const inOrder = heads.every((head, i) => i === 0 || (heads[i - 1]?.updatedAtMs ?? 0) >= head.updatedAtMs)
  return inOrder ? heads : heads.toSorted((a, b) => b.updatedAtMs - a.updatedAtMs)
}

/** The workspaces listed longest ago are forgotten first. */
function remember(workspaces: Map<string, Remembered>, workspaceId: string, heads: Heads, maxBytes: number): void {
  workspaces.delete(workspaceId)
  let bytes = 0
  for (const head of heads.values()) bytes += head.bytes
  if (bytes > maxBytes) return
  let total = bytes
  for (const other of workspaces.values()) total += other.bytes
  for (const [oldest, other] of workspaces) {
    if (total <= maxBytes) break
    workspaces.delete(oldest)
    total -= other.bytes
  }
  workspaces.set(workspaceId, { heads, bytes })
}
