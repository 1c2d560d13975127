/**
 * The seeds of PostgreSQL's advisory locks. The number of a lock is made of a name and a seed. Names of different kinds may be the same text, so each
 * kind has its own seed: otherwise one lock would wait for another without reason. All programs on a database must take the same lock for the same
 * thing, so a seed must not change between releases.
 */
export const LOCK_SEEDS = {
  /** By the id of the workspace. */
  workspace: 7,
  /** One lock for work that concerns the whole store, and one for creating the tables of the search index. */
  store: 8,
  /** By the hash of the bytes. */
  blob: 9,
  /** By the name of the job. This lock has two numbers, and the seed is the second one. */
  job: 10,
  /** By the id of the workspace whose seats are counted. */
  seats: 11,
  /** By the key of the document that the search index takes in. */
  indexedDocument: 12,
} as const
