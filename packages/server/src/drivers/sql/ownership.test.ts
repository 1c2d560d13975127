import { describe, expect, it } from 'vitest'
import { describeOwnershipContract } from '../../sync/ownership.contract.ts'
import { silentLogger } from '../../kernel/log.ts'
import { mayTake, type Standing } from './ownership.ts'
import { openSqliteBeside } from './sqlite.ts'
import { openStoreSource } from './store-source.ts'
import { nodeRows, storesOfNode } from './testing/nodes-under-test.ts'
import { openHost, temporaryStore, temporaryStores } from './testing/store-under-test.ts'

// Only one process can use a SQLite file. Here it acts as one node after the other.
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
    ['may be taken when the lease of its owner is over', owned(15_000), undefined, 'ended'],
    ['may not be taken when the lease of its owner ends in 1 ms', owned(14_999), undefined, null],
    ['may be taken when its owner has left', owned(0, { leaseUntilMs: null }), undefined, 'ended'],
    ['may be taken when its owner was seen and is silent for more than 3 s', owned(3_001), seen, 'silent'],
    ['may not be taken when its owner was seen and is silent for 3 s', owned(3_000), seen, null],
    ['may not be taken from a silent owner when another owner was seen', owned(9_000), { owner: 8, epoch: 3 }, null],
    ['may not be taken from a silent owner when another epoch was seen', owned(9_000), { owner: 7, epoch: 2 }, null],
    [
      'may be taken from a silent owner when the last takeover was 5 s ago',
      owned(9_000, { takenAtMs: NOW_MS - 5_000 }),
      seen,
      'silent',
    ],
    [
      'may not be taken from a silent owner when the last takeover was less than 5 s ago',
      owned(9_000, { takenAtMs: NOW_MS - 4_999 }),
      seen,
      null,
    ],
    [
      'may be taken when the lease of its owner is over, however recent the last takeover',
      owned(15_000, { takenAtMs: NOW_MS - 1 }),
      undefined,
      'ended',
    ],
  ] as const)('[LIFE-26] a document %s', (_, standing, known, may) => {
    expect(mayTake(standing, known)).toBe(may)
  })
})

const newStore = temporaryStores()

it('[LIFE-26] a relay that is not one of several nodes owns nothing', async () => {
  const host = await openHost(newStore().url)
  await expect(host.ownership.acquire(1)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await host[Symbol.asyncDispose]()
})

it('[LIFE-26] a backup holds the epochs of documents, but no owners and no nodes', async () => {
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
