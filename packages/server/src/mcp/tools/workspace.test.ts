import { MAX_RESULT_BYTES } from '@docrelay/model/paging'
import { describe, expect, it } from 'vitest'
import type { Creation } from '../../documents/create.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { Once } from '../../documents/once.ts'
import type { ListQuery } from '../../documents/listing.ts'
import { pageOf } from '../../documents/listing.ts'
import { noFacts } from '../../documents/testing/document-writes.ts'
import { RelayError } from '../../kernel/errors.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { runTool, toolCall } from '../testing/tool-call.ts'
import { type WorkspaceDeps, workspaceTools } from './workspace.ts'

const headOf = (i: number): DocumentHead =>
  ({
    id: `doc-${String(i).padStart(5, '0')}`,
    updatedAtMs: 10_000 - Math.floor(i / 3),
    facts: { ...noFacts, title: `Title ${i} é` },
  }) as DocumentHead

function workspaceOf(heads: readonly DocumentHead[], more: Partial<WorkspaceDeps> = {}) {
  const creations: Creation[] = []
  const documents = {
    list: async (_: unknown, query: ListQuery) => pageOf(heads, query, () => ({ sub: 'ann', level: 'view' })),
    create: async (_: unknown, creation: Creation) => {
      creations.push(creation)
      return {
        kind: 'created',
        id: creation.mint('doc'),
        version: 1,
        canvasPageId: creation.mint('page'),
        prosePageId: creation.mint('page'),
      }
    },
  } as unknown as WorkspaceDeps['documents']
  const tools = workspaceTools({
    documents,
    wasDeleted: async () => false,
    usage: async () => ({ docBytes: 3, blobBytes: 4 }),
    maxBlobBytes: 9,
    backend: 'object-storage',
    editorClient: false,
    random: systemRandom,
    staticTokenShare: 'none',
    ...more,
  })
  return { tools, creations, run: (name: string, args: object, call = {}) => runTool(tools, name, toolCall({ ...args }, call)) }
}

describe('list_documents', () => {
  const heads = Array.from({ length: 2_000 }, (_, i) => headOf(i))

  it('[TOOL-23] [TOOL-24] [TOOL-25] list_documents lists each document once, in order, in pages that fit', async () => {
    const { run } = workspaceOf(heads)
    const ids: string[] = []
    let cursor: unknown
    do {
      const part = await run('list_documents', cursor === undefined ? {} : { cursor })
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(MAX_RESULT_BYTES)
      ids.push(...(part['documents'] as readonly { readonly id: string }[]).map(({ id }) => id))
      cursor = part['nextCursor']
    } while (cursor !== undefined)
    expect(ids).toEqual(heads.map(({ id }) => id))
  })

  it('[TOOL-24] a limit above the maximum acts as the maximum, and the last page has no cursor', async () => {
    const short = Array.from({ length: 501 }, (_, i) => ({ ...headOf(i), facts: { ...noFacts, title: '' } }))
    const { run } = workspaceOf(short)
    const first = await run('list_documents', { limit: 9_999 })
    expect([first['returned'], typeof first['nextCursor']]).toEqual([500, 'string'])
    const last = await run('list_documents', { limit: 500, cursor: first['nextCursor'] })
    expect([last['returned'], last['nextCursor']]).toEqual([1, undefined])
  })

  it('[TOOL-list_documents] list_documents finds by part of the name or id, in any case', async () => {
    const { run } = workspaceOf(heads)
    expect(await run('list_documents', { query: 'TITLE 1999' })).toMatchObject({ returned: 1, documents: [{ id: 'doc-01999' }] })
    expect(await run('list_documents', { query: 'DOC-00007' })).toMatchObject({ returned: 1, documents: [{ name: 'Title 7 é' }] })
    expect(await run('list_documents', { query: 'x'.repeat(201) })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'query' })
  })
})

