import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import type { BlobReaders } from '../blobs/blob-readers.port.ts'
import { hashOf, someBytes } from '../blobs/testing/blob-bytes.ts'
import { type BlobWorkspace, callerOf, openBlobWorkspace } from '../blobs/testing/blob-workspace.ts'
import { createBlobReaders } from './blob-readers.ts'
import type { DocumentHead, DocumentRef } from './document-store.port.ts'
import { OPEN_DOCS, PRIVATE_DOCS } from '../access/testing/policies.ts'

const hash = hashOf(someBytes(1))
const ann = callerOf()
const bob = callerOf({ sub: 'bob' })

let workspace: BlobWorkspace
let resident: readonly string[] = []
let settled: DocumentRef[] = []
/** Runs while a document is settled; a test stores the live edits here. */
let onSettle: (ref: DocumentRef) => Promise<void>
beforeEach(async () => {
  workspace = await openBlobWorkspace()
  resident = []
  settled = []
  onSettle = async () => {}
})
afterEach(() => workspace[Symbol.asyncDispose]())

const readers = (accessPolicy = PRIVATE_DOCS): BlobReaders =>
  createBlobReaders({
    store: workspace.documents,
    residents: {
      isResident: ({ id }) => resident.includes(id),
      async settleAll(heads) {
        settled.push(...heads.map(({ workspaceId, id }) => ({ workspaceId, id })))
        await Promise.allSettled(heads.map(onSettle))
        return heads.length
      },
    },
    accessPolicy,
  })
const mayRead = (access: Access, given = readers()) => given.mayRead(access, hash)

it('[BLOB-6] [PERM-8] a blob can be read by every caller who may read a document that references it, and by nobody else', async () => {
  await workspace.reference(ann, 'doc', [hash])
  const owner = callerOf({ sub: 'olga', role: 'owner' })
  expect([await mayRead(ann), await mayRead(bob), await mayRead(owner)]).toEqual([true, false, true])
  expect(await mayRead(callerOf({ workspaceId: 'other', role: 'owner' }))).toBe(false)
  expect(await mayRead(bob, readers(OPEN_DOCS))).toBe(true)
})

it('[BLOB-6] one readable document that references a blob is enough', async () => {
  await workspace.reference(ann, 'hers', [hash])
  await workspace.reference(bob, 'his', [hash])
  await workspace.reference(bob, 'without', [])
  expect(await mayRead(bob)).toBe(true)
})

it('[BLOB-2] [BLOB-6] open documents that the caller may read are settled before their blob references are checked', async () => {
  await workspace.reference(ann, 'open', [])
  await workspace.reference(bob, 'foreign', [])
  await workspace.reference(ann, 'closed', [])
  resident = ['open', 'foreign']
  onSettle = async () => {
    const list = await workspace.documents.list('acme')
    await rewrite(list.find(({ id }) => id === 'open') as DocumentHead)
  }
  expect(await mayRead(ann)).toBe(true)
  expect(settled).toEqual([{ workspaceId: 'acme', id: 'open' }])
})

it('[BLOB-6] [LIFE-8] when a live document cannot be settled, references in stored documents still grant access', async () => {
  await workspace.reference(ann, 'open', [])
  resident = ['open']
  onSettle = () => Promise.reject(new Error('stuck'))
  expect(await mayRead(ann)).toBe(false)
  await workspace.reference(ann, 'stored', [hash])
  expect(await mayRead(ann)).toBe(true)
})

async function rewrite(head: DocumentHead): Promise<void> {
  const body = { bytes: new TextEncoder().encode('{}'), facts: head.facts, blobReferences: [hash] }
  const outcome = await workspace.documents.write({
    ref: head,
    expect: { kind: 'document', key: head.key, version: head.version },
    set: { body },
    bump: true,
    nowMs: 1,
    quotaBytes: null,
    log: { kind: 'cold' },
  })
  expect(outcome.kind).toBe('written')
}
