import { describe, expect, it } from 'vitest'
import type { BlobGrant } from '../../blobs/blob-ledger.port.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { unknownBlob } from '../../blobs/refusals.ts'
import { type BodyRead, readBody } from '../../documents/read-body.ts'
import { noFacts } from '../../documents/testing/document-writes.ts'
import { runTool, toolCall } from '../testing/tool-call.ts'
import { fileTools } from './files.ts'
import type { ReadingDeps } from './reading.ts'

const hashOf = (i: number): string => i.toString(16).padStart(64, '0')

/** The tools over a document with `count` file shapes. The workspace holds the blobs of the shapes with even numbers. */
function filesOf(count: number, more: { readonly mimeType?: string; readonly lost?: boolean } = {}) {
  const found: string[] = []
  const ttls: (number | undefined)[] = []
  const shapes = Array.from({ length: count }, (_, i) => ({
    id: `s${i}`,
    type: 'file',
    blobRef: hashOf(i),
    fileName: `${i}.pdf`,
    mimeType: 'application/pdf',
  }))
  const bytes = new TextEncoder().encode(JSON.stringify({ pages: [{ id: 'c', name: 'C', shapes }], richTextPages: [] }))
  const record = {
    head: { id: 'd', workspaceId: 'default', version: 3, updatedAtMs: 5, collectionId: null, facts: noFacts },
    body: bytes,
  }
  const blobs: Pick<Blobs, 'find' | 'confirm' | 'deliver'> = {
    async find(_, hash) {
      found.push(hash)
      if (Number(`0x${hash}`) % 2 === 1) throw unknownBlob()
      return { hash, sizeBytes: 12, mimeType: more.mimeType ?? 'image/png' } as BlobGrant
    },
    async confirm() {
      if (more.lost === true) throw unknownBlob()
    },
    async deliver(_, ttlSecs) {
      ttls.push(ttlSecs)
      return { kind: 'redirect', url: 'https://store.test/x?signature', expiresAtMs: 300_000 }
    },
  }
  const documents = {
    get: async () => ({ record, reader: { sub: 'ann', level: 'view' } }),
  } as unknown as ReadingDeps['documents']
  const tools = fileTools({
    documents,
    bodies: { for: () => ({ read: async (given: BodyRead) => readBody(given) }) as ReturnType<ReadingDeps['bodies']['for']> },
    wasDeleted: async () => false,
    blobs,
    blobUrlTtlSecs: 300,
  })
  return { found, ttls, run: (name: string, args: object) => runTool(tools, name, toolCall({ docId: 'd', ...args })) }
}

describe('list_files', () => {
  it('[FILE-1] [TOOL-23] list_files looks up only the files of one page; the pages together list all files', async () => {
    const { found, run } = filesOf(2_000)
    const held: boolean[] = []
    let cursor: unknown
    let parts = 0
    do {
      const part = await run('list_files', cursor === undefined ? {} : { cursor })
      if (parts++ === 0) expect(found.length).toBeLessThan(600)
      held.push(...(part['files'] as readonly { readonly inStore: boolean }[]).map(({ inStore }) => inStore))
      cursor = part['nextCursor']
    } while (cursor !== undefined)
    expect(held).toEqual(Array.from({ length: 2_000 }, (_, i) => i % 2 === 0))
    expect(parts).toBeGreaterThan(4)
  })
})

describe('get_file', () => {
  it('[FILE-4] a file in an object store is returned as a link valid for the lifetime of tool links', async () => {
    const { ttls, run } = filesOf(1)
    expect(await run('get_file', { id: 's0' })).toEqual({
      id: 's0',
      name: '0.pdf',
      hash: hashOf(0),
      mimeType: 'image/png',
      size: 12,
      transport: 'url',
      url: 'https://store.test/x?signature',
      expiresAt: 300_000,
      serverVersion: 3,
      source: 'relay',
    })
    expect(ttls).toEqual([300])
  })

  it('[FILE-3] a file stored with an unknown type is returned with the type that the document names', async () => {
    expect(await filesOf(1, { mimeType: 'application/octet-stream' }).run('get_file', { id: 's0' })).toMatchObject({
      mimeType: 'application/pdf',
    })
  })

  it('[FILE-3] a file that the workspace does not hold, or whose bytes are missing, is not found', async () => {
    expect(await filesOf(2).run('get_file', { id: 's1' })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND', hash: hashOf(1) })
    expect(await filesOf(1, { lost: true }).run('get_file', { id: 's0' })).toMatchObject({
      code: 'ERR_FILE_NOT_FOUND',
      hash: hashOf(0),
    })
  })
})
