import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aGrant, granted } from '../../blobs/testing/ledger-requests.ts'
import { bodyOf, change, creation, written } from '../../documents/testing/document-writes.ts'
import type { Logger } from '../../kernel/log.ts'
import { silentLogger } from '../../kernel/log.ts'
import { openStoredContents } from './inspect-store.ts'
import type { StorageHost } from './storage-host.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

const W = 'w'
const HASH = 'a'.repeat(64)
const REF = { workspaceId: W, id: 'd' }
const DAMAGED_ROW = { code: 'UNAVAILABLE', details: { damagedPart: 'row', retryAfterMs: 60_000 } }
const DAMAGED = { code: 'UNAVAILABLE', message: expect.stringContaining('does not have its checksum') }

let store: ReturnType<typeof temporaryStore>
let host: StorageHost
const errors: string[] = []
const log: Logger = { ...silentLogger, error: (event) => void errors.push(event) }

beforeEach(async () => {
  store = temporaryStore()
  host = await openHost(store.url, { log })
  errors.length = 0
})
afterEach(async () => {
  await host[Symbol.asyncDispose]()
  store.remove()
})

/** Changes the store directly, without the relay. */
function tamper(statement: string): void {
  const db = new DatabaseSync(store.path)
  db.exec(statement)
  db.close()
}

/** Returns the findings of verify about tables that belong to no single document. */
async function findings(): Promise<readonly string[]> {
  await using contents = await openStoredContents(store.url, silentLogger)
  const found: string[] = []
  for await (const problem of contents.problems()) found.push(problem)
  return found
}

const grantRequest = aGrant(W, HASH, { sizeBytes: 6, sub: 'ann', nowMs: 5 })

it('[LIFE-5] [LIFE-24] a changed tombstone makes its id unavailable, and no other id', async () => {
  const { key } = written(await host.documents.write(creation(REF)))
  await host.documents.remove(REF, key, 1000)
  tamper('update tombstones set last_server_version = 9')
  await expect(host.documents.state(REF)).rejects.toMatchObject(DAMAGED_ROW)
  await expect(host.documents.write(creation(REF))).rejects.toMatchObject(DAMAGED_ROW)
  written(await host.documents.write(creation({ ...REF, id: 'other' })))
})

it('[LIFE-5] [LIFE-22] a tombstone with a changed successor makes its id unavailable', async () => {
  const head = written(await host.documents.write(creation(REF)))
  await host.recovery.restore({ source: head, hasGap: false, newRef: { ...REF, id: 'next' }, body: bodyOf('{}'), nowMs: 1000 })
  expect(await host.documents.state(REF)).toMatchObject({ kind: 'tombstone', tombstone: { successor: 'next' } })
  tamper("update tombstones set successor = 'other'")
  await expect(host.documents.state(REF)).rejects.toMatchObject(DAMAGED_ROW)
})

it.each(['covered_seq = covered_seq + 1', 'body_ahead = 1 - body_ahead'])(
  '[LIFE-5] a log whose head was changed (%s) makes its document unavailable',
  async (set) => {
    const { key } = written(await host.documents.write(creation(REF)))
    await host.updates.append([{ key, afterSeq: 0, actor: 'ann', atMs: 1, update: new Uint8Array([1]) }])
    expect(await host.documents.state(REF)).toMatchObject({ kind: 'document', head: { lastSeq: 1, coveredSeq: 0 } })
    tamper(`update log_heads set ${set}`)
    await expect(host.documents.state(REF)).rejects.toMatchObject(DAMAGED_ROW)
  },
)

it.each([
  ['size_bytes', '7'],
  ['mime_type', "'text/html'"],
  ['created_at_ms', '6'],
  ['metered', '0'],
  ['unreferenced_at_ms', 'null'],
  ['unreferenced_at_ms', '6'],
  ['provenance', "'{}'"],
])('[OPS-11] [BLOB-2] a grant whose %s was changed (%s) is ignored, and an upload repairs it', async (column, value) => {
  await granted(host.blobs, grantRequest)
  tamper(`update blob_grants set ${column} = ${value}`)
  await expect(host.blobs.find(W, HASH)).rejects.toMatchObject(DAMAGED)
  expect(errors).toEqual(['storage.row-damaged'])
  expect(await granted(host.blobs, grantRequest)).toMatchObject({ kind: 'granted', added: true })
  expect(await host.blobs.find(W, HASH)).toMatchObject({ sizeBytes: 6, mimeType: 'image/png' })
})

it('[OPS-11] [BLOB-15] the checksum of a grant is updated when references come and go', async () => {
  await granted(host.blobs, grantRequest)
  const head = written(await host.documents.write(creation(REF, `{"text":"blob://${HASH}"}`)))
  expect(await host.blobs.find(W, HASH)).not.toBeNull()
  const next = written(await host.documents.write(change(head, '{}', { nowMs: 70_000_000 })))
  expect(await host.blobs.find(W, HASH)).not.toBeNull()
  await host.blobs.releaseUnreferenced(80_000_000, 10, 80_000_000)
  expect(await host.blobs.find(W, HASH)).not.toBeNull()
  await host.documents.remove(REF, next.key, 90_000_000)
  expect(await host.blobs.find(W, HASH)).not.toBeNull()
})

