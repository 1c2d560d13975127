import { expect, it } from 'vitest'
import type { DocumentHead } from './document-store.port.ts'
import { listParts } from './list-answer.ts'
import { documentMetadata } from './metadata.ts'
import { noFacts } from './testing/document-writes.ts'

const reader = { sub: 'ann', level: 'owner' } as const
const itemOf = (id: string, shares: number) => ({
  reader,
  head: {
    key: 1,
    workspaceId: 'default',
    id,
    lineage: '',
    version: 1,
    ownerId: 'ann',
    ownerName: 'Ann',
    collectionId: null,
    sharedWith: Array.from({ length: shares }, (_, i) => ({ userId: `u${i}`, note: 'ä'.repeat(400) })),
    createdAtMs: 1,
    updatedAtMs: 1,
    titleChangedAtMs: 1,
    sizeBytes: 2,
    facts: noFacts,
    lastSeq: 0,
    coveredSeq: 0,
    bodyAhead: false,
    owner: null,
  } satisfies DocumentHead,
})
const read = (parts: readonly Uint8Array[]) => JSON.parse(Buffer.concat(parts).toString()) as unknown

it('[REST-21] [CFG-2] a list of any length is the JSON of its documents, bare or in a member', async () => {
  for (const length of [0, 1, 3]) {
    const items = Array.from({ length }, (_, i) => itemOf(`d${i}`, 1))
    const documents = items.map(({ head }) => documentMetadata(head, reader))
    expect(read(await listParts(items, false))).toEqual(documents)
    expect(read(await listParts(items, true))).toEqual({ documents })
  }
})

it('[C1] [H10] a long list is made in parts, and the event loop serves others between two parts', async () => {
  const items = Array.from({ length: 20 }, (_, i) => itemOf(`d${i}`, 400))
  let rounds = 0
  let isDone = false
  const count = (): void => {
    rounds++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const parts = await listParts(items, false)
  isDone = true
  expect(parts.length).toBeGreaterThan(8)
  expect(rounds).toBeGreaterThanOrEqual(parts.length - 1)
  expect(Math.max(...parts.map((part) => part.byteLength))).toBeLessThan(1_048_576)
  expect(read(parts)).toHaveLength(20)
})