describe('create_document', () => {
  it('[CFG-2] [MCP-20] [TOOL-13] create_document stores the requested form, the owner and a cleaned name', async () => {
    const { run, creations } = workspaceOf([], { editorClient: true })
    expect(await run('create_document', { name: ' a\u0007b ' })).toMatchObject({ name: 'ab', serverVersion: 1 })
    expect(await run('create_document', {}, { isStatic: true })).toMatchObject({ name: 'Untitled Document' })
    expect(creations).toMatchObject([
      { title: 'ab', ownerName: 'ann', form: 'keyed' },
      { title: 'Untitled Document', ownerName: 'MCP integration' },
    ])
    expect(await run('create_document', { name: ' \n ' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'name' })
  })

  it('[TOOL-22] a repeated creation returns the first answer, and a request id used with other arguments is refused', async () => {
    const answering = (outcome: object, once?: Once) => {
      const asked: Creation[] = []
      const create = async (_: unknown, creation: Creation) => (asked.push(creation), outcome)
      const { run } = workspaceOf([], { documents: { create } as unknown as WorkspaceDeps['documents'] })
      return { asked, made: run('create_document', { name: ' a\u0007b ' }, once && { once }) }
    }
    const ids = { id: 'd', canvasPageId: 'c', prosePageId: 'p' }
    const once = { requestId: 'r', request: 'q', digest: 'x' }
    const first = await answering({ kind: 'created', version: 1, ...ids }, once).made
    expect(await answering({ kind: 'repeated', version: 1, answer: ids }, once).made).toEqual({ ...first, replayed: true })
    const refused = { kind: 'refused', code: 'ERR_REQUEST_ID_REUSED', message: 'm', facts: { requestId: 'r' } }
    expect(await answering(refused, once).made).toEqual({ code: 'ERR_REQUEST_ID_REUSED', message: 'm', requestId: 'r' })
    const { asked, made } = answering({ kind: 'created', version: 1, ...ids }, once)
    await made
    expect(asked).toMatchObject([{ once }])
  })

  it('[CONC-9] [TOOL-28] a refused creation returns the reason of the store with an error code of the tools', async () => {
    const refusing = (error: Error) =>
      workspaceOf([], { documents: { create: () => Promise.reject(error) } as unknown as WorkspaceDeps['documents'] }).run(
        'create_document',
        {},
      )
    const quota = { usedBytes: 1, addedBytes: 2, quotaBytes: 2, source: 'claim' }
    expect(await refusing(new RelayError('STORAGE_QUOTA', 'Too much.', quota))).toEqual({
      code: 'ERR_STORAGE_QUOTA',
      message: 'Too much.',
      ...quota,
    })
    const size = { sizeBytes: 2, maxBytes: 1, source: 'config' }
    expect(await refusing(new RelayError('DOC_TOO_LARGE', 'Too long.', size))).toEqual({
      code: 'ERR_DOC_TOO_LARGE',
      message: 'Too long.',
      ...size,
    })
    expect(await refusing(new RelayError('EDIT_FORBIDDEN', 'x', {}))).toMatchObject({
      code: 'ERR_EDIT_FORBIDDEN',
      role: 'member',
    })
    for (const other of [new RelayError('UNAVAILABLE', 'x'), new Error('x')]) await expect(refusing(other)).rejects.toBe(other)
  })
})

it('[TOOL-get_storage] get_storage adds up the stored bytes and returns null for unlimited', async () => {
  const limits = {
    quotaBytes: 100,
    quotaSource: 'claim',
    editorLimit: null,
    editorLimitSource: 'config',
    maxDocBytes: null,
    maxDocBytesSource: 'config',
  }
  expect(await workspaceOf([]).run('get_storage', {}, { access: { limits } })).toEqual({
    usedBytes: 7,
    docBytes: 3,
    blobBytes: 4,
    quotaBytes: 100,
    maxBlobBytes: 9,
    maxDocBytes: null,
    backend: 'object-storage',
  })
})
