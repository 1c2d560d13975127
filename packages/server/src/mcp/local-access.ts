import { isRefusal, type Refusal } from '@docrelay/model/edit'
import type { Access } from '../access/access.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'
import type { Documents } from '../documents/documents.ts'
import { pageOf } from '../documents/listing.ts'
import type { Reader } from '../documents/metadata.ts'
import { RelayError } from '../kernel/errors.ts'
import type { LocalDocuments, LocalHead } from './local-documents.ts'

/** The part of the document service that the endpoint uses. */
export type McpDocuments = Pick<Documents, 'list' | 'get' | 'require' | 'readableOf' | 'create' | 'edit' | 'remove'>

export interface LocalAccessDeps {
  readonly local: LocalDocuments
  /** The workspace whose callers see the local documents. [LOCAL-3] */
  readonly workspaceId: string
  /**
   * Returns the ids of all stored documents, also those that the caller may not read: a stored document hides a local
   * one with its id. [LOCAL-4]
   */
  storedIds(workspaceId: string): Promise<ReadonlySet<string>>
}

export function sourceOf(head: DocumentHead): 'relay' | 'local' {
  return 'source' in head && head.source === 'local' ? 'local' : 'relay'
}

/** Turns a refused write to a local document into its tool error; `null` for any other error. [LOCAL-4] */
export function localRefusal(error: RelayError): Refusal | null {
  if (typeof error.details['promote'] !== 'string') return null
  return { kind: 'refused', code: 'ERR_LOCAL_READ_ONLY', message: error.message, facts: error.details }
}

/**
 * Adds the local documents, read-only, to `documents`. An id of a stored document never names a local one. [LOCAL-3..LOCAL-5]
 */
export function withLocalDocuments(documents: McpDocuments, deps: LocalAccessDeps): McpDocuments {
  const { local } = deps
  const sees = ({ workspaceId }: Access): boolean => workspaceId === deps.workspaceId
  const readerOf = ({ sub }: Access): Reader => ({ sub, level: 'view' })

  /** Returns the result of `work`; when the relay does not store the id, the result for the local document. */
  async function orLocal<T>(access: Access, work: Promise<T>, instead: () => Promise<T | null>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (!sees(access) || !(error instanceof RelayError) || error.code !== 'NOT_FOUND') throw error
      const found = await instead()
      if (found === null) throw error
      return found
    }
  }

  async function refuseWrite(id: string): Promise<null> {
    if ((await local.head(id)) !== null) throw readOnly(id)
    return null
  }

  return {
    create: documents.create,
    async list(access, query) {
      if (!sees(access)) return documents.list(access, query)
      const files = await local.list()
      if (files.length === 0) return documents.list(access, query)
      const whole = { ...query, limit: null, after: null }
      const [{ items }, stored] = await Promise.all([documents.list(access, whole), deps.storedIds(access.workspaceId)])
      const readers = new Map<DocumentHead, Reader>(items.map(({ head, reader }) => [head, reader]))
      for (const head of files) if (!stored.has(head.id)) readers.set(head, readerOf(access))
      return pageOf([...readers.keys()].sort(inListOrder), query, (head) => readers.get(head) ?? null)
    },
    get: (access, id) =>
      orLocal(access, documents.get(access, id), async () => {
        const record = await local.read(id)
        return record === null ? null : { head: record.head, reader: readerOf(access), record }
      }),
    require: (access, id, needed) =>
      orLocal<DocumentHead>(
        access,
        documents.require(access, id, needed),
        (): Promise<LocalHead | null> => (needed === 'view' ? local.head(id) : refuseWrite(id)),
      ),
    async readableOf(access, ids) {
      const stored = await documents.readableOf(access, ids)
      const left = sees(access) ? ids.filter((id) => !stored.has(id)) : []
      const files = left.length === 0 ? [] : (await local.list()).filter(({ id }) => left.includes(id))
      if (files.length === 0) return stored
      // A stored document that the caller may not read hides the file with its id.
      const hidden = await deps.storedIds(access.workspaceId)
      return new Map([...stored, ...files.filter(({ id }) => !hidden.has(id)).map((head) => [head.id, head] as const)])
    },
    async edit(access, input) {
      const outcome = await documents.edit(access, input)
      if (!isRefusal(outcome) || outcome.code !== 'ERR_DOC_NOT_FOUND' || !sees(access)) return outcome
      if ((await local.head(input.id)) === null) return outcome
      return localRefusal(readOnly(input.id)) ?? outcome
    },
    remove: (access, id, removal) => orLocal<void>(access, documents.remove(access, id, removal), () => refuseWrite(id)),
  }
}

function readOnly(docId: string): RelayError {
  const promote = `PUT /api/docs/${encodeURIComponent(docId)}`
  const sentence = `Document ${docId} is a local file and only read; save it to the relay first, with ${promote} or the promote command of the editor, and then repeat the call.`
  return new RelayError('NOT_FOUND', sentence, { docId, promote })
}

function inListOrder(a: DocumentHead, b: DocumentHead): number {
  return b.updatedAtMs - a.updatedAtMs || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))
}
