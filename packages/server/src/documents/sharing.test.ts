import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { decideLevel } from '../access/access.ts'
import { readShares } from '../access/shares.ts'
import { PRIVATE_DOCS } from '../access/testing/policies.ts'
import { noResidents, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { RelayError } from '../kernel/errors.ts'
import type { DocumentWrite } from './document-store.port.ts'
import { type NewShare, replacedShares } from './sharing.ts'

const SECRET = 'a-secret-of-sixteen'
const mia = { sub: 'mia', role: 'member' }
const live: string[] = []
/** Called before each write reaches the store. */
let before: (write: DocumentWrite) => Promise<void> | void = () => {}
let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({
    residents: {
      ...noResidents,
      bodyChanged: ({ id }, version) => void live.push(`changed ${id} ${version}`),
      sharingChanged: ({ id, sharedWith }) => void live.push(`sharing ${id} ${JSON.stringify(sharedWith)}`),
    },
    store: (real) => ({
      ...real,
      async write(write) {
        await before(write)
        return real.write(write)
      },
    }),
  })
})
afterAll(() => relay[Symbol.asyncDispose]())
beforeEach(() => {
  before = () => {}
  live.length = 0
})

let made = 0
const workspace = () => `ws${++made}`
const put = (ws: string, id: string, body: object = {}) =>
  relay.call('PUT', `/api/docs/${id}`, { as: { ...mia, workspace: ws }, body })
const purge = (ws: string, body: unknown = { user_id: 'ben' }, token = SECRET) =>
  relay.call('POST', `/api/v1/internal/workspace/${encodeURIComponent(ws)}/purge-member`, { token, body })
const headOf = async (workspaceId: string, id: string) => {
  const state = await relay.storage.documents.state({ workspaceId, id })
  if (state.kind !== 'document') throw new Error(state.kind)
  return state.head
}

describe('purging a member', () => {
  it('[REST-33] purge-member removes the user from every share list of the workspace in any spelling, and nobody else', async () => {
    const [ws, other] = [workspace(), workspace()]
    await put(ws, 'a', { sharedWith: ['ben', { userId: 'ben', permission: 'edit' }, { userId: 'eve' }] })
    await put(ws, 'b', { sharedWith: [{ user_id: 'ben', role: 'owner' }, { odd: 1 }] })
    await put(ws, 'c', { sharedWith: [{ id: 'ben', permission: 'nonsense' }] })
    await put(ws, 'd', { sharedWith: ['benny', { userId: 'eve', userName: 'ben' }] })
    await put(other, 'a', { sharedWith: ['ben'] })
    const answer = await purge(ws)
    expect([answer.status, answer.json]).toEqual([200, { purged: 3 }])
    expect((await headOf(ws, 'a')).sharedWith).toEqual([{ userId: 'eve' }])
    expect((await headOf(ws, 'b')).sharedWith).toEqual([{ odd: 1 }])
    expect((await headOf(ws, 'c')).sharedWith).toEqual([])
    expect(await headOf(ws, 'd')).toMatchObject({ version: 1, sharedWith: ['benny', { userId: 'eve', userName: 'ben' }] })
    expect((await headOf(other, 'a')).sharedWith).toEqual(['ben'])
    expect((await purge(ws)).json).toEqual({ purged: 0 })
  })

  it('[REST-33] [WS-52] [OPS-7] purge-member updates live joins, sends an event for each document, and is audited', async () => {
    const ws = workspace()
    await put(ws, 'a', { sharedWith: ['ben'] })
    live.length = 0
    await purge(ws)
    expect(live).toEqual(['changed a 2', 'sharing a []'])
    expect(relay.events.at(-1)).toMatchObject({ kind: 'updated', actor: '', head: { id: 'a', version: 2, sharedWith: [] } })
    const audited = relay.logLines.filter((line) => line.workspace === ws && line.audit === true && line.member === 'ben')
    expect(audited.map(({ event, docId, purged }) => [event, docId, purged])).toEqual([
      ['document.member_purged', 'a', undefined],
      ['workspace.member_purged', undefined, 1],
    ])
  })

  it('[REST-33] purge-member changes a hundred documents a few at a time', async () => {
    const ws = workspace()
    const ids = Array.from({ length: 100 }, (_, i) => `d${i}`)
    await Promise.all(ids.map((id) => put(ws, id, { sharedWith: ['ben'] })))
    let running = 0
    let most = 0
    before = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running--
    }
    expect((await purge(ws)).json).toEqual({ purged: 100 })
    expect(most).toBeLessThanOrEqual(16)
  })

  it('[REST-33] purge-member answers 503 for documents it cannot write, changes the others, and can be repeated', async () => {
    const ws = workspace()
    for (const id of ['a', 'b', 'c']) await put(ws, id, { sharedWith: ['ben'] })
    before = ({ ref }) => {
      if (ref.id === 'b') throw new RelayError('NOT_PERSISTED', 'the disk is full')
    }
    expect((await purge(ws)).json).toMatchObject({ errorCode: 'NOT_PERSISTED' })
    const lists = await Promise.all(['a', 'b', 'c'].map(async (id) => (await headOf(ws, id)).sharedWith))
    expect(lists).toEqual([[], ['ben'], []])
    before = () => {}
    expect((await purge(ws)).json).toEqual({ purged: 1 })
  })

  it('[REST-33] [LIFE-13] purge-member keeps a share list written meanwhile and removes the user from that one', async () => {
    const ws = workspace()
    await put(ws, 'a', { sharedWith: ['ben'] })
    const head = await headOf(ws, 'a')
    const stored = { kind: 'document', key: head.key, version: head.version } as const
    before = async () => {
      before = () => {}
      const ref = { workspaceId: ws, id: 'a' }
      const set = { sharedWith: ['ben', 'eve'] }
      await relay.storage.documents.write({
        ref,
        expect: stored,
        set,
        bump: true,
        nowMs: 1,
        quotaBytes: null,
        log: { kind: 'none' },
      })
    }
    expect((await purge(ws)).json).toEqual({ purged: 1 })
    expect(await headOf(ws, 'a')).toMatchObject({ version: 3, sharedWith: ['eve'] })
  })

  it('[REST-33] purge-member does not count a document deleted meanwhile', async () => {
    const ws = workspace()
    await put(ws, 'a', { sharedWith: ['ben'] })
    const { key } = await headOf(ws, 'a')
    before = async () => {
      before = () => {}
      await relay.storage.documents.remove({ workspaceId: ws, id: 'a' }, key, 1)
    }
    expect((await purge(ws)).json).toEqual({ purged: 0 })
  })

  it('[REST-33] [BODY-11] a bad or user bearer answers 401, a bad workspace or user 400', async () => {
    const ws = workspace()
    await put(ws, 'a', { sharedWith: ['ben'] })
    expect((await purge(ws, undefined, `${SECRET}x`)).status).toBe(401)
    expect((await purge(ws, undefined, relay.issuer.token({ role: 'owner', workspace: ws }))).status).toBe(401)
    for (const id of ['a/b', '..', 'x'.repeat(65), 'a\0']) {
      expect((await purge(id)).json).toMatchObject({ errorCode: 'BAD_ID', field: 'ws' })
    }
    for (const body of [{}, { user_id: '' }, { user_id: 7 }, { user_id: 'x'.repeat(257) }]) {
      expect((await purge(ws, body)).json).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'user_id' })
    }
    expect((await headOf(ws, 'a')).sharedWith).toEqual(['ben'])
  })
})

