import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { routeTable } from '../../compose/route-table.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { readTable } from './table.ts'

/**
 * The status that each role of a workspace gets for things that belong to another workspace or were deleted there. Each answer must equal, in
 * every byte and header, the answer for things that never existed. [REST-6] Routes that name nothing of a workspace must show in their answer
 * that they contain nothing of another one.
 */
const TABLE = `
                                                     owner  member  viewer
  GET /api/docs                                      200    200     200
  GET /api/docs (its collection)                     200    200     200
  GET /api/docs (its title)                          200    200     200
  GET /api/docs/:id                                  404    404     404
  PUT /api/docs/:id                                  200    200     403
  PUT /api/docs/:id (of a version)                   409    409     403
  PUT /api/docs/:id (if it is there)                 412    412     403
  DELETE /api/docs/:id                               404    404     404
  POST /api/docs/:id/transfer                        404    404     404
  PUT /api/docs/:id/collection                       404    404     404
  GET /api/v1/docs/:id/metadata                      404    404     404
  GET /api/docs/:id/ydoc                             404    404     404
  GET /api/blobs/:hash                               404    404     404
  POST /api/blobs/:hash                              204    204     403
  POST /api/v1/blobs/:hash/upload-url                409    409     403
  POST /api/v1/blobs/:hash/finalize                  409    409     403
  POST /api/v1/blobs/:hash/download-url              409    409     409
  POST /api/v1/blobs/ingest-from-url                 403    403     403
  GET /api/docs/:id/recovery                         404    404     404
  POST /api/docs/:id/recovery/capture                404    404     404
  GET /api/docs/:id/recovery/:pointId                404    404     404
  GET /api/docs/:id/recovery/:pointId (of its own)   404    404     404
  POST /api/docs/:id/recovery/:pointId/restore       404    404     404
  GET /api/v1/docs/:id/calls                         404    404     404
  POST /api/v1/docs/:id/calls/:callId/undo           404    404     404
  POST /api/v1/docs/:id/calls/:callId/undo (own)     404    404     403
  GET /api/v1/docs/:id/preview.svg                   404    404     404
  GET /api/v1/docs/:id/preview.png                   404    404     404
  GET /api/collections                               200    200     200
  PUT /api/collections                               200    200     403
  GET /api/collections/:id/documents                 200    200     200
  GET /api/v1/style-profiles                         200    200     200
  PUT /api/v1/style-profiles                         200    200     403
  GET /api/v1/search (in it)                         404    404     404
  GET /api/v1/usage                                  200    200     200
  GET /api/v1/docs/:id/share-links                   404    404     404
  POST /api/v1/docs/:id/share-links                  404    404     404
  DELETE /api/v1/docs/:id/share-links/:linkId        404    404     404
  DELETE /api/v1/docs/:id/share-links/:linkId (own)  404    404     403
  POST /api/v1/share-links/redeem                    404    404     404
  POST /api/docs/:id/share                           404    404     404
`

/** Routes without data of a workspace, or whose workspace comes from the control plane. */
const DISCOVERY = '/.well-known/oauth-protected-resource'
const WITHOUT = ['/', '/share', '/health', '/livez', '/readyz', '/version', '/metrics', '/api/v1/openapi.json']
const CONSOLE = ['', '/', '/config.json', '/:file', '/assets/:file'].map((path) => `/console${path}`)
const NO_TENANT = [...WITHOUT, ...CONSOLE, DISCOVERY, `${DISCOVERY}/mcp`]
const INTERNAL = '/internal/'
const ROWS = readTable(TABLE)
/** A caller in the workspace of this file, which is the foreign one for all cells. */
const HOME: TokenOptions = { sub: 'ann', role: 'owner' }

interface Things {
  readonly docId: string
  readonly deletedId: string
  readonly pointId: string
  readonly callId: string
  readonly linkId: string
  readonly token: string
  readonly collectionId: string
  readonly bytes: string
}

