import type { DocumentHead, DocumentStore } from '../../documents/document-store.port.ts'
import { at } from '../../kernel/at.ts'
import { type CheckedHead, type HeadLists, STAMP, type Stamps } from './head-stamps.ts'

type Heads = ReadonlyMap<number, CheckedHead>

interface Remembered {
  /** What `HeadLists.stamps` answered for the whole list; `null` when something has changed since, or a row was left out. */
  readonly numbers: Uint8Array | null
  /** The mark of the last answer; `null` when a row was left out of the list, so that it is read and reported again. */
  readonly mark: number | null
  /** By key. Changed with the list. */
  readonly heads: Map<number, CheckedHead>
  readonly list: readonly DocumentHead[]
  readonly bytes: number
}

/** Most heads of one call, so that an answer does not block the receiving thread for long. */
const CHUNK = 1000
/** Bytes of remembered heads, of all workspaces together. */
const MAX_REMEMBERED_BYTES = 64 << 20

/**
 * `DocumentStore.list` with a memory: only heads whose row has changed since are read again, and as long as none has changed, every call
 * answers the same array. Where the store can tell what has changed since the last call, only that is compared; otherwise all rows are, by
 * key, version and checksums. Writes of other processes show as well. Calls for one workspace that come while its rows are
 * read share one reading that begins afterwards: several searches at a time must not fill the storage thread with lists.
 */
export function rememberingList(lists: HeadLists, maxBytes = MAX_REMEMBERED_BYTES): DocumentStore['list'] {
  const workspaces = new Map<string, Remembered>()

  async function read(workspaceId: string): Promise<readonly DocumentHead[]> {
    const before = workspaces.get(workspaceId)
    const stamps = await lists.stamps(workspaceId, before?.mark ?? null)
    const now = await rememberedNow(lists, stamps, before)
    remember(workspaces, workspaceId, { ...now, bytes: now.list === before?.list ? before.bytes : bytesOf(now.heads) }, maxBytes)
    return now.list
  }

  return oneAfterTheOther(read)
}

function rememberedNow(
  lists: HeadLists,
  stamps: Stamps,
  before: Remembered | undefined,
): Promise<Omit<Remembered, 'bytes'>> | Omit<Remembered, 'bytes'> {
  if (before === undefined) return readAgain(lists, stamps, new Map())
  const isSame =
    stamps.changed === null
      ? before.numbers !== null && Buffer.compare(before.numbers, stamps.numbers) === 0
      : stamps.numbers.byteLength === 0 && !stamps.changed.some((key) => before.heads.has(key))
  if (isSame) return { ...before, mark: stamps.mark }
  return stamps.changed === null ? readAgain(lists, stamps, before.heads) : readPart(lists, stamps, stamps.changed, before)
}

async function readAgain(lists: HeadLists, { mark, numbers }: Stamps, known: Heads): Promise<Omit<Remembered, 'bytes'>> {
  const stamps = float64(numbers)
  const changed = await readChanged(lists, stamps, known)
  const heads = new Map(currentHeads(stamps, changed, known))
  const listed = [...heads.values()].map(({ head }) => head)
  const list = changed.size === 0 ? listed : ordered(listed)
  const isWhole = heads.size * STAMP.length === stamps.length
  return { numbers: isWhole ? numbers : null, mark: isWhole ? mark : null, heads, list }
}

/** Takes the heads of `keys` out of what is remembered, and puts in those that are stored now. */
async function readPart(
  lists: HeadLists,
  { mark, numbers }: Stamps,
  keys: readonly number[],
  { heads, list }: Remembered,
): Promise<Omit<Remembered, 'bytes'>> {
  const stamps = float64(numbers)
  const changed = await readChanged(lists, stamps, heads)
  const present = currentHeads(stamps, changed, heads)
  const isWhole = present.length * STAMP.length === stamps.length
  const touched = new Set(keys)
  const placed = list.filter(({ key }) => !touched.has(key))
  for (const { 1: checked } of present) place(placed, checked.head)
  for (const key of keys) heads.delete(key)
  for (const [key, checked] of present) heads.set(key, checked)
  return { numbers: null, mark: isWhole ? mark : null, heads, list: placed }
}

function float64(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / Float64Array.BYTES_PER_ELEMENT)
}

/** The heads of the stamps by key: those just read, and those remembered that are still as they were. */
function currentHeads(stamps: Float64Array, read: Heads, known: Heads): readonly (readonly [number, CheckedHead])[] {
  const heads: (readonly [number, CheckedHead])[] = []
  for (let at = 0; at < stamps.length; at += STAMP.length) {
    const key = stamps[at] as number
    const checked = read.get(key) ?? current(known.get(key), stamps, at)
    if (checked !== undefined) heads.push([key, checked])
  }
  return heads
}

/** Inserts a head where a list has it that was read from the store. */
function place(list: DocumentHead[], head: DocumentHead): void {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareHeads(at(list, middle), head) < 0) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, head)
}

/** Later changes first, then ids by their bytes, as both engines order them. */
function compareHeads(a: DocumentHead, b: DocumentHead): number {
  return b.updatedAtMs - a.updatedAtMs || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))
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
    Object.is(known.lineageCrc32 ?? Number.NaN, stamps[at + 8]) &&
    !Number.isNaN(stamps[at + 3]) &&
    !Number.isNaN(stamps[at + 4])
  )
}

/** Returns the remembered head with the log numbers of the stamp; `undefined` when the row has changed. */
function current(known: CheckedHead | undefined, stamps: Float64Array, at: number): CheckedHead | undefined {
  if (!isSame(known, stamps, at)) return undefined
  const { head } = known
  const [lastSeq, coveredSeq, bodyAhead] = [stamps[at + 3] as number, stamps[at + 4] as number, stamps[at + 5] === 1]
  const owner = ownerOf(head, stamps[at + 6] as number, stamps[at + 7] as number)
  const isSameLog = head.lastSeq === lastSeq && head.coveredSeq === coveredSeq && head.bodyAhead === bodyAhead
  return isSameLog && owner === head.owner ? known : { ...known, head: { ...head, lastSeq, coveredSeq, bodyAhead, owner } }
}

/** Returns the owner. Returns the known object when owner and epoch are unchanged, so that the head can stay the same object. */
function ownerOf({ owner: known }: DocumentHead, owner: number, epoch: number): DocumentHead['owner'] {
  if (Number.isNaN(owner)) return null
  return known?.owner === owner && known.epoch === epoch ? known : { owner, epoch }
}

/** A head that was written after its stamp was read keeps its place in the list. */
function ordered(heads: readonly DocumentHead[]): readonly DocumentHead[] {
  const inOrder = heads.every((head, i) => i === 0 || (heads[i - 1]?.updatedAtMs ?? 0) >= head.updatedAtMs)
  return inOrder ? heads : heads.toSorted((a, b) => b.updatedAtMs - a.updatedAtMs)
}

/** The workspaces whose list was read longest ago are forgotten first. */
function remember(workspaces: Map<string, Remembered>, workspaceId: string, read: Remembered, maxBytes: number): void {
  workspaces.delete(workspaceId)
  if (read.bytes > maxBytes) return
  let total = read.bytes
  for (const other of workspaces.values()) total += other.bytes
  for (const [oldest, other] of workspaces) {
    if (total <= maxBytes) break
    workspaces.delete(oldest)
    total -= other.bytes
  }
  workspaces.set(workspaceId, read)
}

function bytesOf(heads: Heads): number {
  let bytes = 0
  for (const head of heads.values()) bytes += head.bytes
  return bytes
}
