import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtConsole, SCRIPT } from '../../console/testing/built-console.ts'
import { routeTable } from '../../compose/route-table.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type Call, type RawAnswer, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'
import { CALLERS, REVOKED_JTI, SHARES, tokenOf } from './callers.ts'
import { readTable } from './table.ts'

/**
 * Every route for every kind of caller: the status of a success, or the code of the refusal. [PERM-3, PERM-4]
 * V VIEW_FORBIDDEN, E EDIT_FORBIDDEN, O OWNER_REQUIRED, U UNAUTHENTICATED, R TOKEN_REVOKED, M TOKEN_MALFORMED, X TOKEN_INVALID,
 * F the plain forbidden of dedicated tenancy, P PRESIGN_UNSUPPORTED, I INGEST_DISABLED.
 */
const RIGHTS = `
                                                    doc owner  owner share  edit share  view share  ws owner  member  viewer, owner  viewer, edit share  viewer  open: member  open: viewer  anonymous  revoked  malformed  expired  other audience  other workspace
  GET /api/docs                                     200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  GET /api/docs (shows it)                          yes        yes          yes         yes         yes       no      yes            yes                 no      yes           yes           U          R        M          X        X               F
  GET /api/docs/:id                                 200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  PUT /api/docs/:id                                 200        200          200         E           200       V       E              E                   V       200           E             U          R        M          X        X               F
  PUT /api/docs/:id (its shares)                    yes        yes          no          E           yes       V       E              E                   V       no            E             U          R        M          X        X               F
  PUT /api/docs/:id (a new id)                      200        200          200         200         200       200     E              E                   E       200           E             U          R        M          X        X               F
  PUT /api/docs/:id (a deleted id)                  200        V            V           V           200       V       E              V                   V       O             E             U          R        M          X        X               F
  DELETE /api/docs/:id                              204        204          O           O           204       V       E              E                   V       O             E             U          R        M          X        X               F
  POST /api/docs/:id/transfer                       204        204          O           O           204       V       E              E                   V       O             E             U          R        M          X        X               F
  PUT /api/docs/:id/collection                      204        204          204         E           204       V       E              E                   V       204           E             U          R        M          X        X               F
  GET /api/v1/docs/:id/metadata                     200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  GET /api/docs/:id/ydoc                            200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  GET /api/blobs/:hash                              200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  POST /api/blobs/:hash                             204        204          204         204         204       204     E              E                   E       204           E             U          R        M          X        X               F
  POST /api/v1/blobs/:hash/upload-url               P          P            P           P           P         P       E              E                   E       P             E             U          R        M          X        X               F
  POST /api/v1/blobs/:hash/finalize                 P          P            P           P           P         P       E              E                   E       P             E             U          R        M          X        X               F
  POST /api/v1/blobs/:hash/download-url             P          P            P           P           P         P       P              P                   P       P             P             U          R        M          X        X               F
  POST /api/v1/blobs/ingest-from-url                I          I            I           I           I         I       E              E                   E       I             E             U          R        M          X        X               F
  GET /api/docs/:id/recovery                        200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  POST /api/docs/:id/recovery/capture               200        200          200         E           200       V       E              E                   V       200           E             U          R        M          X        X               F
  GET /api/docs/:id/recovery/:pointId               200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  POST /api/docs/:id/recovery/:pointId/restore      200        200          O           O           200       V       E              E                   V       O             E             U          R        M          X        X               F
  GET /api/v1/docs/:id/calls                        200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  POST /api/v1/docs/:id/calls/:callId/undo          200        200          200         E           200       V       E              E                   V       200           E             U          R        M          X        X               F
  GET /api/v1/docs/:id/preview.svg                  200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  GET /api/v1/docs/:id/preview.png                  200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  GET /api/collections                              200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  PUT /api/collections                              200        200          200         200         200       200     E              E                   E       200           E             U          R        M          X        X               F
  GET /api/collections/:id/documents                200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  GET /api/collections/:id/documents (shows it)     yes        yes          yes         yes         yes       no      yes            yes                 no      yes           yes           U          R        M          X        X               F
  GET /api/v1/style-profiles                        200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  PUT /api/v1/style-profiles                        200        200          200         200         200       200     E              E                   E       200           E             U          R        M          X        X               F
  GET /api/v1/search                                200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  GET /api/v1/search (in it)                        200        200          200         200         200       V       200            200                 V       200           200           U          R        M          X        X               F
  GET /api/v1/usage                                 200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  GET /api/v1/docs/:id/share-links                  200        200          O           O           200       V       E              E                   V       O             E             U          R        M          X        X               F
  POST /api/v1/docs/:id/share-links                 200        200          O           O           200       V       E              E                   V       O             E             U          R        M          X        X               F
  DELETE /api/v1/docs/:id/share-links/:linkId       204        204          O           O           204       V       E              E                   V       O             E             U          R        M          X        X               F
  POST /api/v1/share-links/redeem                   200        200          200         200         200       200     200            200                 200     200           200           U          R        M          X        X               F
  POST /api/docs/:id/share                          200        200          O           O           200       V       E              E                   V       O             E             U          R        M          X        X               F
  POST /api/docs/:id/share (a link)                 200        200          O           O           200       V       E              E                   V       O             E             U          R        M          X        X               F
  GET /share                                        200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  POST /api/v1/internal/workspace/:ws/purge-member  U          U            U           U           U         U       U              U                   U       U             U             U          U        U          U        U               U
  GET /console                                      302        302          302         302         302       302     302            302                 302     302           302           302        302      302        302      302             302
  GET /console/                                     200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /console/config.json                          200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /console/:file                                200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /console/assets/:file                         200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /health                                       200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /livez                                        200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /                                             200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /readyz                                       200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /version                                      200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /metrics                                      200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /api/v1/openapi.json                          200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /.well-known/oauth-protected-resource         200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  GET /.well-known/oauth-protected-resource/mcp     200        200          200         200         200       200     200            200                 200     200           200           200        200      200        200      200             200
  POST /api/v1/internal/revoke                      U          U            U           U           U         U       U              U                   U       U             U             U          U        U          U        U               U
`

