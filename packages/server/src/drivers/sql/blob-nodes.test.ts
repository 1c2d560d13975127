import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { aGrant, aPresigned, aStream, granted, newHash } from '../../blobs/testing/ledger-requests.ts'
import { change, creation, written } from '../../documents/testing/document-writes.ts'
import type { StorageHost } from './storage-host.ts'
import { openPostgresUnderTest, type PostgresUnderTest } from './testing/postgres-under-test.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

it('[Q2] SQLite: uploads that an ended process was receiving are dropped at the next start, presigned uploads are kept', async () => {
  const { url, remove } = temporaryStore()
  cleanups.push(remove)
  const [streamed, staged, held] = [newHash(), newHash(), newHash()]
  const before = await openHost(url)
  await before.blobs.reserve(aStream('w', streamed), 1000, 1000)
  await before.blobs.reserve(aStream('w', null), 1000, 1000)
  await before.blobs.reserve(aStream('w', held), 1000, 1000)
  await before.blobs.reserve(aPresigned('w', staged, { bytes: 300 }), 1000, 1000)
  await granted(before.blobs, aGrant('w', held))
  await before[Symbol.asyncDispose]()
  const after = await openHost(url)
  cleanups.push(async () => after[Symbol.asyncDispose]())
  expect(await after.blobs.orphans(10)).toEqual([streamed])
  expect(await after.blobs.staged('w', staged)).toHaveLength(1)
  expect(await after.blobs.reserve(aStream('w', null, { bytes: 601 }), 1000, 1000)).toMatchObject({ usedBytes: 400 })
  expect(await after.blobs.reserve(aStream('w', null, { bytes: 600 }), 1000, 1000)).toEqual({ kind: 'admitted' })
})

const probe = await openPostgresUnderTest()
if (typeof probe === 'string') process.stderr.write(`skipped: ${probe}\n`)

describe.skipIf(typeof probe === 'string')('several nodes on one PostgreSQL', () => {
  const server = probe as PostgresUnderTest
  const nodes: StorageHost[] = []
  const node = (i: number): StorageHost => nodes[i % nodes.length] as StorageHost
  const usedBytes = async (ws: string) => (await node(0).blobs.meteredBytes(ws)) + (await node(0).documents.usedBytes(ws))
  beforeAll(async () => {
    nodes.push(...(await Promise.all([1, 2, 3].map(() => openHost(server.url)))))
  })
  afterAll(async () => {
    for (const host of nodes) await host[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  it('[Q2] a starting node keeps the uploads that other nodes receive', async () => {
    await node(0).blobs.reserve(aStream('streams', newHash(), { bytes: 60 }), 100, 1000)
    const late = await openHost(server.url)
    cleanups.push(async () => late[Symbol.asyncDispose]())
    expect(await late.blobs.reserve(aStream('streams', null, { bytes: 41 }), 100, 1000)).toMatchObject({ usedBytes: 60 })
  })

  it('[R-5] [BLOB-14] uploads on several nodes are granted only as far as they fit into the quota together', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, async (_, i) => {
        const { blobs } = node(i)
        const upload = aStream('r5', newHash(), { bytes: 10 })
        const admission = await blobs.reserve(upload, 205, 1000)
        if (admission.kind !== 'admitted') return admission.kind
        const request = { reservationId: upload.id, sizeBytes: 10, quotaBytes: 205 }
        const outcome = await granted(blobs, aGrant('r5', upload.hash as string, request))
        expect(await usedBytes('r5')).toBeLessThanOrEqual(205)
        return outcome.kind
      }),
    )
    expect(outcomes.filter((kind) => kind === 'granted')).toHaveLength(20)
    expect(await usedBytes('r5')).toBe(200)
  })

  it('[R-6] [BLOB-14] saves and uploads on several nodes together stay within the quota', async () => {
    const ref = (i: number) => ({ workspaceId: 'r6', id: `d${i}` })
    const heads = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => written(await node(i).documents.write(creation(ref(i), 'x'.repeat(10))))),
    )
    await Promise.all([
      ...heads.map((head, i) => node(i).documents.write(change(head, 'y'.repeat(60 + i), { quotaBytes: 400, bump: false }))),
      ...Array.from({ length: 12 }, (_, i) =>
        granted(node(i).blobs, aGrant('r6', newHash(), { sizeBytes: 45, quotaBytes: 400 })),
      ),
      node(1).documents.remove(heads[0] as (typeof heads)[number], heads[0]?.key ?? 0, 5000),
    ])
    expect(await usedBytes('r6')).toBeLessThanOrEqual(400)
    expect(await usedBytes('r6')).toBeGreaterThan(200)
  })

  it('[BLOB-15] a blob that exists after a save references it is kept, whichever nodes release meanwhile', async () => {
    for (let round = 0; round < 25; round++) {
      const hash = newHash()
      await granted(node(0).blobs, aGrant('race', hash))
      const naming = JSON.stringify({ blobRef: hash })
      const [outcome] = await Promise.all([
        node(1).documents.write(creation({ workspaceId: 'race', id: `d${round}` }, naming)),
        node(2).blobs.releaseUnreferenced(1000, 10, 2000),
        node(0).blobs.releaseUnreferenced(1000, 10, 2000),
      ])
      expect(outcome.kind).toBe('written')
      const found = (await node(1).blobs.find('race', hash)) !== null
      expect(await node(0).blobs.orphans(1000)).toEqual(
        found ? expect.not.arrayContaining([hash]) : expect.arrayContaining([hash]),
      )
      await node(0).blobs.releaseUnreferenced(1_000_000, 10, 1_000_000)
      expect((await node(1).blobs.find('race', hash)) !== null).toBe(found)
    }
  })

  it('[Q6] a blob becomes an orphan when the last of several workspaces releases it, on any node', async () => {
    for (let round = 0; round < 15; round++) {
      const hash = newHash()
      for (const ws of ['q6a', 'q6b', 'q6c']) await granted(node(0).blobs, aGrant(ws, hash, { nowMs: 3000 }))
      await Promise.all([0, 1, 2].map((i) => node(i).blobs.releaseUnreferenced(3000, 1, 9000)))
      for (let i = 0; i < 3; i++) await node(i).blobs.releaseUnreferenced(3000, 10, 9000)
      expect(await node(1).blobs.orphans(1000)).toContain(hash)
    }
  })
})
