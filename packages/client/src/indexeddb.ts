import * as Y from 'yjs'
import type { CopyScope, Persistence, StoredCopy } from './live/persistence.ts'

export interface IndexedDbOptions {
  /** The name of the database; `docrelay` when absent. */
  readonly name?: string
  /** A copy that nobody opened or wrote for this many days is removed at the next opening of any document; 30 when absent. */
  readonly maxAgeDays?: number
  /** The platform's `indexedDB` when absent. */
  readonly factory?: IDBFactory
}

const DAY_MS = 86_400_000
/** A copy with more stored updates than this gets them merged into one. */
const MERGE_ABOVE = 100
const COPIES = 'copies'
const UPDATES = 'updates'
/** The workspace part of a key when the application named no workspace. */
const UNNAMED = ''

/** Origin, workspace, sub, document, lineage. */
type CopyKey = [string, string, string, string, string]
interface CopyRow {
  readonly key: CopyKey
  readonly usedAt: number
  /** Whether the copy holds words that the relay has not acknowledged, which is when it has marks. */
  readonly unsaved?: boolean
  /** Absent in rows that a former release wrote. */
  readonly marks?: readonly Mark[]
}
/**
 * Marks a copy that holds unacknowledged words of one tab. The mark is the key of the update that brought the words, so no two tabs have the same
 * mark. When the relay has acknowledged all words of a tab, the tab removes its own mark and the marks that it found when it opened the copy,
 * since it has sent those words too. So the mark of a tab that ended stays until another tab has sent its words, and no tab removes the mark of
 * another open tab.
 */
type Mark = number
/** The mark for words that a former release wrote, without a known tab. */
const UNKNOWN_TAB: Mark = 0
/** A copy with its content. */
interface Found {
  readonly key: CopyKey
  readonly marks: readonly Mark[]
  readonly update: Uint8Array
}
interface UpdateRow {
  readonly copy: CopyKey
  readonly update: Uint8Array
}

/**
 * Keeps copies of documents in IndexedDB, in plain text: whoever can read the browser's profile can read them. A copy belongs to one person,
 * workspace and relay, and to one lineage of its document. It is removed at sign-out, when the document was deleted or the person may not read it
 * any more, and when it was not used for `maxAgeDays`. A copy that was made without a named workspace is found from every workspace, because an
 * application begins to name one when a person has joined a second.
 */
export function indexedDb({ name = 'docrelay', maxAgeDays = 30, factory }: IndexedDbOptions = {}): Persistence {
  let opening: Promise<IDBDatabase> | null = null
  const database = (): Promise<IDBDatabase> => {
    opening ??= openDatabase(factory ?? globalThis.indexedDB, name, () => {
      opening = null
    }).catch((error: unknown) => {
      opening = null
      throw error
    })
    return opening
  }
  return {
    async open(scope, docId, now) {
      const db = await database()
      await removeUnused(db, now() - maxAgeDays * DAY_MS).catch(() => {})
      // A device that refuses writes, for example for its quota, still returns the copy, which may hold words that are nowhere else.
      const newest = await newestCopy(db, scope, docId, now).catch(() => newestCopy(db, scope, docId, null))
      return storedCopy(database, scope, docId, now, newest)
    },
    async clear({ origin, sub }) {
      await removeCopies(await database(), [origin], ({ key: [, , whose] }) => sub === null || whose === sub)
    },
    async hasUnsaved({ origin, sub }) {
      return write(await database(), async (copies) => {
        const rows = (await result(copies.getAll(below([origin])))) as CopyRow[]
        return rows.some(({ key, unsaved }) => unsaved === true && (sub === null || key[2] === sub))
      })
    },
  }
}

