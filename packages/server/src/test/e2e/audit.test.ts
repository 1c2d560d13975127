import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { openWire } from '../wire-client.ts'

/**
 * Every line with `audit: true` that a day of sharing and deleting logs, with the fields that it adds to the common ones. `blob.ingested` needs
 * hosts on the internet and is pinned with its feature.
 */
const PINNED = `
access.refused: action code docId requestId sub workspace
auth.revocations.polled: count
auth.revocations.pushed: count requestId
document.captured: docId pointId sub workspace
document.created: docId sub version workspace
document.deleted: docId sub version workspace
document.member_purged: docId member version workspace
document.override: docId sub version workspace
document.restored: docId newDocId pointId sub workspace
document.shared: docId sub version workspace
document.transferred: docId newOwner sub workspace
share-link.issued: docId expiresAt linkId sub workspace
share-link.redeemed: access docId linkId sub workspace
share-link.refused: sub workspace
share-link.revoked: docId linkId sub workspace
workspace.member_purged: member purged requestId workspace
ws.edit_refused: docId sub workspace
ws.join_refused: docId sub workspace
ws.role_changed: role sub workspace
ws.view_lost: docId sub workspace
`

let relay: RelayUnderTest
/** A control plane that knows of one revoked token. */
const plane = createServer((_, response) => {
  const now = new Date().toISOString()
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ revocations: [{ jti: 'polled-token', revoked_at: now }], next_since: now }))
})
beforeAll(async () => {
  await new Promise<void>((resolve) => plane.listen(0, '127.0.0.1', resolve))
  const { port } = plane.address() as AddressInfo
  relay = await startRelayUnderTest({
    env: {
      RELAY_LOG_LEVEL: 'debug',
      RELAY_REVOCATION_POLLING_URL: `http://127.0.0.1:${port}/revocations`,
      RELAY_REVOCATION_POLLING_BEARER: 'polling-secret-for-tests',
    },
  })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  plane.close()
})

type Caller = 'ann' | 'ben' | 'cleo'
const CLAIMS = { ann: { role: 'owner' }, ben: { role: 'member' }, cleo: { role: 'viewer' } } as const
const of = (sub: Caller) => ({ sub, ...CLAIMS[sub] })

async function call(as: Caller | null, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const authorization = `Bearer ${as === null ? 'revocation-secret-for-tests' : relay.token(of(as))}`
  const response = await relay.fetch(path, {
    method,
    headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
}

interface AuditLine extends Record<string, unknown> {
  readonly event: string
}

const COMMON = new Set(['ts', 'level', 'event', 'msg', 'audit'])
const auditLines = () => relay.logLines.map((line) => JSON.parse(line) as AuditLine).filter((line) => line['audit'] === true)

async function sharing(): Promise<string> {
  await call('ann', 'PUT', '/api/docs/d', { name: 'd' })
  const issued = await call('ann', 'POST', '/api/v1/docs/d/share-links', {
    expires_at: new Date(Date.now() + 60_000).toISOString(),
  })
  const token = String(issued['token'])
  await call('ben', 'POST', '/api/v1/share-links/redeem', { token })
  await call('ben', 'POST', '/api/v1/share-links/redeem', { token: `${token.slice(0, -4)}AAAA` })
  const viewer = relay.sync('d', of('ben'))
  await until('ben to have joined', () => viewer.state.synced)
  viewer.doc.getMap('metadata').set('title', 'not his to change')
  await until('the refused edit', () => auditLines().some(({ event }) => event === 'ws.edit_refused'))
  await call('ann', 'DELETE', `/api/v1/docs/d/share-links/${String(issued['id'])}`)
  await call('ben', 'DELETE', '/api/docs/d')
  await call('ann', 'PUT', '/api/docs/d', { name: 'd', sharedWith: [] })
  await until('ben to lose it', () => auditLines().some(({ event }) => event === 'ws.view_lost'))
  viewer.destroy()
  const stranger = relay.sync('d', of('ben'))
  await until('the refused join', () => auditLines().some(({ event }) => event === 'ws.join_refused'))
  stranger.destroy()
  return token
}

async function recovering(): Promise<void> {
  await call('ann', 'PUT', '/api/docs/d', { name: 'd', richTextPages: [{ id: 'text', name: 'Text', content: '<p>new</p>' }] })
  await call('ann', 'POST', '/api/docs/d/recovery/capture')
  const { recoveryPoints: points = [] } = (await call('ann', 'GET', '/api/docs/d/recovery')) as {
    recoveryPoints?: { id: string }[]
  }
  await call('ann', 'POST', `/api/docs/d/recovery/${String(points[0]?.id)}/restore`)
  await call('ann', 'PUT', '/api/docs/d?overrideTombstone=true', { name: 'd again' })
  await call('ann', 'DELETE', '/api/docs/d')
}

async function changingRole(): Promise<void> {
  const client = await openWire(relay)
  for (const role of ['member', 'owner'] as const) {
    client.auth(relay.token({ sub: 'dan', role }))
    await client.next(TAG.authResponse)
  }
  client.socket.close()
  await client.closed
  await until('the poll', () => auditLines().some(({ event }) => event === 'auth.revocations.polled'))
}

async function leaving(): Promise<void> {
  await call('ann', 'PUT', '/api/docs/e', { name: 'e', sharedWith: [{ userId: 'cleo', access: 'view' }] })
  await call(null, 'POST', '/api/v1/internal/workspace/default/purge-member', { user_id: 'cleo' })
  const client = relay.sync('e', of('ann'))
  await saved(client)
  client.destroy()
  await call('ann', 'POST', '/api/docs/e/transfer', { newOwnerId: 'ben', newOwnerName: 'Ben' })
  await call(null, 'POST', '/api/v1/internal/revoke', {
    revocations: [{ jti: 'some-token', revoked_at: new Date().toISOString() }],
  })
}

it('[OPS-7] [OPS-6] the log has each change of a document once with its actor, and no share token', async () => {
  const token = await sharing()
  await recovering()
  await leaving()
  await changingRole()
  expect(await relay.stop()).toBe(0)
  const kinds = new Map(
    auditLines().map((line) => [
      line.event,
      Object.keys(line)
        .filter((name) => !COMMON.has(name))
        .sort(),
    ]),
  )
  const seen = [...kinds].map(([event, fields]) => `${event}: ${fields.join(' ')}`).sort()
  expect(seen).toEqual(PINNED.trim().split('\n'))
  expect(token.length).toBeGreaterThan(20)
  expect(relay.logLines.join('\n')).not.toContain(token.slice(0, 16))
})
