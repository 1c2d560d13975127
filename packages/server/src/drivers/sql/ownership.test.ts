import { describe, expect, it } from 'vitest'
import { describeOwnershipContract } from '../../sync/ownership.contract.ts'
import { silentLogger } from '../../kernel/log.ts'
import { mayTake, type Standing } from './ownership.ts'
import { openSqliteBeside } from './sqlite.ts'
import { openStoreSource } from './store-source.ts'
import { nodeRows, storesOfNode } from './testing/nodes-under-test.ts'
import { openHost, temporaryStore, temporaryStores } from './testing/store-under-test.ts'

// SQLite has one process, which here is one node after the other.
describeOwnershipContract('SQLite', async () => {
  const { url, path, remove } = temporaryStore()
  const node = { inc: null }
  const host = await openHost(url, { node })
  const rows = nodeRows(openSqliteBeside(path))
  return {
    ...rows,
    join: async () => storesOfNode(host, node, await rows.register()),
    async [Symbol.asyncDispose]() {
      await rows[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
      remove()
    },
  }
})

describe('when a node may take a document from its owner', () => {
  const NOW_MS = 1_000_000
  const seen = { owner: 7, epoch: 3 }
  const owned = (silentMs: number, more: Partial<Standing> = {}): Standing => ({
    ...{ by: seen, leaseUntilMs: NOW_MS - silentMs + 15_000, takenAtMs: null, nowMs: NOW_MS },
    ...more,
  })

  it.each([
    ['the lease of the owner is over', owned(15_000), undefined, 'ended'],
    ['the lease of the owner ends in 1 ms', owned(14_999), undefined, null],
    ['the owner has left', owned(0, { leaseUntilMs: null }), undefined, 'ended'],
    ['the owner was seen and is silent for more than 3 s', owned(3_001), seen, 'silent'],
    ['the owner was seen and is silent for 3 s', owned(3_000), seen, null],
    ['another owner was seen', owned(9_000), { owner: 8, epoch: 3 }, null],
    ['another epoch was seen', owned(9_000), { owner: 7, epoch: 2 }, null],
    ['the document was taken 5 s ago', owned(9_000, { takenAtMs: NOW_MS - 5_000 }), seen, 'silent'],
    ['the document was taken less than 5 s ago', owned(9_000, { takenAtMs: NOW_MS - 4_999 }), seen, null],
    ['the lease is over, however new the last takeover', owned(15_000, { takenAtMs: NOW_MS - 1 }), undefined, 'ended'],
  ] as const)('[LIFE-26] %s', (_, standing, known, may) => {
    expect(mayTake(standing, known)).toBe(may)
  })
})

const newStore = temporaryStores()

it('[LIFE-26] a relay that is not one of several nodes owns nothing', async () => {
  const host = await openHost(newStore().url)
  await expect(host.ownership.acquire(1)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await host[Symbol.asyncDispose]()
})

it('[LIFE-26] a backup has the epochs of documents, and neither owners nor nodes', async () => {
  const { url } = newStore()
  await (await openHost(url))[Symbol.asyncDispose]()
  await using source = await openStoreSource(url, silentLogger)
  const tables = await source.atOneMoment(async ({ layout }) => layout.tables)
  expect(tables.find(({ name }) => name === 'log_heads')?.columns).toEqual([
    ...['key', 'last_seq', 'covered_seq', 'body_ahead', 'flags_crc32', 'epoch'],
  ])
  expect(tables.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['nodes']))
  expect(tables.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['takeovers']))
})