const CODES: Readonly<Record<string, string>> = {
  V: 'VIEW_FORBIDDEN',
  E: 'EDIT_FORBIDDEN',
  O: 'OWNER_REQUIRED',
  U: 'UNAUTHENTICATED',
  R: 'TOKEN_REVOKED',
  M: 'TOKEN_MALFORMED',
  X: 'TOKEN_INVALID',
  P: 'PRESIGN_UNSUPPORTED',
  I: 'INGEST_DISABLED',
}
const SECRET = { authorization: 'Bearer revocation-secret-for-tests' }
const OWNER = { sub: 'own', role: 'member' }
const ROWS = readTable(RIGHTS)

interface World {
  readonly call: Call
  readonly agent: McpAgent
  /** Makes a document for a cell that writes, so that no cell is affected by another. */
  document(): Promise<string>
}

/** The request of a cell, after its prerequisites were made. */
interface Asked {
  readonly path: string
  readonly body?: unknown
  /** The document that a refusal must leave unchanged. */
  readonly docId?: string
}

const page = builtConsole()
let enforced: RelayUnderTest
let open: RelayUnderTest
let worlds: { readonly enforced: World; readonly open: World }
beforeAll(async () => {
  ;[enforced, open] = await Promise.all([
    startRelayUnderTest({ mcp: 'public', env: page.env }),
    startRelayUnderTest({ mcp: 'public', env: { ...page.env, RELAY_ENFORCE_PRIVATE_DOCS: 'false' } }),
  ])
  worlds = { enforced: await world(enforced), open: await world(open) }
})
afterAll(async () => {
  await enforced?.[Symbol.asyncDispose]()
  await open?.[Symbol.asyncDispose]()
  page[Symbol.dispose]()
})

