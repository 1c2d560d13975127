import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { withChecksum } from '../../drivers/sql/row-checksums.ts'
import { type RelayUnderTest, saved } from '../relay-under-test.ts'

const DOCUMENTS = 4

/**
 * Fills a relay with documents that have a log, snapshots, recovery points, blobs and share links, and with collections, a deleted document
 * and revoked tokens, and stops it. The result is a small store with every kind of row. The file is compacted, so that no page contains old
 * data.
 */
export async function fillSmallStore(relay: RelayUnderTest): Promise<void> {
  for (let i = 0; i < DOCUMENTS; i++) {
    const id = `doc-${i}`
    const blob = await putBlob(relay, someBytes(2_000 + i, i + 1))
    const content = `<p>text of ${id}</p>`
    const body = { name: id, shape: { blobRef: blob }, richTextPages: [{ id: 'text', name: 'Text', content }] }
    await relay.rest().putDocument(id, body)
    await relay.rest().putDocument(id, { ...body, name: `${id} again` })
    for (let round = 0; round < 2; round++) {
      const client = relay.sync(id, { sub: 'ann' })
      await saved(client)
      for (let n = 0; n < 6; n++)
        client.doc.getMap('shapes:canvas').set(`s${round}-${n}`, { id: `s${round}-${n}`, type: 'ellipse' })
      await saved(client)
      client.destroy()
      if (i % 2 === 0) await capture(relay, id)
    }
  }
  await fillAround(relay)
  // Stopping the relay stores a snapshot of every document; a second run adds records after it.
  await relay.stop()
  await relay.restart()
  const client = relay.sync('doc-1', { sub: 'ben' })
  await saved(client)
  client.doc.getMap('metadata').set('title', 'by ben')
  await saved(client)
  await relay.kill()
  client.destroy()
  const db = new DatabaseSync(join(relay.dataDir, 'relay.db'))
  insertUpload(db)
  db.exec('pragma wal_checkpoint(truncate); vacuum; pragma wal_checkpoint(truncate)')
  db.close()
}

async function fillAround(relay: RelayUnderTest): Promise<void> {
  const collections = Array.from({ length: 5 }, (_, i) => ({ id: `c${i}`, name: `Collection ${i}` }))
  await send(relay, '/api/collections', 'PUT', { collections })
  for (let i = 0; i < DOCUMENTS; i++)
    await send(relay, `/api/v1/docs/doc-${i}/share-links`, 'POST', { expires_at: new Date(Date.now() + 9e7).toISOString() })
  for (let i = 0; i < DOCUMENTS; i++) {
    await relay.rest().putDocument(`gone-${i}`, { name: 'Gone' })
    await send(relay, `/api/docs/gone-${i}`, 'DELETE')
  }
  const revocations = Array.from({ length: 5 }, (_, i) => ({ jti: `token-${i}`, revoked_at: new Date().toISOString() }))
  await send(relay, '/api/v1/internal/revoke', 'POST', { revocations }, 'revocation-secret-for-tests')
}

/** Inserts a row of the kind that a presigned upload leaves until it expires. */
function insertUpload(db: DatabaseSync): void {
  const upload = {
    id: 'upload-1',
    workspace_id: 'default',
    hash: hashOf(someBytes(9, 9)),
    bytes: 9,
    kind: 'presigned',
    sub: 'ann',
  } as const
  const row = withChecksum('blob_uploads', { ...upload, expires_at_ms: 2_000_000_000_000, remove_at_ms: 2_000_000_000_000 })
  const columns = Object.keys(row)
  db.prepare(`insert into blob_uploads (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`).run(
    ...Object.values(row),
  )
}

async function send(relay: RelayUnderTest, path: string, method: string, json?: unknown, bearer = relay.token()): Promise<void> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const response = await fetch(`${relay.baseUrl}${path}`, {
    method,
    headers,
    body: json === undefined ? null : JSON.stringify(json),
  })
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
}

async function putBlob(relay: RelayUnderTest, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = hashOf(bytes)
  const headers = { authorization: `Bearer ${relay.token()}`, 'content-type': 'image/png' }
  const response = await fetch(`${relay.baseUrl}/api/blobs/${hash}`, { method: 'POST', headers, body: bytes })
  if (response.status >= 300) throw new Error(`the blob was refused: ${response.status}`)
  return hash
}

async function capture(relay: RelayUnderTest, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${relay.token()}` }
  const response = await fetch(`${relay.baseUrl}/api/docs/${id}/recovery/capture`, { method: 'POST', headers })
  if (response.status >= 300) throw new Error(`no recovery point was taken: ${response.status} ${await response.text()}`)
}
