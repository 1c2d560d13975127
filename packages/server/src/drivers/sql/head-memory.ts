import type { DocumentHead, DocumentStore } from '../../documents/document-store.port.ts'
import { type CheckedHead, type HeadLists, STAMP } from './head-stamps.ts'

type Heads = ReadonlyMap<number, CheckedHead>

interface Remembered {
  /** What `HeadLists.stamps` answered; `null` when a row was left out of the list, so that it is read and reported again. */
  readonly stamps: Uint8Array | null
  readonly heads: Heads
  readonly list: readonly DocumentHead[]
  readonly bytes: number
}

/** Most heads of one call, so that an answer does not block the receiving thread for long. */
const CHUNK = 1000
/** Bytes of remembered heads, of all workspaces together. */
const MAX_REMEMBERED_BYTES = 64 << 20

/**
 * `DocumentStore.list` with a memory: only heads whose row has changed since are read again. Every call compares rows
 * by key, version and checksum, so writes of other processes show as well. Calls for one workspace that come while its rows are
 * read share one reading that begins afterwards: several searches at a time must not fill the storage thread with lists.
 */
export function rememberingList(lists: HeadLists, maxBytes = MAX_REMEMBERED_BYTES): DocumentStore['list'] {
  const workspaces = new Map<string, Remembered>()

  async function read(workspaceId: string): Promise<readonly DocumentHead[]> {
    const bytes = await lists.stamps(workspaceId)
    const before = workspaces.get(workspaceId)
    if (before?.stamps != null && Buffer.compare(before.stamps, bytes) === 0) {
      workspaces.delete(workspaceId)
      workspaces.set(workspaceId, before)
      return before.list
    }
    return readAgain(workspaceId, bytes, before?.heads ?? new Map())
  }

  async function readAgain(workspaceId: string, bytes: Uint8Array, known: Heads): Promise<readonly DocumentHead[]> {
    const stamps = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / Float64Array.BYTES_PER_ELEMENT)
    const changed = await readChanged(lists, stamps, known)
    const now = new Map<number, CheckedHead>()
    for (let at = 0; at < stamps.length; at += STAMP.length) {
      const key = stamps[at] as number
      const checked = changed.get(key) ?? current(known.get(key), stamps, at)
      if (checked !== undefined) now.set(key, checked)
    }
    const heads = [...now.values()].map(({ head }) => head)
    const list = changed.size === 0 ? heads : ordered(heads)
    const isWhole = now.size * STAMP.length === stamps.length
    remember(workspaces, workspaceId, { stamps: isWhole ? bytes : null, heads: now, list }, maxBytes)
    return list
  }

  return oneAfterTheOther(read)
}

/** Runs `read` once at a time for each workspace; calls that come while it runs share the next run, which sees what they have written. */
function oneAfterTheOther<T>(read: (workspaceId: string) => Promise<T>): (workspaceId: string) => Promise<T> {
  const running = new Map<string, { readonly current: Promise<T>; next: Promise<T> | null }>()

  function start(workspaceId: string): Promise<T> {
    const current = read(workspaceId)
    const turn = { current, next: null }
    running.set(workspaceId, turn)
    const end = (): void => {
      if (running.get(workspaceId) === turn && turn.next === null) running.delete(workspaceId)
    }
    current.then(end, end)
    return current
  }

  return (workspaceId) => {
    const turn = running.get(workspaceId)
    if (turn === undefined) return start(workspaceId)
    return (turn.next ??= turn.current.then(
      () => start(workspaceId),
      () => start(workspaceId),
    ))
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

/** A row without log numbers is damaged, and is read so that the damage is reported. */
function isSame(known: CheckedHead | undefined, stamps: Float64Array, at: number): known is CheckedHead {
  return (
    known !== undefined &&
    known.head.version === stamps[at + 1] &&
    known.crc32 === stamps[at + 2] &&
    !Number.isNaN(stamps[at + 3]) &&
    !Number.isNaN(stamps[at + 4])
  )
}

/** Returns the remembered head with the log numbers of the stamp; `undefined` when the row has changed. */
function current(known: CheckedHead | undefined, stamps: Float64Array, at: number): CheckedHead | undefined {
  if (!isSame(known, stamps, at)) return undefined
  const { head } = known
  const [lastSeq, coveredSeq, bodyAhead] = [stamps[at + 3] as number, stamps[at + 4] as number, stamps[at + 5] === 1]
  if (head.lastSeq === lastSeq && head.coveredSeq === coveredSeq && head.bodyAhead === bodyAhead) return known
  return { ...known, head: { ...head, lastSeq, coveredSeq, bodyAhead } }
}

/** A head that was written after its stamp was read keeps its place in the list. */
function ordered(heads: readonly DocumentHead[]): readonly DocumentHead[] {
  const inOrder = heads.every((head, i) => i === 0 || (heads[i - 1]?.updatedAtMs ?? 0) >= head.updatedAtMs)
  return inOrder ? heads : heads.toSorted((a, b) => b.updatedAtMs - a.updatedAtMs)
}

/** The workspaces whose list was read longest ago are forgotten first. */
function remember(
  workspaces: Map<string, Remembered>,
  workspaceId: string,
  read: Omit<Remembered, 'bytes'>,
  maxBytes: number,
): void {
  workspaces.delete(workspaceId)
  let bytes = 0
  for (const head of read.heads.values()) bytes += head.bytes
  if (bytes > maxBytes) return
  let total = bytes
  for (const other of workspaces.values()) total += other.bytes
  for (const [oldest, other] of workspaces) {
    if (total <= maxBytes) break
    workspaces.delete(oldest)
    total -= other.bytes
  }
  workspaces.set(workspaceId, { ...read, bytes })
}
