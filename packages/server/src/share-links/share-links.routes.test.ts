import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noResidents, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'

const DAY = 86_400_000
const time = manualTime(Date.UTC(2030, 0, 1))
const resharings: string[] = []
let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({
    shareClock: time.clock,
    residents: {
      ...noResidents,
      sharingChanged: ({ id, sharedWith }) => void resharings.push(`${id} ${JSON.stringify(sharedWith)}`),
    },
  })
})
afterAll(() => relay[Symbol.asyncDispose]())

const mia = { sub: 'mia', role: 'member' }
let made = 0
const create = async (body: object = {}): Promise<string> => {
  const id = `doc-${++made}`
  expect((await relay.call('PUT', `/api/docs/${id}`, { as: mia, body })).status).toBe(200)
  return id
}
const later = (ms = DAY) => new Date(time.clock.nowMs() + ms).toISOString()
const issue = (id: string, body: unknown = { expires_at: later() }, as: object = mia) =>
  relay.call('POST', `/api/v1/docs/${id}/share-links`, { as, body })
const list = (id: string, as: object = mia) => relay.call('GET', `/api/v1/docs/${id}/share-links`, { as })
const revoke = (id: string, linkId: unknown, as: object = mia) =>
  relay.call('DELETE', `/api/v1/docs/${id}/share-links/${String(linkId)}`, { as })
let people = 0
/** A new person who has not redeemed any link yet. */
const someone = (role = 'member', more: object = {}) => ({ sub: `p${++people}`, role, ...more })
const redeem = (token: unknown, as: object = someone()) =>
  relay.call('POST', '/api/v1/share-links/redeem', { as, body: { token } })
const sharesOf = async (id: string) => (await relay.call('GET', `/api/docs/${id}`, { as: mia })).json.sharedWith