let made = 0
async function world(relay: RelayUnderTest): Promise<World> {
  const call = rawHttp(relay, { as: OWNER })
  const revocations = [{ jti: REVOKED_JTI, revoked_at: new Date().toISOString() }]
  expect((await call('POST', '/api/v1/internal/revoke', { headers: SECRET, as: null, body: { revocations } })).status).toBe(204)
  return {
    call,
    agent: await mcpAgent(relay.mcpUrl, relay.token(OWNER)),
    async document() {
      const id = `doc-${++made}`
      const body = { name: id, sharedWith: SHARES, collectionId: 'of-the-matrix' }
      expect((await call('PUT', `/api/docs/${id}`, { body })).status).toBe(200)
      return id
    },
  }
}

/** Returns a request about one document: the path after the id, and the body. */
const ofDocument =
  (suffix: string, body?: unknown, root = '/api/docs') =>
  async ({ document }: World): Promise<Asked> => {
    const docId = await document()
    return { path: `${root}/${docId}${suffix}`, body, docId }
  }

const at = (path: string, body?: unknown) => (): Promise<Asked> => Promise.resolve({ path, body })

async function point({ call }: World, docId: string): Promise<string> {
  await call('POST', `/api/docs/${docId}/recovery/capture`)
  const { recoveryPoints } = (await call('GET', `/api/docs/${docId}/recovery`)).json as { recoveryPoints: { id: string }[] }
  return recoveryPoints[0]?.id ?? 'none'
}

const ofPoint =
  (suffix: string) =>
  async (within: World): Promise<Asked> => {
    const docId = await within.document()
    return { path: `/api/docs/${docId}/recovery/${await point(within, docId)}${suffix}`, docId }
  }

async function link({ call }: World, docId: string): Promise<{ readonly id: string; readonly token: string }> {
  const answer = await call('POST', `/api/v1/docs/${docId}/share-links`, { body: { expires_at: inAnHour() } })
  return answer.json as { id: string; token: string }
}

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString()
const hashOf = (bytes: string): string => createHash('sha256').update(bytes).digest('hex')
const ofBlob =
  (suffix: string, body?: unknown, root = '/api/v1/blobs') =>
  (): Promise<Asked> => {
    const bytes = `blob ${++made}`
    return Promise.resolve({ path: `${root}/${hashOf(bytes)}${suffix}`, body: body ?? bytes })
  }