let asked = 1000
let relay: SharedRelay
let call: Call
/** The things that the foreign workspace has, and things that nobody has. Ids have the same length in both. */
let foreign: Things
const unknown: Things = {
  docId: 'unknown-',
  deletedId: 'nothing-',
  pointId: '1700000000000-v1',
  callId: 'call-000000000000',
  linkId: '',
  token: 'A'.repeat(43),
  collectionId: 'nowhere-',
  bytes: 'not theirs',
}
beforeAll(async () => {
  relay = await sharedRelay()
  call = rawHttp(relay)
  foreign = await fill()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** Creates one of everything in the home workspace. */
async function fill(): Promise<Things> {
  const as = HOME
  const body = { name: 'Theirs', collectionId: 'theirs--', sharedWith: ['ann'] }
  await call('PUT', '/api/docs/foreign-', { as, body })
  await call('PUT', '/api/docs/deleted-', { as, body: {} })
  await call('DELETE', '/api/docs/deleted-', { as })
  await call('PUT', '/api/collections', { as, body: { collections: [{ id: 'theirs--', name: 'Theirs' }] } })
  await call('PUT', '/api/v1/style-profiles', {
    as,
    body: { profiles: [{ id: 'p', name: 'Theirs', properties: {}, createdAt: 1 }] },
  })
  await call('POST', '/api/docs/foreign-/recovery/capture', { as })
  await call('POST', `/api/blobs/${hashOf('theirs too')}`, { as, body: 'theirs too' })
  const agent = await mcpAgent(relay.mcpUrl, relay.token(as))
  const { callId } = await agent.call('set_fields', { docId: 'foreign-', fields: [{ name: 'owner', value: 'Theirs' }] })
  const points = (await call('GET', '/api/docs/foreign-/recovery', { as })).json as { recoveryPoints: { id: string }[] }
  const link = await call('POST', '/api/v1/docs/foreign-/share-links', { as, body: { expires_at: inAnHour() } })
  const { id: linkId, token } = link.json as { id: string; token: string }
  expect(link.status).toBe(200)
  const pointId = points.recoveryPoints[0]?.id ?? ''
  const ids = { docId: 'foreign-', deletedId: 'deleted-', pointId, callId: String(callId), linkId, collectionId: 'theirs--' }
  return { ...ids, token, bytes: 'theirs too' }
}

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString()
const hashOf = (bytes: string): string => createHash('sha256').update(bytes).digest('hex')

interface Asked {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const ofDocument =
  (suffix: string, body?: unknown) =>
  ({ docId }: Things): Asked => ({ path: `/api/docs/${docId}${suffix}`, body })

const always = (path: string, body?: unknown) => (): Asked => ({ path, body })

const REQUESTS: Readonly<Record<string, (things: Things) => Asked>> = {
  'GET /api/docs': always('/api/docs'),
  'GET /api/docs (its collection)': ({ collectionId }) => ({ path: `/api/docs?collectionId=${collectionId}` }),
  'GET /api/docs (its title)': always('/api/docs?q=Theirs'),
  'GET /api/docs/:id': ofDocument(''),
  'PUT /api/docs/:id': ofDocument('', {}),
  'PUT /api/docs/:id (of a version)': ofDocument('?expectedVersion=7', {}),
  'PUT /api/docs/:id (if it is there)': ({ docId }) => ({ path: `/api/docs/${docId}`, body: {}, headers: { 'if-match': '*' } }),
  'DELETE /api/docs/:id': ofDocument(''),
  'POST /api/docs/:id/transfer': ofDocument('/transfer', { to_user_id: 'eve' }),
  'PUT /api/docs/:id/collection': ofDocument('/collection', { collectionId: 'c' }),
  'GET /api/v1/docs/:id/metadata': ({ docId }) => ({ path: `/api/v1/docs/${docId}/metadata` }),
  'GET /api/docs/:id/ydoc': ofDocument('/ydoc'),
  'GET /api/blobs/:hash': ({ bytes }) => ({ path: `/api/blobs/${hashOf(bytes)}` }),
  'POST /api/blobs/:hash': ({ bytes }) => ({ path: `/api/blobs/${hashOf(bytes)}`, body: bytes }),
  'POST /api/v1/blobs/:hash/upload-url': ({ bytes }) => ({
    path: `/api/v1/blobs/${hashOf(bytes)}/upload-url`,
    body: { size: 10 },
  }),
  'POST /api/v1/blobs/:hash/finalize': ({ bytes }) => ({ path: `/api/v1/blobs/${hashOf(bytes)}/finalize`, body: {} }),
  'POST /api/v1/blobs/:hash/download-url': ({ bytes }) => ({ path: `/api/v1/blobs/${hashOf(bytes)}/download-url` }),
  'POST /api/v1/blobs/ingest-from-url': always('/api/v1/blobs/ingest-from-url', { url: 'https://elsewhere.example/a.png' }),
  'GET /api/docs/:id/recovery': ofDocument('/recovery'),
  'POST /api/docs/:id/recovery/capture': ofDocument('/recovery/capture'),
  'GET /api/docs/:id/recovery/:pointId': ({ docId, pointId }) => ({ path: `/api/docs/${docId}/recovery/${pointId}` }),
  'GET /api/docs/:id/recovery/:pointId (of its own)': ({ pointId }) => ({ path: `/api/docs/mine/recovery/${pointId}` }),
  'POST /api/docs/:id/recovery/:pointId/restore': ({ docId, pointId }) => ({
    path: `/api/docs/${docId}/recovery/${pointId}/restore`,
  }),
  'GET /api/v1/docs/:id/calls': ({ docId }) => ({ path: `/api/v1/docs/${docId}/calls` }),
  'POST /api/v1/docs/:id/calls/:callId/undo': ({ docId, callId }) => ({
    path: `/api/v1/docs/${docId}/calls/${callId}/undo`,
    body: {},
  }),
  'POST /api/v1/docs/:id/calls/:callId/undo (own)': ({ callId }) => ({
    path: `/api/v1/docs/mine/calls/${callId}/undo`,
    body: {},
  }),
  'GET /api/v1/docs/:id/preview.svg': ofDocument('/preview.svg'),
  'GET /api/v1/docs/:id/preview.png': ofDocument('/preview.png'),
  'GET /api/collections': always('/api/collections'),
  'PUT /api/collections': always('/api/collections', { collections: [], expectedVersion: 0 }),
  'GET /api/collections/:id/documents': ({ collectionId }) => ({ path: `/api/collections/${collectionId}/documents` }),
  'GET /api/v1/style-profiles': always('/api/v1/style-profiles'),
  'PUT /api/v1/style-profiles': always('/api/v1/style-profiles', { profiles: [], expectedVersion: 0 }),
  'GET /api/v1/search (in it)': ({ docId }) => ({ path: `/api/v1/search?q=Theirs&docId=${docId}` }),
  'GET /api/v1/usage': always('/api/v1/usage'),
  'GET /api/v1/docs/:id/share-links': ({ docId }) => ({ path: `/api/v1/docs/${docId}/share-links` }),
  'POST /api/v1/docs/:id/share-links': ({ docId }) => ({
    path: `/api/v1/docs/${docId}/share-links`,
    body: { expires_at: inAnHour() },
  }),
  'DELETE /api/v1/docs/:id/share-links/:linkId': ({ docId, linkId }) => ({ path: `/api/v1/docs/${docId}/share-links/${linkId}` }),
  'DELETE /api/v1/docs/:id/share-links/:linkId (own)': ({ linkId }) => ({ path: `/api/v1/docs/mine/share-links/${linkId}` }),
  'POST /api/v1/share-links/redeem': ({ token }) => ({ path: '/api/v1/share-links/redeem', body: { token } }),
  'POST /api/docs/:id/share': ofDocument('/share', { shares: [] }),
}

/** Sends the request of a cell in a new workspace. Returns the answer without the requested ids and the times, which may differ. */
async function ask(label: string, role: string, things: Things): Promise<{ readonly status: number; readonly shown: string }> {
  const workspace = `cell-${++asked}`
  const mine = { as: { sub: 'ann', workspace, role: 'owner' }, body: { sharedWith: ['bob'] } }
  expect((await call('PUT', '/api/docs/mine', mine)).status).toBe(200)
  const request = REQUESTS[label]?.(things)
  if (request === undefined) throw new Error(`nothing is known of ${label}`)
  const as = { sub: role === 'viewer' ? 'bob' : 'ann', workspace, role }
  const headers = { 'x-request-id': 'r', ...request.headers }
  const answer = await call(label.split(' ')[0] ?? '', request.path, { as, body: request.body, headers })
  const { date: _, ...kept } = answer.headers
  const ids = [things.docId, things.collectionId, hashOf(things.bytes), workspace]
  const whole = JSON.stringify({ status: answer.status, headers: kept, text: answer.text })
  const withoutIds = ids.reduce((text, id) => text.replaceAll(id, 'ID'), whole)
  const withoutTimes = withoutIds.replaceAll(/(_at|At|edAt)\\":(\\"[^"]*"|\d+)/g, 'TIME')
  // A lineage is random for every document.
  return { status: answer.status, shown: withoutTimes.replaceAll(/lineage\\":\\"[\w-]{16}/g, 'LINEAGE') }
}

describe('another workspace', () => {
  it('[REST-6] the table has every route that concerns a workspace', () => {
    const routes = routeTable().filter(({ path }) => !NO_TENANT.includes(path) && !path.includes(INTERNAL))
    const labels = ROWS.map(({ label }) => label)
    expect([...new Set(labels.map((label) => label.replace(/ \(.*\)$/, '')))].sort()).toEqual(
      routes.map(({ method, path }) => `${method} ${path}`).sort(),
    )
    expect(Object.keys(REQUESTS)).toEqual(labels)
  })

  it.each(ROWS)(
    '[REST-6] [BLOB-5] [BLOB-6] [SHARE-4] $label of another workspace answers as the table says',
    async ({ label, cells }) => {
      const never: Things = { ...unknown, linkId: foreign.linkId.replaceAll(/[a-z0-9]/gi, 'x') }
      const gone: Things = { ...foreign, docId: foreign.deletedId }
      for (const [role, status] of Object.entries(cells)) {
        const ofNobody = await ask(label, role, never)
        for (const things of [foreign, gone]) {
          const ofOther = await ask(label, role, things)
          expect(ofOther.shown).toBe(ofNobody.shown)
          expect([role, String(ofOther.status)]).toEqual([role, status])
          expect(ofOther.shown).not.toContain('Theirs')
        }
      }
    },
  )

  it('[REST-6] none of the requests changed the other workspace', async () => {
    const as = HOME
    expect((await call('GET', '/api/docs/foreign-', { as })).json).toMatchObject({
      name: 'Theirs',
      serverVersion: 2,
      ownerId: 'ann',
    })
    expect((await call('PUT', '/api/docs/deleted-', { as, body: {} })).status).toBe(410)
    expect((await call('GET', '/api/collections', { as })).json).toMatchObject({ version: 1, collections: [{ id: 'theirs--' }] })
    expect((await call('GET', '/api/v1/style-profiles', { as })).json).toMatchObject({ version: 1, profiles: [{ id: 'p' }] })
    expect((await call('GET', `/api/blobs/${hashOf('theirs too')}`, { as })).text).toBe('theirs too')
    expect((await call('GET', '/api/v1/docs/foreign-/share-links', { as })).json).toMatchObject({
      shareLinks: [{ id: foreign.linkId }],
    })
    const redeemed = await call('POST', '/api/v1/share-links/redeem', {
      as: { ...HOME, sub: 'eve' },
      body: { token: foreign.token },
    })
    expect(redeemed.status).toBe(200)
  })
})
