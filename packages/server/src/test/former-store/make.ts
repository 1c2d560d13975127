// Makes the store of a former release that `former-store.long.test.ts` opens. See README.md.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openPostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'
import { contentsOf, WORKSPACES } from './contents.ts'

const ENV = {
  RELAY_TENANCY_MODE: 'shared',
  RELAY_WRITES_PER_SEC: '0',
  RELAY_BLOB_GC_GRACE_SECS: '1000000000',
  RELAY_TOMBSTONE_TTL_DAYS: '36500',
}
const EXPIRES = new Date(Date.now() + 364 * 86_400_000)

const shapes = (...ids: string[]) => [{ id: 'p', name: 'P', shapes: ids.map((id) => ({ id, type: 'rectangle', x: 1 })) }]

/** Fills a workspace with everything that it may hold: hundreds of live edits, points, a tombstone, links, lists, blobs, a remembered write. */
async function fill(relay: RelayUnderTest, workspace: string): Promise<void> {
  const claims = { sub: 'ann', role: 'owner', workspace }
  const rest = relay.rest(claims)
  const blob = await rest.uploadBlob(new TextEncoder().encode(`a picture of ${workspace}`), 'image/png')
  await rest.uploadBlob(new TextEncoder().encode(`unreferenced in ${workspace}`), 'text/plain')
  await rest.putDocument('plain', { name: `Plain of ${workspace}`, pages: shapes('a'), picture: { blobRef: blob } })
  await rest.putDocument('deleted', { name: 'Deleted' })
  await rest.deleteDocument('deleted')
  await rest.putDocument('to-restore', { name: 'To restore', pages: shapes('a', 'b') })
  await rest.captureRecoveryPoint('to-restore')
  await rest.putDocument('to-restore', { name: 'Changed', pages: shapes() }, { expectedVersion: 1 })
  const [point] = await rest.recoveryPoints('to-restore')
  await rest.restoreRecoveryPoint('to-restore', point?.id ?? '')
  await rest.putCollections([{ id: 'col-1', name: 'Collection' }] as never)
  await rest.setCollection('plain', 'col-1')
  await rest.putStyleProfiles([
    { id: 'style-1', name: 'Style', properties: { font: 'serif' }, createdAt: 1, updatedAt: 1 },
  ] as never)
  await rest.issueShareLink('plain', EXPIRES)
  const second = await rest.issueShareLink('plain', EXPIRES)
  await rest.revokeShareLink('plain', second.id)
  await (await mcpAgent(relay.mcpUrl, relay.token(claims))).call('create_document', { name: 'By a tool', requestId: 'once' })
  await rest.putDocument('live', {
    name: 'Live',
    pages: shapes('first'),
    richTextPages: [{ id: 'text', name: 'Text', content: '<h1>Title</h1><p>some <strong>bold</strong> text</p>' }],
  })
  const client = relay.sync('live', claims)
  await saved(client)
  const map = client.doc.getMap('shapes:p')
  for (let i = 0; i < 620; i++) {
    map.set(`s${i % 40}`, { id: `s${i % 40}`, type: 'ellipse', x: i })
    await saved(client)
  }
  await saved(client)
  await rest.captureRecoveryPoint('live')
  client.destroy()
}

/** Makes edits that are acknowledged but in no stored body when the relay is killed. */
async function editAndKill(relay: RelayUnderTest): Promise<void> {
  const clients = WORKSPACES.map((workspace) => relay.sync('live', { sub: 'ann', role: 'owner', workspace }))
  await saved(...clients)
  for (const client of clients) {
    client.doc.getMap('shapes:p').set('last', { id: 'last', type: 'ellipse', x: 7 })
    client.doc.getMap('shapes:p').delete('s3')
  }
  await saved(...clients)
  await relay.kill()
  for (const client of clients) client.destroy()
}

async function make(name: string, env: Record<string, string>, folder: string, dump: (dataDir: string) => void): Promise<void> {
  const relay = await startRelayUnderTest({ env: { ...ENV, ...env }, mcp: 'public' })
  for (const workspace of WORKSPACES) await fill(relay, workspace)
  await relay.fetch('/api/v1/internal/revoke', {
    method: 'POST',
    headers: { authorization: 'Bearer revocation-secret-for-tests', 'content-type': 'application/json' },
    body: JSON.stringify({ revocations: [{ jti: 'revoked-once', revoked_at: new Date().toISOString() }] }),
  })
  await editAndKill(relay)
  dump(relay.dataDir)
  cpSync(join(relay.dataDir, 'blobs'), join(folder, `${name}-blobs`), { recursive: true })
  // Reading changes the store, which was dumped before.
  await relay.restart()
  writeFileSync(join(folder, `${name}.json.gz`), gzipSync(JSON.stringify(await contentsOf(relay))))
  await relay[Symbol.asyncDispose]()
}

const folder = resolve(process.argv[2] ?? '')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const zip = (from: string, to: string) => writeFileSync(join(folder, `${to}.gz`), gzipSync(readFileSync(from), { level: 9 }))
await make('sqlite', {}, folder, (dataDir) => {
  zip(join(dataDir, 'relay.db'), 'relay.db')
  zip(join(dataDir, 'relay.db-wal'), 'relay.db-wal')
})
const server = await openPostgresUnderTest()
if (typeof server === 'string') throw new Error(server)
await make('postgres', { RELAY_STORAGE_URL: server.url, RELAY_CLUSTER_SINGLE_NODE: 'true' }, folder, () => {
  const text = execFileSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', server.url], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  writeFileSync(join(folder, 'postgres.sql.gz'), gzipSync(text, { level: 9 }))
})
await server[Symbol.asyncDispose]()
