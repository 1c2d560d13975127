import type { DocumentHead, DocumentStore } from '../../documents/document-store.port.ts'
import { at } from '../../kernel/at.ts'
import { type CheckedHead, type HeadLists, STAMP, type Stamps } from './head-stamps.ts'

type Heads = ReadonlyMap<number, CheckedHead>

interface Remembered {
  /** The stamps of the whole list; `null` when something has changed since, or when a row was left out. */
  readonly numbers: Uint8Array | null
  /** The mark of the last reading; `null` when a row was left out of the list, so that the row is read and reported again. */
  readonly mark: number | null
  /** The heads of the list by key; changed together with the list. */
  readonly heads: Map<number, CheckedHead>
  readonly list: readonly DocumentHead[]
  readonly bytes: number
}

/** Maximum number of heads read in one call, so that an answer does not block the receiving thread for long. */
const CHUNK = 1000
/** Maximum bytes of remembered heads, for all workspaces together. */
const MAX_REMEMBERED_BYTES = 64 << 20

/**
 * Makes a `DocumentStore.list` that remembers heads. Only heads whose row has changed are read again, and while no row changes, every call returns
 * the same array. When the store knows what has changed since the last call, only those rows are compared; otherwise all rows are compared by key,
 * version and checksums. Writes of other processes are seen as well. Calls for a workspace whose rows are being read share one further reading that
 * begins afterwards, because several simultaneous searches must not fill the storage thread with lists.
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

/** Removes the heads of `keys` from the remembered list, and adds those that are stored now. */
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

/** Returns the present heads by key: those just read, and the remembered ones that have not changed. */
function currentHeads(stamps: Float64Array, read: Heads, known: Heads): readonly (readonly [number, CheckedHead])[] {
  const heads: (readonly [number, CheckedHead])[] = []
  for (let at = 0; at < stamps.length; at += STAMP.length) {
    const key = stamps[at] as number
    const checked = read.get(key) ?? current(known.get(key), stamps, at)
    if (checked !== undefined) heads.push([key, checked])
  }
  return heads
}

/** Inserts a head at its place in the order of lists from the store. */
function place(list: DocumentHead[], head: DocumentHead): void {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareHeads(at(list, middle), head) < 0) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, head)
}

/** Orders by later change first, then by the bytes of the id, as both engines do. */
function compareHeads(a: DocumentHead, b: DocumentHead): number {
  return b.updatedAtMs - a.updatedAtMs || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))
}

/** Runs `read` for one call at a time for each workspace. Calls that come during a run share the next run, so that it sees all earlier writes. */
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

/**
 * Whether the remembered head still has the version and checksums of the stamp. A row without log numbers is damaged and counts as changed, so that
 * it is read and reported.
 */
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

/** Returns the owner in a stamp. Returns the known object when owner and epoch are unchanged, so that the head can stay the same object. */
function ownerOf({ owner: known }: DocumentHead, owner: number, epoch: number): DocumentHead['owner'] {
  if (Number.isNaN(owner)) return null
  return known?.owner === owner && known.epoch === epoch ? known : { owner, epoch }
}

/** Sorts the heads again when one was written after its stamp was read. */
function ordered(heads: readonly DocumentHead[]): readonly DocumentHead[] {
  const inOrder = heads.every((head, i) => i === 0 || (heads[i - 1]?.updatedAtMs ?? 0) >= head.updatedAtMs)
  return inOrder ? heads : heads.toSorted((a, b) => b.updatedAtMs - a.updatedAtMs)
}

/** Remembers the list of a workspace. Above the limit the workspaces whose list was read longest ago are forgotten. */
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