function storedCopy(
  database: () => Promise<IDBDatabase>,
  { origin, workspace, sub }: CopyScope,
  docId: string,
  now: () => number,
  newest: Found | null,
): StoredCopy {
  let key = newest?.key ?? null
  /** The marks that this tab removes when the relay has acknowledged everything: its own, and those that it found in the copy. */
  let mine = newest?.marks ?? []
  /** Stores the marks of a copy: those of other tabs as they are, and `own` in place of this tab's. */
  const mark = (copies: IDBObjectStore, copy: CopyKey, row: CopyRow | undefined, own: readonly Mark[]): void => {
    const others = marksOf(row).filter((each) => !mine.includes(each))
    mine = own
    copies.put(rowOf(copy, now(), [...others, ...own]))
  }
  return {
    content: newest && { lineage: newest.key[4], update: newest.update, unsaved: newest.marks.length > 0 },
    async begin(lineage, update, unsaved = false) {
      const copy: CopyKey = [origin, workspace, sub, docId, lineage]
      key = copy
      await write(await database(), async (copies, updates) => {
        const row = await rowAt(copies, copy)
        const id = await result(updates.put({ copy, update } satisfies UpdateRow))
        mark(copies, copy, row, unsaved ? [id as Mark] : [])
      })
    },
    async append(update, unsaved = false) {
      const copy = key
      if (copy === null) return false
      return write(await database(), async (copies, updates) => {
        // Another tab may have cleared the copy. An update stored alone would make a copy with holes.
        const row = await rowAt(copies, copy)
        if (row === undefined) return false
        const id = await result(updates.put({ copy, update } satisfies UpdateRow))
        mark(copies, copy, row, unsaved ? [id as Mark] : [])
        const count = await result(updates.index('copy').count(copy))
        if (count > MERGE_ABOVE) await mergeCopy(updates, copy)
        return true
      })
    },
    async saved() {
      const copy = key
      if (copy === null) return
      await write(await database(), async (copies) => {
        const row = await rowAt(copies, copy)
        if (row !== undefined) mark(copies, copy, row, [])
      })
    },
    async remove({ keepsUnsaved = false } = {}) {
      const db = await database()
      const isOver = (row: CopyRow): boolean => !keepsUnsaved || marksOf(row).every((each) => mine.includes(each))
      await removeCopies(db, [origin, workspace, sub, docId], isOver)
      if (key !== null) await removeCopies(db, key, isOver)
    },
  }
}

function marksOf(row: CopyRow | undefined): readonly Mark[] {
  return row?.marks ?? (row?.unsaved === true ? [UNKNOWN_TAB] : [])
}

function rowOf(key: CopyKey, usedAt: number, marks: readonly Mark[]): CopyRow {
  return { key, usedAt, unsaved: marks.length > 0, marks }
}

async function rowAt(copies: IDBObjectStore, key: CopyKey): Promise<CopyRow | undefined> {
  return (await result(copies.get(key))) as CopyRow | undefined
}

/** Replaces the updates of a copy by one. */
async function mergeCopy(updates: IDBObjectStore, copy: CopyKey): Promise<void> {
  const rows = (await result(updates.index('copy').getAll(copy))) as UpdateRow[]
  const update = Y.mergeUpdates(rows.map((row) => row.update))
  for (const id of await result(updates.index('copy').getAllKeys(copy))) updates.delete(id)
  updates.put({ copy, update } satisfies UpdateRow)
}

/** Returns the most recently used copy of a document with its content, and records `now` as its time of use. With `null` it writes nothing. */
async function newestCopy(
  db: IDBDatabase,
  { origin, workspace, sub }: CopyScope,
  docId: string,
  now: (() => number) | null,
): Promise<Found | null> {
  return write(db, async (copies, updates) => {
    const copiesIn = async (place: string): Promise<CopyRow[]> => {
      const rows = (await result(copies.getAll(below([origin, place, sub, docId])))) as CopyRow[]
      return rows.sort((a, b) => b.usedAt - a.usedAt)
    }
    const unnamed = workspace === UNNAMED ? [] : await copiesIn(UNNAMED)
    // A copy without a workspace keeps its key, because nobody knows yet whether it belongs to the named workspace.
    const newest = (await copiesIn(workspace))[0] ?? unnamed[0]
    if (newest === undefined) return null
    const twin = now === null ? undefined : unnamed.find(({ key }) => key !== newest.key && key[4] === newest.key[4])
    if (twin !== undefined) await moveCopy(copies, updates, twin.key, newest.key)
    const stored = (await result(updates.index('copy').getAll(newest.key))) as UpdateRow[]
    if (stored.length === 0) return null
    const marks = [...new Set([newest, twin].flatMap(marksOf))]
    if (now !== null) copies.put(rowOf(newest.key, now(), marks))
    return { key: newest.key, marks, update: Y.mergeUpdates(stored.map(({ update }) => update)) }
  })
}