describe('a share list with concurrent writers', () => {
  it('[SHARE-6] [REST-16] replacing a share list that loses five times against other processes answers 503, and sends no event', async () => {
    const ws = workspace()
    await put(ws, 'a')
    const ref = { workspaceId: ws, id: 'a' }
    let attempts = 0
    before = async (write) => {
      attempts++
      await relay.storage.documents.write({ ...write, ref, set: { collectionId: `c${attempts}` } })
    }
    const events = relay.events.length
    live.length = 0
    const body = { shares: [{ userId: 'eve', permission: 'viewer' }] }
    const answer = await relay.call('POST', '/api/docs/a/share', { as: { ...mia, workspace: ws }, body })
    expect([answer.status, answer.json.errorCode, attempts]).toEqual([503, 'UNAVAILABLE', 5])
    expect([relay.events.length, live]).toEqual([events, []])
    expect(await headOf(ws, 'a')).toMatchObject({ version: 6, collectionId: 'c5', sharedWith: [] })
  })

  it('[SHARE-6] [SHARE-4] 12 links that are redeemed at the same time as a transfer are all stored, and so is the transfer', async () => {
    const ws = workspace()
    const as = { ...mia, workspace: ws }
    await put(ws, 'a')
    const expires_at = new Date(Date.now() + 60_000).toISOString()
    const { token } = (await relay.call('POST', '/api/v1/docs/a/share-links', { as, body: { expires_at } })).json
    const people = Array.from({ length: 12 }, (_, i) => `p${i}`)
    const redeemed = people.map((sub) =>
      relay.call('POST', '/api/v1/share-links/redeem', { as: { sub, role: 'member', workspace: ws }, body: { token } }),
    )
    const transfer = relay.call('POST', '/api/docs/a/transfer', { as, body: { to_user_id: 'eve' } })
    expect((await Promise.all([...redeemed, transfer])).map(({ status }) => status)).toEqual([...people.map(() => 200), 204])
    const { sharedWith, ownerId, version } = await headOf(ws, 'a')
    expect([ownerId, version]).toEqual(['eve', 14])
    expect(new Set(readShares(sharedWith).map(({ userId }) => userId))).toEqual(new Set([...people, 'mia']))
  })
})

describe('replacing a share list', () => {
  const userId = fc.constantFrom('a', 'b', 'c', 'd')
  const given = fc.array(
    fc.oneof(userId, fc.record({ userId, permission: fc.constantFrom('view', 'edit', 'odd'), sharedAt: fc.nat() })),
  )
  const shares = fc.uniqueArray(
    fc.record({
      userId,
      userName: fc.constantFrom(null, 'Name'),
      permission: fc.constantFrom('view' as const, 'edit' as const, 'none' as const),
    }),
    { selector: (share: NewShare) => share.userId },
  )

  it('[SHARE-6] a replaced share list gives everybody exactly the requested level, and a repeat changes nothing', () => {
    fc.assert(
      fc.property(given, shares, (stored, asked) => {
        const replaced = replacedShares({ ownerId: 'x', sharedWith: stored }, asked, 77)
        for (const sub of ['a', 'b', 'c', 'd']) {
          const level = decideLevel({ sub, role: 'member' }, { ownerId: 'x', shares: readShares(replaced) }, PRIVATE_DOCS)
          expect(level).toBe(asked.find((share) => share.userId === sub)?.permission ?? 'none')
        }
        expect(replacedShares({ ownerId: 'x', sharedWith: replaced }, asked, 99)).toEqual(replaced)
      }),
      { seed: 6, numRuns: 200 },
    )
  })
})
