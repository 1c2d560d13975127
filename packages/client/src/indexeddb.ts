import * as Y from 'yjs'
import type { CopyScope, Persistence, StoredCopy } from './live/persistence.ts'

export interface IndexedDbOptions {
  /** The name of the database; `docrelay` when absent. */
  readonly name?: string
  /** A copy that was not opened or written for so long is removed at the next opening of any document; 30 when absent. */
  readonly maxAgeDays?: number
  /** The platform's `indexedDB` when absent. */
  readonly factory?: IDBFactory
}

const DAY_MS = 86_400_000
/** So many updates of a copy become one. */
const MERGE_ABOVE = 100
const COPIES = 'copies'
const UPDATES = 'updates'
/** Stands in the key for the workspace when the application named none. */
const UNNAMED = ''

/** Origin, workspace, sub, document, lineage. */
type CopyKey = [string, string, string, string, string]
interface CopyRow {
  readonly key: CopyKey
  readonly usedAt: number
  /** The copy holds words that the relay has not acknowledged. */
  readonly unsaved?: boolean
}
/** A copy with its content. */
interface Found extends Required<Pick<CopyRow, 'key' | 'unsaved'>> {
  readonly update: Uint8Array
}
interface UpdateRow {
  readonly copy: CopyKey
  readonly update: Uint8Array
}

/**
 * Keeps copies of documents in IndexedDB, in plain text: whoever can read the browser's profile can read them. A copy belongs to one
 * person, workspace and relay, and to one lineage of its document; it is removed at sign-out, when the document was deleted or the
 * person may not read it any more, and when it was not used for 30 days. Where no workspace was named when it was made, it is found from
 * every workspace: an application begins to name one when a person has joined a second.
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
      await removeUnused(db, now() - maxAgeDays * DAY_MS)
      const newest = await newestCopy(db, scope, docId, now)
      return storedCopy(database, scope, docId, now, newest)
    },
    async clear({ origin, sub }) {
      await removeCopies(await database(), [origin], ([, , whose]) => sub === null || whose === sub)
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
  return {
    content: newest && { lineage: newest.key[4], update: newest.update, unsaved: newest.unsaved },
    async begin(lineage, update, unsaved = false) {
      key = [origin, workspace, sub, docId, lineage]
      const row: CopyRow = { key, usedAt: now(), unsaved }
      await write(await database(), async (copies, updates) => {
        copies.put(row)
        updates.put({ copy: row.key, update } satisfies UpdateRow)
      })
    },
    async append(update, unsaved = false) {
      const copy = key
      if (copy === null) return false
      return write(await database(), async (copies, updates) => {
        // Another tab may have cleared the copy; an update alone would be a copy with holes.
        if ((await result(copies.getKey(copy))) === undefined) return false
        copies.put({ key: copy, usedAt: now(), unsaved } satisfies CopyRow)
        updates.put({ copy, update } satisfies UpdateRow)
        const count = await result(updates.index('copy').count(copy))
        if (count > MERGE_ABOVE) await mergeCopy(updates, copy)
        return true
      })
    },
    async saved() {
      const copy = key
      if (copy === null) return
      await write(await database(), async (copies) => {
        if ((await result(copies.getKey(copy))) !== undefined) copies.put({ key: copy, usedAt: now() } satisfies CopyRow)
      })
    },
    async remove() {
      const db = await database()
      await removeCopies(db, [origin, workspace, sub, docId])
      if (key !== null) await removeCopies(db, key)
    },
  }
}

/** Replaces the updates of a copy by one. */
async function mergeCopy(updates: IDBObjectStore, copy: CopyKey): Promise<void> {
  const rows = (await result(updates.index('copy').getAll(copy))) as UpdateRow[]
  const update = Y.mergeUpdates(rows.map((row) => row.update))
  for (const id of await result(updates.index('copy').getAllKeys(copy))) updates.delete(id)
  updates.put({ copy, update } satisfies UpdateRow)
}

/** Returns the copy of a document that was used last, with its content. */
async function newestCopy(
  db: IDBDatabase,
  { origin, workspace, sub }: CopyScope,
  docId: string,
  now: () => number,
): Promise<Found | null> {
  return write(db, async (copies, updates) => {
    const copiesIn = async (place: string): Promise<CopyRow[]> => {
      const rows = (await result(copies.getAll(below([origin, place, sub, docId])))) as CopyRow[]
      return rows.sort((a, b) => b.usedAt - a.usedAt)
    }
    const unnamed = workspace === UNNAMED ? [] : await copiesIn(UNNAMED)
    // A copy of the unnamed workspace stays where it is: nobody knows yet that it is of this one.
    const newest = (await copiesIn(workspace))[0] ?? unnamed[0]
    if (newest === undefined) return null
    const twin = unnamed.find(({ key }) => key !== newest.key && key[4] === newest.key[4])
    if (twin !== undefined) await moveCopy(copies, updates, twin.key, newest.key)
    const stored = (await result(updates.index('copy').getAll(newest.key))) as UpdateRow[]
    if (stored.length === 0) return null
    const unsaved = newest.unsaved === true || twin?.unsaved === true
    copies.put({ key: newest.key, usedAt: now(), unsaved } satisfies CopyRow)
    return { key: newest.key, unsaved, update: Y.mergeUpdates(stored.map(({ update }) => update)) }
  })
}

/** Moves what is in one copy into another one of the same document and lineage. */
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

/** Removes the copies whose key begins with these parts and is accepted by `isOne`. */
async function removeCopies(
  db: IDBDatabase,
  parts: readonly string[],
  isOne: (key: CopyKey) => boolean = () => true,
): Promise<void> {
  await write(db, async (copies, updates) => {
    const keys = (await result(copies.getAllKeys(below(parts)))) as CopyKey[]
    for (const key of keys.filter(isOne)) await removeCopy(copies, updates, key)
  })
}

async function removeCopy(copies: IDBObjectStore, updates: IDBObjectStore, key: CopyKey): Promise<void> {
  copies.delete(key)
  for (const id of await result(updates.index('copy').getAllKeys(key))) updates.delete(id)
}

/** The keys that begin with these parts: an array sorts after every text. */
function below(parts: readonly string[]): IDBKeyRange {
  return IDBKeyRange.bound([...parts], [...parts, []])
}

/** Runs `work` in one transaction; resolves with what it returns when everything is durable. When it fails, nothing of it is kept. */
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

/** A transaction whose work fails is aborted; otherwise it would store the requests that were made before the failure. */
function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort()
  } catch {
    // It has ended already, by the request that failed.
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
      // Another tab deletes the database, or the browser took it away.
      db.onversionchange = () => {
        db.close()
        lost()
      }
      db.onclose = lost
      resolve(db)
    }
  })
}
