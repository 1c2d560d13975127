/**
 * Measures the cost of listing a large workspace, including the way to the storage thread and back. `node list-bench.ts [documents] [url]` prints in
 * milliseconds: the time in the store, choosing the documents that the reader may see, the metadata, the JSON, and computing the usage.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Access } from '../../../access/access.ts'
import { PRIVATE_DOCS } from '../../../access/testing/policies.ts'
import { aGrant, granted, hashOf } from '../../../blobs/testing/ledger-requests.ts'
import { pageOf } from '../../../documents/listing.ts'
import { documentMetadata } from '../../../documents/metadata.ts'
import { documentLevel } from '../../../documents/put-plan.ts'
import { bodyOf, creation } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { openStorage, type Storage } from '../storage.ts'

const documentCount = Number(process.argv[2] ?? 10_000)
const directory = mkdtempSync(join(tmpdir(), 'list-bench-'))
const url = process.argv[3] ?? `sqlite:${join(directory, 'relay.db')}`
const ROUNDS = 20
const workspaceId = 'bench'
const access = { sub: 'bob', workspaceId, role: 'member' } as Access
const EVERYTHING = { limit: null, after: null, titlePart: null, collectionId: undefined }

async function seed({ documents, blobs }: Storage): Promise<void> {
  for (let from = 0; from < documentCount; from += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, documentCount - from) }, async (_, i) => {
        const hash = hashOf(`blob ${from + i}`)
        const carried = { tags: ['plan', 'draft'], lastModifiedBy: 'ada', lastModifiedByName: 'ada' }
        const body = bodyOf(JSON.stringify({ blobRef: hash }), { title: `Document ${from + i}`, canvasPageCount: 2, carried })
        const set = { ownerId: 'ada', ownerName: 'Ada', sharedWith: [{ userId: 'bob', permission: 'edit' }], body }
        await documents.write(creation({ workspaceId, id: `doc-${from + i}` }, '', { set, nowMs: 1_700_000_000_000 + from + i }))
        await granted(blobs, aGrant(workspaceId, hash))
      }),
    )
  }
}

async function round({ documents, blobs }: Storage): Promise<string> {
  const marks = [performance.now()]
  const mark = <T>(value: T): T => {
    marks.push(performance.now())
    return value
  }
  const heads = mark(await documents.list(workspaceId))
  const page = mark(
    pageOf(heads, EVERYTHING, (head) => {
      const level = documentLevel(access, head, PRIVATE_DOCS)
      return level === 'none' ? null : { sub: access.sub, level }
    }),
  )
  const items = mark(page.items.map(({ head, reader }) => documentMetadata(head, reader)))
  const json = mark(JSON.stringify(items))
  mark((await documents.usedBytes(workspaceId)) + (await blobs.meteredBytes(workspaceId)))
  const [list, choose, metadata, text, usage] = marks.slice(1).map((at, i) => (at - (marks[i] ?? 0)).toFixed(1))
  const total = ((marks[4] ?? 0) - (marks[0] ?? 0)).toFixed(1)
  return `total ${total} = list ${list} + choose ${choose} + metadata ${metadata} + JSON ${text} (${json.length} bytes); usage ${usage}`
}

async function main(): Promise<void> {
  await using storage = await openStorage({ url, commitDelayMs: 0, log: silentLogger })
  await seed(storage)
  for (let i = 0; i < ROUNDS; i++) process.stdout.write(`${await round(storage)}\n`)
}

await main().finally(() => rmSync(directory, { recursive: true, force: true }))
