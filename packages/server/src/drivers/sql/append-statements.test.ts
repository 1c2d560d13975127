import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { openDatabase } from './database.ts'
import { silentLogger } from '../../kernel/log.ts'
import type { StorageHost } from './storage-host.ts'
import { nodeRows } from './testing/nodes-under-test.ts'
import { onPostgres } from './testing/on-postgres.ts'
import { openHost, temporaryStores } from './testing/store-under-test.ts'

/** The executed statements in order, each with its number of values. */
let ran: string[] = []
let restore: () => void = () => undefined

/** Records each call of the methods `names` in the form that `describeCall` returns. */
function watch(prototype: object, names: readonly string[], describeCall: (self: unknown, args: readonly unknown[]) => string) {
  const verbs = prototype as Record<string, (...args: unknown[]) => unknown>
  const originals = names.map((name) => [name, verbs[name]] as const)
  for (const [name, original] of originals) {
    verbs[name] = function (this: unknown, ...args: unknown[]) {
      ran.push(describeCall(this, args))
      return original?.apply(this, args)
    }
  }
  restore = () => {
    for (const [name, original] of originals) if (original !== undefined) verbs[name] = original
  }
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
/** Shortens a statement to its first words, which are enough to distinguish the statements. */
const short = (text: string): string => inOneLine(text).replace(/ (set|\(key, seq|from unnest).*/, '')

/** Runs three edits of two documents, in one commit. */
async function editOnce(host: StorageHost, epoch?: number): Promise<readonly string[]> {
  const keys: number[] = []
  for (const id of ['one', 'two']) {
    const head = written(await host.documents.write(creation({ workspaceId: crypto.randomUUID(), id })))
    if (epoch !== undefined) await host.ownership.acquire(head.key)
    keys.push(head.key)
  }
  const [one = 0, two = 0] = keys
  const record = (key: number, afterSeq: number) => ({
    ...{ key, afterSeq, actor: 'ada', atMs: 5, update: update(1) },
    ...(epoch !== undefined && { epoch }),
  })
  ran = []
  const outcomes = await host.updates.append([record(one, 0), record(two, 0), record(one, 1)])
  const statements = ran
  expect(outcomes.map(({ kind }) => kind)).toEqual(['appended', 'appended', 'appended'])
  return statements
}

afterEach(() => restore())

describe('SQLite', () => {
  const newStore = temporaryStores()
  beforeEach(() => {
    const statement = new DatabaseSync(':memory:').prepare('select 1')
    watch(Object.getPrototypeOf(statement) as object, ['run', 'all', 'get'], (self, args) => {
      return `${short((self as { sourceSQL: string }).sourceSQL)}: ${args.length}`
    })
  })
  const expected = [
    'begin: 0',
    'update log_heads: 3',
    'update log_heads: 3',
    'insert into updates_recent: 6',
    'insert into updates_recent: 6',
    'insert into updates_recent: 6',
    'commit: 0',
    'pragma wal_checkpoint(noop): 0',
  ]

  it('[LIFE-7] edits of a single relay run one statement for each record and each document, and compare no owner', async () => {
    const host = await openHost(newStore().url)
    expect(await editOnce(host)).toEqual(expected)
    await host[Symbol.asyncDispose]()
  })
})

await onPostgres((url) => {
  describe('PostgreSQL', () => {
    beforeEach(() => {
      watch(pg.Client.prototype, ['query'], (_, [query, values]) => {
        const text = typeof query === 'string' ? query : (query as { text: string }).text
        const given = (values ?? (query as { values?: unknown[] }).values ?? []) as readonly unknown[]
        return `${short(text)}: ${given.length}`
      })
    })
    const withoutBeats = (statements: readonly string[]) => statements.filter((text) => !text.startsWith('update instances'))

    it('[LIFE-7] edits of a single relay run one statement for any number of documents, which also locks its place', async () => {
      const host = await openHost(url, { onLoss: () => undefined })
      expect(withoutBeats(await editOnce(host))).toEqual([
        'with held as materialized (select 1 from instances where holder = $14 for key share), moved as ( update log_heads: 14',
      ])
      await host[Symbol.asyncDispose]()
    })

    it('[LIFE-7] edits of a tool run four statements and note that the store was changed beside the relay', async () => {
      const host = await openHost(url)
      expect(await editOnce(host)).toEqual([
        'begin: 0',
        'update log_heads: 5',
        'insert into updates: 8',
        expect.stringContaining('insert into store_facts'),
        'commit: 0',
      ])
      await host[Symbol.asyncDispose]()
    })

    it('[LIFE-26] edits of one of several nodes run one statement, which is a transaction and compares the owner', async () => {
      const rows = nodeRows(await openDatabase(url, { synchronous: 'FULL' }, silentLogger))
      const host = await openHost(url, { node: { inc: await rows.register() } })
      expect(await editOnce(host, 1)).toEqual(['with moved as ( update log_heads: 13'])
      await host[Symbol.asyncDispose]()
      await rows[Symbol.asyncDispose]()
    })
  })
})