/** Moves the content of one copy into another copy of the same document and lineage. */
async function moveCopy(copies: IDBObjectStore, updates: IDBObjectStore, from: CopyKey, to: CopyKey): Promise<void> {
  const rows = (await result(updates.index('copy').getAll(from))) as UpdateRow[]
  await removeCopy(copies, updates, from)
  for (const { update } of rows) updates.put({ copy: to, update } satisfies UpdateRow)
}

async function removeUnused(db: IDBDatabase, before: number): Promise<void> {
  await write(db, async (copies, updates) => {
    for (const key of await result(copies.index('usedAt').getAllKeys(IDBKeyRange.upperBound(before, true))))
      await removeCopy(copies, updates, key as CopyKey)
  })
}

/** Removes the copies whose key begins with `parts` and whose row `isOne` accepts. */
async function removeCopies(db: IDBDatabase, parts: readonly string[], isOne: (row: CopyRow) => boolean): Promise<void> {
  await write(db, async (copies, updates) => {
    const rows = (await result(copies.getAll(below(parts)))) as CopyRow[]
    for (const { key } of rows.filter(isOne)) await removeCopy(copies, updates, key)
  })
}

async function removeCopy(copies: IDBObjectStore, updates: IDBObjectStore, key: CopyKey): Promise<void> {
  copies.delete(key)
  for (const id of await result(updates.index('copy').getAllKeys(key))) updates.delete(id)
}

/** Returns the range of all keys that begin with `parts`. An array sorts after every text, so it is the upper bound. */
function below(parts: readonly string[]): IDBKeyRange {
  return IDBKeyRange.bound([...parts], [...parts, []])
}

/** Runs `work` in one transaction. Resolves with the result of `work` when everything is durable; stores nothing when `work` fails. */
async function write<T>(db: IDBDatabase, work: (copies: IDBObjectStore, updates: IDBObjectStore) => Promise<T>): Promise<T> {
  const transaction = db.transaction([COPIES, UPDATES], 'readwrite')
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'))
  })
  const worked = work(transaction.objectStore(COPIES), transaction.objectStore(UPDATES)).catch((error: unknown) => {
    abort(transaction)
    throw error
  })
  const [value] = await Promise.all([worked, done])
  return value
}

/** Aborts a transaction whose work failed; without this it would store the requests that were made before the failure. */
function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort()
  } catch {
    // The failed request has already ended the transaction.
  }
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

function openDatabase(factory: IDBFactory | undefined, name: string, lost: () => void): Promise<IDBDatabase> {
  if (factory === undefined) return Promise.reject(new Error('this platform has no IndexedDB'))
  return new Promise((resolve, reject) => {
    const request = factory.open(name, 1)
    request.onupgradeneeded = () => {
      const copies = request.result.createObjectStore(COPIES, { keyPath: 'key' })
      copies.createIndex('usedAt', 'usedAt')
      const updates = request.result.createObjectStore(UPDATES, { autoIncrement: true })
      updates.createIndex('copy', 'copy')
    }
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new Error('another tab keeps an older version of the database open'))
    request.onsuccess = () => {
      const db = request.result
      // Another tab deletes or upgrades the database, or the browser closed it.
      db.onversionchange = () => {
        db.close()
        lost()
      }
      db.onclose = lost
      resolve(db)
    }
  })
}