it('[OPS-11] [REST-25] a changed registry is not read, and replacing it without expectedVersion repairs it', async () => {
  const write = { workspaceId: W, kind: 'collections', text: '[1]', expectedVersion: null, maxBytes: 100 } as const
  await host.registries.replace(write)
  tamper("update registries set value = '[2]'")
  await expect(host.registries.read(W, 'collections')).rejects.toMatchObject(DAMAGED)
  await expect(host.registries.replace({ ...write, expectedVersion: 1 })).rejects.toMatchObject(DAMAGED)
  expect(await host.registries.replace(write)).toEqual({ kind: 'replaced', version: 2 })
  expect(await host.registries.read(W, 'collections')).toEqual({ version: 2, text: '[1]' })
})

it('[OPS-11] a share link whose expiry was changed in the file opens nothing', async () => {
  const { key } = written(await host.documents.write(creation(REF)))
  const link = { id: 'l', tokenHash: HASH, key, createdAtMs: 1, createdBy: 'ann', expiresAtMs: 100, maxLive: 9 }
  await host.shareLinks.issue(link)
  expect(await host.shareLinks.find(W, HASH, 50)).toMatchObject({ key, linkId: 'l' })
  tamper('update share_links set expires_at_ms = 1000')
  await expect(host.shareLinks.find(W, HASH, 500)).rejects.toMatchObject(DAMAGED)
  expect(await host.shareLinks.revoke(key, 'l', 50)).toBe('revoked')
})

it('[OPS-11] a changed revocation is reported, and other revocations are read', async () => {
  await host.revocations.add([{ jti: 'a', revokedAtMs: 5 }], { keep: 9 })
  await host.revocations.add([{ jti: 'a', revokedAtMs: 4 }], { keep: 9 })
  expect(await host.revocations.all()).toEqual([{ jti: 'a', revokedAtMs: 4 }])
  expect(errors).toEqual([])
  tamper("insert into revocations (jti, revoked_at_ms) values ('old', 1); update revocations set jti = 'b' where jti = 'a'")
  expect((await host.revocations.all()).map(({ jti }) => jti)).toEqual(['old', 'b'])
  expect(errors).toEqual(['storage.revocations-damaged'])
})

it('[OPS-11] [TOOL-22] the answer of a changed remembered write is never returned', async () => {
  const once = { request: 'r', digest: 'd', answer: '{"id":"x"}', sinceMs: 0 }
  written(await host.documents.write(creation(REF, '{}', { once })))
  expect(await host.documents.remembered(W, once)).toEqual({ digest: 'd', answer: '{"id":"x"}', version: 1 })
  tamper(`update remembered_writes set answer = '{"id":"y"}'`)
  await expect(host.documents.remembered(W, once)).rejects.toMatchObject(DAMAGED)
  await expect(host.documents.write(creation({ ...REF, id: 'e' }, '{}', { once }))).rejects.toMatchObject(DAMAGED)
  expect(await host.documents.state({ ...REF, id: 'e' })).toEqual({ kind: 'absent' })
})

it('[OPS-11] [AG-67] a call whose record or row was changed cannot be undone, and verify finds the change', async () => {
  const head = written(await host.documents.write(creation(REF)))
  const record = new TextEncoder().encode('{"members":[]}')
  const rest = {
    ...{ sub: 'ann', client: null, caller: null, changed: 1, removed: 0, record },
    ...{ blobReferences: [], undoes: [], answer: null },
  }
  written(await host.documents.write(change(head, '{"n":1}', { call: { callId: 'call-1', tool: 'set_prose', ...rest } })))
  const read = async () => (await host.calls.read(head.key, ['call-1'])).map(({ hasRecord }) => hasRecord)
  expect([await read(), await findings()]).toEqual([[true], []])
  tamper(`update call_records set record = cast('{"members":{}}' as blob)`)
  expect(await read()).toEqual([false])
  expect(await findings()).toEqual([expect.stringContaining('a call record')])
  tamper(`update call_records set record = cast('{"members":[]}' as blob), sub = 'bob'`)
  expect(await read()).toEqual([false])
  expect(await findings()).toEqual([expect.stringContaining('does not have its checksum')])
})

it('[LIFE-29] [AG-66] the checksum of a call leaves out its caller, so that programs without that column accept the row', async () => {
  const head = written(await host.documents.write(creation(REF)))
  const record = new TextEncoder().encode('{"members":[]}')
  const call = {
    ...{ callId: 'call-1', tool: 'set_prose', sub: 'ann', client: null, caller: 'digest', changed: 1, removed: 0, record },
    ...{ blobReferences: [], undoes: [], answer: null },
  }
  written(await host.documents.write(change(head, '{"n":1}', { call })))
  const read = async () => (await host.calls.read(head.key, ['call-1'])).map(({ caller, hasRecord }) => [caller, hasRecord])
  expect(await read()).toEqual([['digest', true]])
  tamper('update call_records set caller = null')
  expect([await read(), await findings()]).toEqual([[[null, true]], []])
})

it('[LIFE-29] rows from releases without checksums are read unchecked', async () => {
  const { key } = written(await host.documents.write(creation(REF)))
  const other = written(await host.documents.write(creation({ ...REF, id: 'kept' })))
  await host.documents.remove(REF, key, 1000)
  tamper('update tombstones set crc32 = null; update log_heads set flags_crc32 = null')
  expect(await host.documents.state(REF)).toMatchObject({ kind: 'tombstone' })
  expect(written(await host.documents.write(change(other, '{"n":1}'))).version).toBe(2)
})