const REQUESTS: Readonly<Record<string, (within: World) => Promise<Asked>>> = {
  'GET /api/docs': at('/api/docs'),
  'GET /api/docs (shows it)': async ({ document }) => ({ path: `/api/docs?q=${await document()}` }),
  'GET /api/docs/:id': ofDocument(''),
  'PUT /api/docs/:id': ofDocument('', { name: 'changed' }),
  'PUT /api/docs/:id (its shares)': ofDocument('', { sharedWith: [...SHARES, 'eve'] }),
  'PUT /api/docs/:id (a new id)': () => Promise.resolve({ path: `/api/docs/new-${++made}`, body: {} }),
  async 'PUT /api/docs/:id (a deleted id)'({ call, document }) {
    const docId = await document()
    await call('DELETE', `/api/docs/${docId}`)
    return { path: `/api/docs/${docId}?overrideTombstone=true`, body: {} }
  },
  'DELETE /api/docs/:id': ofDocument(''),
  'POST /api/docs/:id/transfer': ofDocument('/transfer', { to_user_id: 'new' }),
  'PUT /api/docs/:id/collection': ofDocument('/collection', { collectionId: 'another' }),
  'GET /api/v1/docs/:id/metadata': ofDocument('/metadata', undefined, '/api/v1/docs'),
  'GET /api/docs/:id/ydoc': ofDocument('/ydoc'),
  async 'GET /api/blobs/:hash'({ call }) {
    const bytes = `blob ${++made}`
    await call('POST', `/api/blobs/${hashOf(bytes)}`, { body: bytes })
    return { path: `/api/blobs/${hashOf(bytes)}` }
  },
  'POST /api/blobs/:hash': ofBlob('', undefined, '/api/blobs'),
  'POST /api/v1/blobs/:hash/upload-url': ofBlob('/upload-url', { size: 1, mimeType: 'image/png' }),
  'POST /api/v1/blobs/:hash/finalize': ofBlob('/finalize', { mimeType: 'image/png' }),
  'POST /api/v1/blobs/:hash/download-url': ofBlob('/download-url'),
  'POST /api/v1/blobs/ingest-from-url': at('/api/v1/blobs/ingest-from-url', { url: 'https://elsewhere.example/a.png' }),
  'GET /api/docs/:id/recovery': ofDocument('/recovery'),
  'POST /api/docs/:id/recovery/capture': ofDocument('/recovery/capture'),
  'GET /api/docs/:id/recovery/:pointId': ofPoint(''),
  'POST /api/docs/:id/recovery/:pointId/restore': ofPoint('/restore'),
  'GET /api/v1/docs/:id/calls': ofDocument('/calls', undefined, '/api/v1/docs'),
  async 'POST /api/v1/docs/:id/calls/:callId/undo'({ agent, document }) {
    const docId = await document()
    const { callId } = await agent.call('set_fields', { docId, fields: [{ name: 'owner', value: 'Ann' }] })
    return { path: `/api/v1/docs/${docId}/calls/${String(callId)}/undo`, body: {}, docId }
  },
  'GET /api/v1/docs/:id/preview.svg': ofDocument('/preview.svg', undefined, '/api/v1/docs'),
  'GET /api/v1/docs/:id/preview.png': ofDocument('/preview.png', undefined, '/api/v1/docs'),
  'GET /api/collections': at('/api/collections'),
  'PUT /api/collections': at('/api/collections', { collections: [{ id: 'c', name: 'C' }] }),
  'GET /api/collections/:id/documents': at('/api/collections/of-the-matrix/documents'),
  async 'GET /api/collections/:id/documents (shows it)'({ document, call }) {
    const docId = await document()
    await call('PUT', `/api/docs/${docId}/collection`, { body: { collectionId: docId } })
    return { path: `/api/collections/${docId}/documents` }
  },
  'GET /api/v1/style-profiles': at('/api/v1/style-profiles'),
  'PUT /api/v1/style-profiles': at('/api/v1/style-profiles', { profiles: [] }),
  'GET /api/v1/search': at('/api/v1/search?q=matrix'),
  async 'GET /api/v1/search (in it)'({ document }) {
    return { path: `/api/v1/search?q=matrix&docId=${await document()}` }
  },
  'GET /api/v1/usage': at('/api/v1/usage'),
  'GET /api/v1/docs/:id/share-links': ofDocument('/share-links', undefined, '/api/v1/docs'),
  async 'POST /api/v1/docs/:id/share-links'({ document }) {
    return { path: `/api/v1/docs/${await document()}/share-links`, body: { expires_at: inAnHour() } }
  },
  async 'DELETE /api/v1/docs/:id/share-links/:linkId'(within) {
    const docId = await within.document()
    return { path: `/api/v1/docs/${docId}/share-links/${(await link(within, docId)).id}`, docId }
  },
  async 'POST /api/v1/share-links/redeem'(within) {
    const { token } = await link(within, await within.document())
    return { path: '/api/v1/share-links/redeem', body: { token } }
  },
  'POST /api/docs/:id/share': ofDocument('/share', { shares: [{ userId: 'eve', permission: 'viewer' }] }),
  async 'POST /api/docs/:id/share (a link)'({ document }) {
    return { path: `/api/docs/${await document()}/share`, body: { expires_at: inAnHour() } }
  },
  'GET /share': at('/share'),
  'POST /api/v1/internal/workspace/:ws/purge-member': at('/api/v1/internal/workspace/default/purge-member', {
    user_id: 'nobody',
  }),
  'GET /console': at('/console'),
  'GET /console/': at('/console/'),
  'GET /console/config.json': at('/console/config.json'),
  'GET /console/:file': at('/console/index.html'),
  'GET /console/assets/:file': at(`/console/assets/${SCRIPT}`),
  'GET /health': at('/health'),
  'GET /livez': at('/livez'),
  'GET /': at('/'),
  'GET /readyz': at('/readyz'),
  'GET /version': at('/version'),
  'GET /metrics': at('/metrics'),
  'GET /api/v1/openapi.json': at('/api/v1/openapi.json'),
  'GET /.well-known/oauth-protected-resource': at('/.well-known/oauth-protected-resource'),
  'GET /.well-known/oauth-protected-resource/mcp': at('/.well-known/oauth-protected-resource/mcp'),
  'POST /api/v1/internal/revoke': at('/api/v1/internal/revoke', { revocations: [] }),
}

