/**
 * The seeds of PostgreSQL's advisory locks. A lock is a number made of a name and a seed, so names of different kinds that are the same text
 * need different seeds: else one waits for the other for no reason. Every program that uses a database must take the same lock for the
 * same thing, so a seed stays what it is from one release to the next.
 */
export const LOCK_SEEDS = {
  /** By the id of the workspace. */
  workspace: 7,
  /** One lock for all that concerns the whole store, and one for making the tables of the search index. */
  store: 8,
  /** By the hash of the bytes. */
  blob: 9,
  /** By the name of the job; a lock of two numbers, of which this is the second one. */
  job: 10,
  /** By the id of the workspace whose seats are counted. */
  seats: 11,
  /** By the key of the document that the search index takes in. */
  indexedDocument: 12,
} as const
