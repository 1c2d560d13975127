import type { HeadLists } from './head-stamps.ts'
import type { StoreControl, Stores } from './stores.ts'

/** The ports that the storage thread serves. */
export interface Ports extends Stores {
  /** The client builds `documents.list` from these calls. */
  readonly heads: HeadLists
  readonly control: StoreControl & { close(): Promise<void> }
}

/**
 * What a call does to the store.
 * - `read` changes nothing: when the thread ends before it answers, the call is rejected with UNAVAILABLE.
 * - `long-read` is a read whose answer may be a whole document: such calls wait for a turn in the thread. [C3]
 * - `write`: when the thread ends before it answers, nobody knows whether the change was stored: NOT_PERSISTED. [C7]
 */
export type VerbKind = 'read' | 'long-read' | 'write'

type VerbTable = { readonly [P in keyof Ports]: { readonly [V in keyof Ports[P]]: VerbKind } }

/**
 * Every method of every port. The calls of clients, the methods that the thread serves, and the way it answers follow from this table. A port or
 * method that is missing here, or does not exist, does not compile.
 */
export const VERBS = {
  documents: {
    state: 'read',
    heads: 'read',
    read: 'long-read',
    write: 'write',
    remembered: 'read',
    overQuota: 'read',
    remove: 'write',
    list: 'read',
    referencing: 'read',
    usedBytes: 'read',
    formerClients: 'read',
    giveLineages: 'write',
    purgeTombstones: 'write',
    purgeFormerClients: 'write',
    purgeRemembered: 'write',
    behind: 'read',
  },
  calls: { list: 'read', read: 'read', purge: 'write', totalBytes: 'read' },
  heads: { stamps: 'read', heads: 'read' },
  updates: {
    append: 'write',
    load: 'long-read',
    after: 'read',
    compact: 'write',
    rebuild: 'write',
    purgeRemovals: 'write',
  },
  ownership: { acquire: 'write', release: 'write', handOver: 'write' },
  revocations: { add: 'write', all: 'read', cursor: 'read' },
  recovery: { list: 'read', read: 'long-read', capture: 'write', restore: 'write' },
  blobs: {
    find: 'read',
    uploadedBy: 'read',
    reserve: 'write',
    release: 'write',
    announce: 'write',
    grant: 'write',
    staged: 'read',
    overdueStaged: 'read',
    releaseUnreferenced: 'write',
    unsettled: 'read',
    orphans: 'read',
    strike: 'write',
    struck: 'read',
    forget: 'write',
    meteredBytes: 'read',
  },
  registries: { read: 'read', replace: 'write', configBytes: 'read' },
  shareLinks: { issue: 'write', list: 'read', revoke: 'write', find: 'read', purgeExpired: 'write' },
  seats: { take: 'write', change: 'write', release: 'write', connections: 'read', editors: 'read' },
  nodes: { register: 'write', pulse: 'read', drain: 'write', leave: 'write' },
  changeFeed: { begin: 'read', read: 'read', purge: 'write' },
  revocationFeed: { begin: 'read', read: 'read', purge: 'write' },
  jobLeases: { claim: 'write', release: 'write' },
  control: { ping: 'read', stats: 'read', totals: 'read', close: 'write' },
} as const satisfies VerbTable

/** Returns the kind of a method; `undefined` when the port has no such method. */
export function kindOf(port: keyof Ports, verb: string): VerbKind | undefined {
  const kinds: Readonly<Record<string, VerbKind>> = VERBS[port]
  return kinds[verb]
}
