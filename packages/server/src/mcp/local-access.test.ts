import { describe, expect, it } from 'vitest'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'
import { type ListPosition, pageOf } from '../documents/listing.ts'
import { noFacts } from '../documents/testing/document-writes.ts'
import { RelayError } from '../kernel/errors.ts'
import { localRefusal, type McpDocuments, sourceOf, withLocalDocuments } from './local-access.ts'
import type { LocalHead } from './local-documents.ts'

const ann = { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS } as const
const ALL = { limit: null, after: null, titlePart: null, collectionId: undefined }

const headOf = (id: string, updatedAtMs: number) => ({ id, updatedAtMs, collectionId: null, facts: noFacts }) as DocumentHead
const localOf = (id: string, updatedAtMs: number): LocalHead => ({ ...headOf(id, updatedAtMs), source: 'local' })

/** The relay stores `stored`, of which nobody may read `hidden`; the directory has `files`. */
function documentsOf(stored: readonly DocumentHead[], files: readonly LocalHead[], hidden: readonly string[] = []) {
  const find = async (_: unknown, id: string): Promise<never> => {
    const head = stored.find((one) => one.id === id)
    if (head === undefined) throw new RelayError('NOT_FOUND', 'There is none.')
    if (hidden.includes(id)) throw new RelayError('VIEW_FORBIDDEN', 'No.')
    return { head, reader: { sub: 'ann', level: 'edit' }, record: { head, body: new Uint8Array() } } as never
  }
  const documents = {
    list: async (_: unknown, query: typeof ALL) =>
      pageOf(stored, query, ({ id }) => (hidden.includes(id) ? null : { sub: 'ann', level: 'edit' })),
    get: find,
    require: find,
    remove: find,
    edit: async (_: unknown, { id }: { readonly id: string }) => {
      const code = !stored.some((one) => one.id === id)
        ? 'ERR_DOC_NOT_FOUND'
        : hidden.includes(id)
          ? 'ERR_VIEW_FORBIDDEN'
          : 'ERR_ID_NOT_FOUND'
      return { kind: 'refused', code, message: 'x', facts: {} }
    },
  } as unknown as McpDocuments
  const head = async (id: string) => files.find((one) => one.id === id) ?? null
  const local = {
    list: async () => files,
    head,
    read: async (id: string) => {
      const found = await head(id)
      return found && { head: found, body: new Uint8Array([1]) }
    },
  }
  const storedIds = async () => new Set(stored.map(({ id }) => id))
  return withLocalDocuments(documents, { local, workspaceId: 'default', storedIds })
}

const edit = (id: string) => ({ id, edit: 'rename_document', args: {}, expectedVersion: null, dryRun: false }) as never

describe('local documents in the lists of the relay', () => {
  it('[LOCAL-3] [TOOL-list_documents] list_documents merges local and stored documents in order, in pages that neither repeat nor skip', async () => {
    const stored = [headOf('a', 50), headOf('c', 30), headOf('e', 10)]
    const documents = documentsOf(stored, [localOf('f', 10), localOf('b', 40), localOf('d', 30)])
    const seen: string[] = []
    let after: ListPosition | null = null
    do {
      const page = await documents.list(ann, { ...ALL, limit: 2, after })
      seen.push(...page.items.map(({ head }) => `${head.id} ${sourceOf(head)}`))
      after = page.next
    } while (after !== null)
    expect(seen).toEqual(['a relay', 'b local', 'c relay', 'd local', 'e relay', 'f local'])
  })

  it('[LOCAL-4] a stored document hides a local one with the same id, also from a caller who may not read it', async () => {
    const documents = documentsOf([headOf('a', 1), headOf('b', 1)], [localOf('a', 9), localOf('b', 9)], ['b'])
    const { items } = await documents.list(ann, ALL)
    expect(items.map(({ head }) => [head.id, sourceOf(head)])).toEqual([['a', 'relay']])
    expect(sourceOf((await documents.get(ann, 'a')).head)).toBe('relay')
    for (const verb of [documents.get(ann, 'b'), documents.require(ann, 'b', 'view'), documents.remove(ann, 'b')])
      await expect(verb).rejects.toMatchObject({ code: 'VIEW_FORBIDDEN' })
    expect(await documents.edit(ann, edit('a'))).toMatchObject({ code: 'ERR_ID_NOT_FOUND' })
    expect(await documents.edit(ann, edit('b'))).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
  })

  it('[LOCAL-3] [LOCAL-4] a local document is read at level view, and a write answers how to save it to the relay', async () => {
    const documents = documentsOf([], [localOf('a b', 9)])
    expect(await documents.get(ann, 'a b')).toMatchObject({ reader: { sub: 'ann', level: 'view' }, head: { source: 'local' } })
    expect(await documents.require(ann, 'a b', 'view')).toMatchObject({ source: 'local' })
    const row = { code: 'ERR_LOCAL_READ_ONLY', facts: { docId: 'a b', promote: 'PUT /api/docs/a%20b' } }
    expect(await documents.edit(ann, edit('a b'))).toMatchObject(row)
    for (const verb of [documents.require(ann, 'a b', 'edit'), documents.remove(ann, 'a b')]) {
      const error: unknown = await verb.catch((reason: unknown) => reason)
      expect(localRefusal(error as RelayError)).toMatchObject(row)
    }
  })

  it('[LOCAL-3] local documents belong to the pinned workspace only, and other ids stay unknown', async () => {
    const documents = documentsOf([], [localOf('a', 9)])
    const other = { ...ann, workspaceId: 'other' }
    expect((await documents.list(other, ALL)).items).toEqual([])
    expect(await documents.edit(other, edit('a'))).toMatchObject({ code: 'ERR_DOC_NOT_FOUND' })
    expect(await documents.edit(ann, edit('b'))).toMatchObject({ code: 'ERR_DOC_NOT_FOUND' })
    for (const verb of [documents.get(other, 'a'), documents.get(ann, 'b'), documents.remove(other, 'a')]) {
      const error: unknown = await verb.catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'NOT_FOUND' })
      expect(localRefusal(error as RelayError)).toBeNull()
    }
  })
})