function outcomeOf({ status, text }: RawAnswer): string {
  if (status < 400) return String(status)
  if (text === 'forbidden') return 'F'
  const { errorCode } = JSON.parse(text) as { errorCode: string }
  return Object.keys(CODES).find((letter) => CODES[letter] === errorCode) ?? errorCode
}

/** The requests of rows that only read. All cells of such a row share one document. */
const readable = new Map<string, Promise<Asked>>()
function askedOf(label: string, within: World): Promise<Asked> {
  const request = REQUESTS[label]
  if (request === undefined) throw new Error(`nothing is known of ${label}`)
  if (!label.startsWith('GET ')) return request(within)
  const key = `${within === worlds.open ? 'open' : 'enforced'} ${label}`
  const asked = readable.get(key) ?? request(within)
  readable.set(key, asked)
  return asked
}

/** Runs one cell, and returns its result in the words of the table. */
async function ask(label: string, column: string): Promise<string> {
  const kind = CALLERS[column]
  if (kind === undefined) throw new Error(`nothing is known of ${column}`)
  const within = kind.isOpen === true ? worlds.open : worlds.enforced
  const { path, body, docId } = await askedOf(label, within)
  const method = label.split(' ')[0] ?? ''
  const stored = async (): Promise<string | null> =>
    docId === undefined ? null : (await within.call('GET', `/api/docs/${docId}`, { as: { sub: 'boss', role: 'owner' } })).text
  const before = method === 'GET' ? null : await stored()
  const token = tokenOf(kind, kind.isOpen === true ? open : enforced)
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const caller = { as: null, headers }
  const answer = await within.call(method, path, { ...caller, body })
  if (method === 'GET') expect((await within.call('HEAD', path, caller)).status).toBe(answer.status)
  else if (answer.status >= 400) expect(await stored()).toBe(before)
  if (label.endsWith('(its shares)') && answer.status === 200) return (await stored())?.includes('"eve"') === true ? 'yes' : 'no'
  if (label.endsWith('(shows it)') && answer.status === 200) return answer.text.includes('"doc-') ? 'yes' : 'no'
  return outcomeOf(answer)
}

describe('every route for every kind of caller', () => {
  it('[PERM-3] [X15] the table has every route of the relay and every kind of caller', () => {
    const routes = routeTable().map(({ method, path }) => `${method} ${path}`)
    const labels = ROWS.map(({ label }) => label)
    expect([...new Set(labels.map((label) => label.replace(/ \(.*\)$/, '')))].sort()).toEqual(routes.sort())
    for (const { cells } of ROWS) expect(Object.keys(cells)).toEqual(Object.keys(CALLERS))
    expect(Object.keys(REQUESTS)).toEqual(labels)
  })

  it.each(ROWS)(
    '[PERM-1] [PERM-3] [PERM-4] [PERM-8] [AUTH-1] [AUTH-2] [AUTH-6] [AUTH-16] $label answers every kind of caller as the table says',
    async ({ label, cells }) => {
      const outcomes: Record<string, string> = {}
      for (const column of Object.keys(cells)) outcomes[column] = await ask(label, column)
      expect(outcomes).toEqual(cells)
    },
  )

  it('[REST-29] [REST-33] [AUTH-17] the internal routes accept only their own secret', async () => {
    const { call } = worlds.enforced
    for (const [label, request] of Object.entries(REQUESTS).filter(([name]) => name.includes('/internal/'))) {
      const { path, body } = await request(worlds.enforced)
      expect([label, (await call('POST', path, { as: null, headers: SECRET, body })).status < 300]).toEqual([label, true])
      const wrong = { authorization: 'Bearer revocation-secret-for-test' }
      expect((await call('POST', path, { as: null, headers: wrong, body })).status).toBe(401)
    }
  })
})
