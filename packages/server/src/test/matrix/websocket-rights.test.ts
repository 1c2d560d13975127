import { chunkFrames, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { openWire, rawUpgrade, type WireClient } from '../wire-client.ts'
import { CALLERS, type CallerKind, REVOKED_JTI, SHARES, tokenOf } from './callers.ts'
import { readTable } from './table.ts'

/**
 * Every operation of the socket for every kind of caller. [PERM-3, PERM-4]
 * ok: done. V ERR_VIEW_FORBIDDEN, E ERR_EDIT_FORBIDDEN, N ERR_NOT_AUTHENTICATED; -: no answer and no effect; a number: the socket is closed.
 * The upgrade: 101 or the code of the refusal, U UNAUTHENTICATED, R TOKEN_REVOKED, M TOKEN_MALFORMED, X TOKEN_INVALID, F the plain forbidden.
 */
const RIGHTS = `
                            doc owner  owner share  edit share  view share  ws owner  member  viewer, owner  viewer, edit share  viewer  open: member  open: viewer  anonymous  revoked  malformed  expired  other audience  other workspace
  upgrade with the bearer   101        101          101         101         101       101     101            101                 101     101           101           101        R        M          X        X               F
  AUTH                      ok         ok           ok          ok          ok        ok      ok             ok                  ok      ok            ok            -          4401     4401       4401     4401            4403
  JOIN_DOC                  ok         ok           ok          ok          ok        V       ok             ok                  V       ok            ok            N          4401     4401       4401     4401            4403
  SYNC step1                ok         ok           ok          ok          ok        -       ok             ok                  -       ok            ok            -          4401     4401       4401     4401            4403
  SYNC step2, nothing new   ok         ok           ok          ok          ok        -       ok             ok                  -       ok            ok            -          4401     4401       4401     4401            4403
  SYNC step2, a change      ok         ok           ok          E           ok        -       E              E                   -       ok            E             -          4401     4401       4401     4401            4403
  SYNC update               ok         ok           ok          E           ok        -       E              E                   -       ok            E             -          4401     4401       4401     4401            4403
  SYNC_CHUNK                ok         ok           ok          E           ok        -       E              E                   -       ok            E             -          4401     4401       4401     4401            4403
  AWARENESS                 ok         ok           ok          ok          ok        -       ok             ok                  -       ok            ok            -          4401     4401       4401     4401            4403
  DOC_EVENT updated         ok         ok           ok          ok          ok        -       ok             ok                  -       ok            ok            -          4401     4401       4401     4401            4403
  DOC_EVENT deleted         ok         ok           ok          ok          ok        -       ok             ok                  -       ok            ok            -          4401     4401       4401     4401            4403
`

const LETTERS: Readonly<Record<string, string>> = {
  ERR_VIEW_FORBIDDEN: 'V',
  ERR_EDIT_FORBIDDEN: 'E',
  ERR_NOT_AUTHENTICATED: 'N',
  UNAUTHENTICATED: 'U',
  TOKEN_REVOKED: 'R',
  TOKEN_MALFORMED: 'M',
  TOKEN_INVALID: 'X',
}
const OWNER = { sub: 'own', role: 'member' }
const ROWS = readTable(RIGHTS)

let enforced: RelayUnderTest
let open: RelayUnderTest
let shared: SharedRelay
beforeAll(async () => {
  const limits = { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '1000', RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' }
  const env = { ...limits, RELAY_TRUSTED_PROXIES: '127.0.0.0/8' }
  ;[enforced, open, shared] = await Promise.all([
    startRelayUnderTest({ env }),
    startRelayUnderTest({ env: { ...env, RELAY_ENFORCE_PRIVATE_DOCS: 'false' } }),
    sharedRelay(),
  ])
  const revocations = [{ jti: REVOKED_JTI, revoked_at: new Date().toISOString() }]
  const headers = { authorization: 'Bearer revocation-secret-for-tests' }
  const pushed = await rawHttp(enforced)('POST', '/api/v1/internal/revoke', { as: null, headers, body: { revocations } })
  expect(pushed.status).toBe(204)
})
afterAll(async () => {
  await enforced?.[Symbol.asyncDispose]()
  await open?.[Symbol.asyncDispose]()
  await shared?.[Symbol.asyncDispose]()
})

/** One cell: the caller's socket, authenticated as far as it can be, and a document of its own. */
interface Cell {
  readonly relay: RelayUnderTest
  readonly call: Call
  readonly caller: WireClient
  readonly kind: CallerKind
  readonly docId: string
  /** Opens a client of the document's owner that has joined it. */
  peer(): Promise<WireClient>
}

const letterOf = (code: unknown): string => LETTERS[String(code)] ?? String(code)

/**
 * Resolves when the relay has handled all earlier frames. It sends a frame that is always refused; frames of a connection are handled in order.
 * [WS-11]
 */
async function handled({ caller }: Cell): Promise<void> {
  const before = caller.errors().length
  const isAnswered = (): boolean =>
    caller
      .errors()
      .slice(before)
      .some(({ code }) => code === 'ERR_UNKNOWN_DOC' || code === 'ERR_NOT_AUTHENTICATED')
  caller.join('barrier')
  await until('the barrier', isAnswered)
}

/** Joins, and returns the refusal, or `null`. */
async function join({ caller, docId }: Cell): Promise<string | null> {
  caller.join(docId)
  await until('an answer to JOIN_DOC', () => caller.syncs().includes(SYNC.step1) || caller.errors().length > 0)
  const refusal = caller.errors()[0]
  return refusal === undefined ? null : letterOf(refusal.code)
}

/** Sends after a JOIN_DOC, accepted or not. Returns the refusal, or whether `happened` became true. */
async function afterJoin(cell: Cell, send: () => void, happened: () => boolean): Promise<string> {
  const { caller } = cell
  const refused = await join(cell)
  const from = caller.errors().length
  send()
  if (refused === null) {
    await until('an effect or a refusal', () => happened() || caller.errors().length > from)
    const refusal = caller.errors()[from]
    return refusal === undefined ? 'ok' : letterOf(refusal.code)
  }
  await handled(cell)
  return happened() || caller.errors().length > from + 1 ? 'an answer' : '-'
}

/** Makes a change. It must be acknowledged and reach another client with the document open, or neither. */
async function write(cell: Cell, send: (update: Uint8Array) => void): Promise<string> {
  const peer = await cell.peer()
  const { caller } = cell
  const outcome = await afterJoin(
    cell,
    () => send(caller.put('change')),
    () => caller.acks().at(-1) === 1 && caller.errors().length === 0,
  )
  if (outcome === 'ok') await until('the change at the peer', () => peer.has('change'))
  else {
    await peer.settled()
    expect(peer.has('change')).toBe(false)
  }
  peer.socket.close()
  return outcome
}

async function told(cell: Cell, eventType: string, cause: () => Promise<unknown>): Promise<string> {
  const witness = await openWire(cell.relay)
  const isTold = (client: WireClient): boolean =>
    client.jsonOf(TAG.docEvent).some((event) => event.eventType === eventType && event.docId === cell.docId)
  witness.auth(cell.relay.token(OWNER))
  await witness.next(TAG.authResponse)
  await cause()
  await until('the event', () => isTold(witness))
  witness.socket.close()
  await handled(cell)
  return isTold(cell.caller) ? 'ok' : '-'
}

const OPERATIONS: Readonly<Record<string, (cell: Cell) => Promise<string>>> = {
  async 'upgrade with the bearer'({ relay, kind }) {
    const token = tokenOf(kind, relay)
    const answer = await rawUpgrade(relay, '/ws?protocolVersion=4', token === null ? {} : { Authorization: `Bearer ${token}` })
    if (answer.status === 101) return '101'
    return answer.body === 'forbidden' ? 'F' : letterOf((JSON.parse(answer.body) as { errorCode: string }).errorCode)
  },
  AUTH: ({ caller }) => Promise.resolve(caller.jsonOf(TAG.authResponse)[0]?.success === true ? 'ok' : '-'),
  JOIN_DOC: async (cell) => (await join(cell)) ?? 'ok',
  'SYNC step1': (cell) =>
    afterJoin(
      cell,
      () => cell.caller.step1(),
      () => cell.caller.syncs().includes(SYNC.step2),
    ),
  'SYNC step2, nothing new': (cell) =>
    afterJoin(
      cell,
      () => cell.caller.step2(),
      () => cell.caller.acks().at(-1) === 1,
    ),
  'SYNC step2, a change': (cell) => write(cell, (update) => cell.caller.step2(update)),
  'SYNC update': (cell) => write(cell, (update) => cell.caller.update(update)),
  SYNC_CHUNK: (cell) =>
    write(cell, (update) => {
      for (const piece of chunkFrames(syncFrame(SYNC.update, update), Buffer.alloc(16, 7), 16)) cell.caller.send(piece)
    }),
  async AWARENESS(cell) {
    const peer = await cell.peer()
    const isSeen = (): boolean => peer.present().some((states) => states.some(({ client }) => client === 77))
    const outcome = await afterJoin(cell, () => cell.caller.presence({ client: 77, clock: 1, state: { here: true } }), isSeen)
    peer.socket.close()
    return outcome
  },
  'DOC_EVENT updated': (cell) =>
    told(cell, 'updated', () => cell.call('PUT', `/api/docs/${cell.docId}`, { body: { name: 'x' } })),
  'DOC_EVENT deleted': (cell) => told(cell, 'deleted', () => cell.call('DELETE', `/api/docs/${cell.docId}`)),
}

/** Opens a socket with a client address of its own, because the relay delays its answers to an address whose tokens were refused. */
function openFrom(relay: RelayUnderTest): Promise<WireClient> {
  return openWire(relay, { headers: { 'X-Forwarded-For': `198.51.${made >> 8}.${made & 255}` } })
}

let made = 0
async function ask(operation: string, column: string): Promise<string> {
  const kind = CALLERS[column]
  const run = OPERATIONS[operation]
  if (kind === undefined || run === undefined) throw new Error(`nothing is known of ${operation} or ${column}`)
  const relay = kind.isOpen === true ? open : enforced
  const call = rawHttp(relay, { as: OWNER })
  const docId = `live-${++made}`
  expect((await call('PUT', `/api/docs/${docId}`, { body: { sharedWith: SHARES } })).status).toBe(200)
  const caller = await openFrom(relay)
  const token = tokenOf(kind, relay)
  if (token !== null) {
    caller.auth(token, ['ack'])
    const { success } = await caller.nextJson(TAG.authResponse)
    if (success !== true && !operation.startsWith('upgrade')) return String((await caller.closed).code)
  }
  const peer = async (): Promise<WireClient> => (await openWire(relay)).enter(relay.token(OWNER), docId)
  const outcome = await run({ relay, call, caller, kind, docId, peer })
  caller.socket.close()
  return outcome
}

describe('every client frame for every kind of caller', () => {
  it('[PERM-3] the table has every client frame and every kind of caller', () => {
    for (const { cells } of ROWS) expect(Object.keys(cells)).toEqual(Object.keys(CALLERS))
    expect(Object.keys(OPERATIONS)).toEqual(ROWS.map(({ label }) => label))
    const frames = new Set(ROWS.flatMap(({ label }) => /^[A-Z_]+/.exec(label)?.[0] ?? []))
    const named: Readonly<Record<string, number>> = {
      SYNC: TAG.sync,
      AWARENESS: TAG.awareness,
      AUTH: TAG.auth,
      DOC_EVENT: TAG.docEvent,
      JOIN_DOC: TAG.joinDoc,
      SYNC_CHUNK: TAG.syncChunk,
    }
    expect([...frames].sort()).toEqual(Object.keys(named).sort())
    // Messages that need no right: answers of the relay, and the heartbeat.
    const free = [TAG.error, TAG.authResponse, TAG.joined, TAG.syncChunkAck, TAG.heartbeat, TAG.syncAck]
    expect([...Object.values(named), ...free].sort((a, b) => a - b)).toEqual(Object.values(TAG).sort((a, b) => a - b))
  })

  it.each(ROWS)(
    '[PERM-1] [PERM-3] [PERM-4] [PERM-8] [WS-14] [WS-16] [WS-21] [WS-27] [WS-30] [WS-43] [WS-51] $label has for every kind of caller the result in the table',
    async ({ label, cells }) => {
      const outcomes = await Promise.all(Object.keys(cells).map(async (column) => [column, await ask(label, column)]))
      expect(Object.fromEntries(outcomes)).toEqual(cells)
    },
  )
})

describe('another workspace', () => {
  it.each(['owner', 'member', 'viewer'])(
    '[REST-6] [WS-21] [WS-51] a socket of role %s gets the same answers for existing, deleted and missing documents of another workspace',
    async (role) => {
      const [theirs, own] = [
        { sub: 'ann', workspace: `of-others-${role}`, role: 'owner' },
        { sub: 'ann', workspace: `own-${role}`, role },
      ]
      const call = rawHttp(shared, { as: theirs })
      for (const id of ['foreign-', 'deleted-']) await call('PUT', `/api/docs/${id}`, { body: { sharedWith: ['ann'] } })
      await call('DELETE', '/api/docs/deleted-')
      const home = await (await openWire(shared)).enter(shared.token(theirs), 'foreign-')
      const seen = await Promise.all(
        ['never---', 'foreign-', 'deleted-'].map(async (docId) => {
          const client = await openWire(shared)
          client.auth(shared.token(own), ['ack'])
          await client.next(TAG.authResponse)
          const from = client.frames.length
          client.join(docId)
          client.step1()
          client.update(Y.encodeStateAsUpdate(new Y.Doc()))
          client.update(client.put('intruder'))
          client.presence({ client: 5, clock: 1, state: {} })
          await call('PUT', `/api/docs/foreign-`, { body: { name: docId } })
          await client.settled()
          client.socket.close()
          return client.frames.slice(from).map((frame) => frame.toString('latin1').replaceAll(docId, 'ID'))
        }),
      )
      expect(seen[0]?.join()).toContain('ERR_UNKNOWN_DOC')
      expect(seen[1]).toEqual(seen[0])
      expect(seen[2]).toEqual(seen[0])
      await home.settled()
      expect(home.has('intruder')).toBe(false)
      expect(home.present()).toEqual([])
    },
  )
})