describe('issuing', () => {
  it('[SHARE-1] [SHARE-2] issuing answers token, url, expiry and id; the token has 32 bytes and can be redeemed', async () => {
    const id = await create()
    const answer = await issue(id, { expires_at: '2030-01-02T01:00:00.5+01:00' })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const { token, ...rest } = answer.json
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(Buffer.from(String(token), 'base64url')).toHaveLength(32)
    expect(rest).toEqual({
      id: expect.stringMatching(/^link-[A-Za-z0-9]{12}$/),
      url: `${relay.url}/share#${String(token)}`,
      expires_at: '2030-01-02T00:00:00.500Z',
    })
    expect((await redeem(token)).status).toBe(200)
  })

  it.each([
    [
      'begins with link_base if configured',
      { kind: 'elsewhere', base: 'https://editor.example/open?x=1' },
      'https://editor.example/open?x=1#',
    ],
    ['opens the console if that is enabled', { kind: 'console', path: '/write' }, 'http://127.0.0.1:PORT/write/#share='],
  ] as const)('[SHARE-2] the url %s', async (_, shareLinksOpenAt, begin) => {
    await using other = await startRestRelay({ shareLinksOpenAt })
    await other.call('PUT', '/api/docs/d', { as: mia, body: {} })
    const expires_at = new Date(Date.now() + DAY).toISOString()
    const { url, token } = (await other.call('POST', '/api/v1/docs/d/share-links', { as: mia, body: { expires_at } })).json
    expect(url).toBe(begin.replace('PORT', String(other.port)) + String(token))
  })

  it.each([
    [{}],
    [{ expires_at: null }],
    [{ expires_at: 'tomorrow' }],
    [{ expires_at: '2030-01-02' }],
    [{ expires_at: '2030-01-02T00:00:00' }],
    [{ expires_at: '2030-01-01T00:00:00Z' }],
    [{ expires_at: '2031-01-01T00:00:00.001Z' }],
  ])('[SHARE-1] %j answers 400 BAD_REQUEST about expires_at, on both routes', async (body) => {
    const id = await create()
    const answer = await issue(id, body)
    expect([answer.status, answer.json.errorCode, answer.json.field]).toEqual([400, 'BAD_REQUEST', 'expires_at'])
    expect((await relay.call('POST', `/api/docs/${id}/share`, { as: mia, body })).status).toBe(400)
    expect((await list(id)).json).toEqual({ shareLinks: [] })
  })

  it('[SHARE-1] an expiry 365 days ahead is accepted, and at most 50 links may be live', async () => {
    const id = await create()
    expect((await issue(id, { expires_at: later(365 * DAY) })).status).toBe(200)
    const answers = await Promise.all(Array.from({ length: 51 }, () => issue(id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49)
    const [full] = answers.filter(({ status }) => status !== 200)
    expect([full?.status, full?.json.errorCode, full?.json.limit]).toEqual([400, 'BAD_REQUEST', 50])
    const links = (await list(id)).json.shareLinks as readonly { readonly id: string }[]
    expect(links).toHaveLength(50)
    await revoke(id, links[0]?.id)
    expect((await issue(id)).status).toBe(200)
  })

  it('[PERM-3] [PERM-4] issuing, listing and revoking require level owner', async () => {
    const id = await create({ sharedWith: [{ userId: 'ed', permission: 'edit' }, 'vi', { userId: 'co', permission: 'owner' }] })
    const linkId = (await issue(id)).json.id
    for (const [sub, role, code] of [
      ['ed', 'member', 'OWNER_REQUIRED'],
      ['vi', 'member', 'OWNER_REQUIRED'],
      ['co', 'viewer', 'EDIT_FORBIDDEN'],
      ['zoe', 'member', 'VIEW_FORBIDDEN'],
    ]) {
      for (const answer of [
        await issue(id, undefined, { sub, role }),
        await list(id, { sub, role }),
        await revoke(id, linkId, { sub, role }),
      ]) {
        expect([answer.status, answer.json.errorCode]).toEqual([403, code])
      }
    }
    for (const as of [
      { sub: 'co', role: 'member' },
      { sub: 'root', role: 'owner' },
    ])
      expect((await issue(id, undefined, as)).status).toBe(200)
    expect((await list(id)).json.shareLinks).toHaveLength(3)
    for (const answer of [await issue('never'), await list('never'), await revoke('never', linkId)])
      expect(answer.status).toBe(404)
  })
})

describe('listing and revoking', () => {
  it('[SHARE-3] live links are listed newest first, without tokens', async () => {
    const id = await create()
    const first = await issue(id, { expires_at: later(1000) })
    await time.advance(10)
    const second = await issue(id)
    const answer = await list(id)
    const now = new Date(time.clock.nowMs()).toISOString()
    expect(answer.json).toEqual({
      shareLinks: [
        { id: second.json.id, created_at: now, created_by: 'mia', expires_at: second.json.expires_at },
        { id: first.json.id, created_at: expect.any(String), created_by: 'mia', expires_at: first.json.expires_at },
      ],
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    await time.advance(990)
    expect(((await list(id)).json.shareLinks as unknown[]).length).toBe(1)
  })

  it('[SHARE-3] revoking takes effect at once; unknown ids and those of another document answer 404', async () => {
    const [id, other] = [await create(), await create()]
    const { json } = await issue(id)
    expect((await revoke(other, json.id)).status).toBe(404)
    expect((await revoke(id, 'x'.repeat(65))).json).toMatchObject({ errorCode: 'BAD_ID', field: 'linkId' })
    expect((await revoke(id, 'never')).json).toMatchObject({ errorCode: 'NOT_FOUND' })
    const revoked = await revoke(id, json.id)
    expect([revoked.status, revoked.text]).toEqual([204, ''])
    expect((await redeem(json.token)).status).toBe(404)
    expect((await revoke(id, json.id)).status).toBe(404)
  })

  it('[SHARE-3] revoking an expired link answers 404 like an unknown one', async () => {
    const id = await create()
    const { json } = await issue(id, { expires_at: later(5) })
    await time.advance(5)
    const answer = await revoke(id, json.id)
    expect([answer.status, answer.text]).toEqual([404, (await revoke(id, 'never')).text])
  })
})

describe('redeeming', () => {
  it('[SHARE-4] [WS-52] redeeming adds a view share, answers the metadata, and notifies clients and live joins', async () => {
    const id = await create({ name: 'Plan' })
    const { token } = (await issue(id)).json
    const ben = someone()
    expect((await relay.call('GET', `/api/docs/${id}`, { as: ben })).status).toBe(403)
    const answer = await redeem(token, ben)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const share = { userId: ben.sub, permission: 'view', sharedAt: expect.any(Number) }
    expect(answer.json).toMatchObject({ id, title: 'Plan', access: 'view', serverVersion: 2, sharedWith: [share] })
    expect((await relay.call('GET', `/api/docs/${id}`, { as: ben })).status).toBe(200)
    expect(relay.events.at(-1)).toMatchObject({ kind: 'updated', actor: ben.sub, head: { id, version: 2 } })
    expect(resharings.at(-1)).toMatch(new RegExp(`^${id} .*${ben.sub}`))
  })

  it('[SHARE-4] redeeming twice changes nothing, and never lowers the level of the caller', async () => {
    const id = await create({
      sharedWith: [
        { userId: 'ed', permission: 'edit' },
        { userId: 'odd', permission: 'admin' },
      ],
    })
    const { token } = (await issue(id)).json
    const before = await sharesOf(id)
    for (const [as, access] of [
      [mia, 'owner'],
      [{ sub: 'ed', role: 'member' }, 'edit'],
      [{ sub: 'root', role: 'owner' }, 'owner'],
    ] as const) {
      expect((await redeem(token, as)).json).toMatchObject({ access, serverVersion: 1 })
    }
    expect(await sharesOf(id)).toEqual(before)
    for (const as of [someone(), someone('viewer'), { sub: 'odd', role: 'member' }]) {
      expect((await redeem(token, as)).json.access).toBe('view')
      const after = await sharesOf(id)
      expect((await redeem(token, as)).json.access).toBe('view')
      expect(await sharesOf(id)).toEqual(after)
    }
    expect(((await sharesOf(id)) as unknown[]).slice(0, 2)).toEqual(before)
  })

  it('[SHARE-4] [REST-6] wrong, expired, revoked, deleted and foreign tokens get the same answer', async () => {
    const [gone, expiring, revoked, kept] = [await create(), await create(), await create(), await create()]
    const deleted = (await issue(gone)).json
    await relay.call('DELETE', `/api/docs/${gone}`, { as: mia })
    const expired = (await issue(expiring, { expires_at: later(5) })).json
    await time.advance(5)
    const ended = (await issue(revoked)).json
    await revoke(revoked, ended.id)
    const foreign = (await issue(kept)).json
    const answers = [
      ...(await Promise.all(
        ['', 'x', 'A'.repeat(43), `${String(foreign.token)}=`, deleted.token, expired.token, ended.token].map((token) =>
          redeem(token),
        ),
      )),
      await redeem(foreign.token, someone('owner', { workspace: 'elsewhere' })),
    ]
    const told = answers.map(({ status, text }) => [status, text])
    expect(new Set(told.map(([, text]) => text)).size).toBe(1)
    expect(answers.every(({ status }) => status === 404)).toBe(true)
    expect(answers[0]?.json).toEqual({ error: 'There is no such share link.', errorCode: 'NOT_FOUND', resource: 'share-link' })
    expect((await redeem(foreign.token)).status).toBe(200)
  })

  it.each([undefined, 7, null, ['x']])('[SHARE-4] a token that is %j answers 400', async (token) => {
    const answer = await redeem(token)
    expect([answer.status, answer.json.field]).toEqual([400, 'token'])
  })

  it('[BODY-13] [SHARE-4] with a full share list redeeming answers 400, except for users on the list', async () => {
    const sharedWith = Array.from({ length: 1000 }, (_, i) => `user-${i}`)
    const id = await create({ sharedWith })
    const { token } = (await issue(id)).json
    const answer = await redeem(token)
    expect([answer.status, answer.json.field, answer.json.limit]).toEqual([400, 'sharedWith', 1000])
    expect((await redeem(token, { sub: 'user-7', role: 'member' })).status).toBe(200)
  })

  it('[SHARE-5] shares remain after their link ends, and links do not return when their document is recreated', async () => {
    const id = await create()
    const { token, id: linkId } = (await issue(id)).json
    const ben = someone()
    await redeem(token, ben)
    await revoke(id, linkId)
    expect((await relay.call('GET', `/api/docs/${id}`, { as: ben })).status).toBe(200)
    const next = (await issue(id)).json
    await relay.call('DELETE', `/api/docs/${id}`, { as: mia })
    await relay.call('PUT', `/api/docs/${id}?overrideTombstone=true`, { as: mia, body: {} })
    expect((await redeem(next.token)).status).toBe(404)
    expect((await list(id)).json).toEqual({ shareLinks: [] })
  })
})

describe('tokens', () => {
  it('[SHARE-2] [OPS-6] [OPS-7] tokens are stored only as hashes, and every change is audited without them', async () => {
    const id = await create()
    const { token, id: linkId } = (await issue(id)).json
    const ben = someone()
    await redeem(token, ben)
    await redeem(`${String(token).slice(0, -1)}!`, ben)
    await revoke(id, linkId)
    const audited = (event: string) =>
      relay.logLines.find((line) => line.event === event && (line.linkId === linkId || line.sub === ben.sub))
    expect(audited('share-link.issued')).toMatchObject({ audit: true, sub: 'mia', docId: id, linkId })
    expect(audited('share-link.redeemed')).toMatchObject({ audit: true, sub: ben.sub, docId: id, linkId, access: 'view' })
    expect(audited('share-link.refused')).toMatchObject({ audit: true, sub: ben.sub, level: 'warn' })
    expect(audited('share-link.revoked')).toMatchObject({ audit: true, sub: 'mia', docId: id, linkId })
    expect(JSON.stringify([relay.logLines, relay.events])).not.toContain(String(token).slice(0, 20))
    const files = readdirSync(relay.directory, { withFileTypes: true }).filter((each) => each.isFile())
    const stored = files.map(({ name }) => readFileSync(join(relay.directory, name), 'latin1')).join()
    expect(stored).toContain(createHash('sha256').update(String(token)).digest('hex'))
    expect(stored).not.toContain(String(token))
  })
})

describe('POST /api/docs/{id}/share', () => {
  const share = (id: string, body: unknown, as: object = mia) => relay.call('POST', `/api/docs/${id}/share`, { as, body })

  it('[SHARE-6] [SHARE-1] a call with expires_at issues a link', async () => {
    const id = await create()
    const answer = await share(id, { expires_at: later() })
    expect(Object.keys(answer.json).sort()).toEqual(['expires_at', 'id', 'token', 'url'])
    expect((await redeem(answer.json.token)).status).toBe(200)
  })

  it('[SHARE-6] a call with shares replaces the list, notifies clients and live joins, and is audited', async () => {
    const id = await create({ sharedWith: [{ userId: 'old' }, { user_id: 'ed', permission: 'write', sharedAt: 5 }] })
    const shares = [
      { userId: 'ed', permission: 'editor' },
      { userId: 'vi', userName: 'Vi', permission: 'viewer' },
      { userId: 'old', permission: 'none' },
    ]
    const answer = await share(id, { shares })
    expect([answer.status, answer.json]).toEqual([200, { success: true }])
    expect(await sharesOf(id)).toEqual([
      { userId: 'ed', permission: 'edit', sharedAt: 5 },
      { userId: 'vi', userName: 'Vi', permission: 'view', sharedAt: expect.any(Number) },
    ])
    expect(relay.events.at(-1)).toMatchObject({ kind: 'updated', actor: 'mia', head: { id, version: 2 } })
    expect(resharings.at(-1)).toMatch(new RegExp(`^${id} `))
    expect(relay.logLines.findLast((line) => line.event === 'document.shared')).toMatchObject({
      audit: true,
      docId: id,
      sub: 'mia',
    })
    const events = relay.events.length
    expect((await share(id, { shares })).json).toEqual({ success: true })
    expect(relay.events).toHaveLength(events)
    expect((await share(id, { shares: [] })).status).toBe(200)
    expect(await sharesOf(id)).toEqual([])
  })

  it.each([
    [{}, 'shares'],
    [{ expires_at: '2030-01-02T00:00:00Z', shares: [] }, 'shares'],
    [[], 'body'],
    [{ shares: {} }, 'shares'],
    [{ shares: ['vi'] }, 'shares[0]'],
    [{ shares: [{ permission: 'viewer' }] }, 'shares[0].userId'],
    [{ shares: [{ userId: '', permission: 'viewer' }] }, 'shares[0].userId'],
    [{ shares: [{ userId: 'x'.repeat(257), permission: 'viewer' }] }, 'shares[0].userId'],
    [{ shares: [{ userId: 'a\0', permission: 'viewer' }] }, 'shares[0].userId'],
    [{ shares: [{ userId: 'a', permission: 'owner' }] }, 'shares[0].permission'],
    [{ shares: [{ userId: 'mia', permission: 'write' }] }, 'shares[0].permission'],
    [{ shares: [{ userId: 'a' }] }, 'shares[0].permission'],
    [{ shares: [{ userId: 'a', permission: 'viewer', userName: 7 }] }, 'shares[0].userName'],
    [
      {
        shares: [
          { userId: 'a', permission: 'viewer' },
          { userId: 'a', permission: 'none' },
        ],
      },
      'shares[1].userId',
    ],
    [{ shares: Array.from({ length: 1001 }, (_, i) => ({ userId: `u${i}`, permission: 'viewer' })) }, 'shares'],
  ])('[SHARE-6] %j answers 400 about %s', async (body, field) => {
    const id = await create({ sharedWith: ['kept'] })
    const answer = await share(id, body)
    expect([answer.status, answer.json.errorCode, answer.json.field]).toEqual([400, 'BAD_REQUEST', field])
    expect(await sharesOf(id)).toEqual(['kept'])
  })

  it('[REST-37] every answer of the route, refusals included, names its end date, and calls are counted', async () => {
    await using other = await startRestRelay({ docsUrl: 'https://docs.example/relay' })
    const path = '/api/docs/a%20b/share'
    const answers = [
      await other.call('POST', path),
      await other.call('POST', path, { as: mia, body: {} }),
      await other.call('POST', path, { as: mia, body: { shares: [] } }),
      await other.call('POST', path, { as: mia, raw: '{', headers: { 'content-type': 'text/plain' } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 400, 404, 415])
    for (const { headers } of answers) {
      expect(headers.get('deprecation')).toBe('@1793491200')
      expect(headers.get('sunset')).toBe('Mon, 01 Nov 2027 00:00:00 GMT')
      expect(headers.get('link')).toBe(
        '<https://docs.example/relay>; rel=sunset, </api/v1/docs/a%20b/share-links>; rel="successor-version"',
      )
    }
    await other.call('PUT', '/api/docs/d', { as: mia, body: {} })
    expect((await other.call('POST', '/api/docs/d/share', { as: mia, body: { shares: [] } })).headers.get('sunset')).not.toBe(
      null,
    )
    expect((await other.metrics.render()).text).toContain('relay_deprecated_requests_total{route="/api/docs/:id/share"} 5')
    const plain = await relay.call('POST', '/api/docs/d/share')
    expect(plain.headers.get('link')).toContain(`<${relay.url}/api/v1/openapi.json>; rel=sunset`)
  })

  it('[REST-4] [REST-37] the route does not exist under /api/v1/, and other routes name no end date', async () => {
    const id = await create()
    expect((await relay.call('POST', `/api/v1/docs/${id}/share`, { as: mia, body: { shares: [] } })).status).toBe(404)
    expect((await relay.call('GET', `/api/docs/${id}`, { as: mia })).headers.get('deprecation')).toBe(null)
    expect((await relay.call('POST', `/api/docs/${id}/share-links`, { as: mia, body: {} })).status).toBe(404)
  })
})

describe('the page GET /share', () => {
  it('[SHARE-7] the page is static, has no script, and forbids being framed and loading anything', async () => {
    const answer = await relay.call('GET', '/share')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.text).toMatch(/opened in the editor/)
    expect(answer.text).not.toMatch(/<script|<style|src=|href=|\son\w+=/)
    expect((await relay.call('HEAD', '/share')).status).toBe(200)
  })
})
