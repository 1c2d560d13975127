import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { silentLogger } from '../kernel/log.ts'
import { longestPauseMs } from '../kernel/testing/longest-pause.ts'
import { openBodies, OverdueBody } from './bodies.ts'

const MIB = 1024 * 1024
/** The longest allowed pause of the event loop on a busy machine; on an idle machine pauses stay below 100 ms. */
const MAX_PAUSE_MS = 250

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({ storageThread: true })
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }

/** Returns a canvas of ordinary shapes with at least `bytes` bytes of JSON. */
function bigBody(bytes: number): Uint8Array {
  const shape = (i: number) => `{"id":"s${i}","type":"rectangle","x":${i},"y":${i},"w":100,"h":60,"text":"${'word '.repeat(30)}"}`
  const count = Math.ceil(bytes / shape(100_000).length)
  return Buffer.from(
    `{"name":"big","pages":[{"id":"p1","name":"C","shapes":[${Array.from({ length: count }, (_, i) => shape(i)).join(',')}]}]}`,
  )
}

/** Sends the body in pieces, so that the test measures the relay and not one huge write of the client in the same process. */
function putLarge(path: string, bytes: Uint8Array) {
  return relay.call('PUT', path, { as: ann, raw: bytes, headers: { 'content-type': 'application/json' } })
}

describe('large bodies', () => {
  it('[C1] a PUT of 20 MB and its GET do not block the event loop', async () => {
    const body = bigBody(20 * MIB)
    await putLarge('/api/docs/warm', bigBody(2 * MIB))
    const put = await longestPauseMs(() => putLarge('/api/docs/big', body))
    expect([put.result.status, put.result.json.newVersion]).toEqual([200, 1])
    expect(put.pauseMs).toBeLessThan(MAX_PAUSE_MS)
    const head = await longestPauseMs(() => relay.call('HEAD', '/api/docs/big', { as: ann }))
    expect(head.result.status).toBe(200)
    expect(head.pauseMs).toBeLessThan(MAX_PAUSE_MS)
    const stored = await relay.storage.documents.read({ workspaceId: 'default', id: 'big' })
    expect(stored?.head.sizeBytes).toBe(put.result.json.sizeBytes)
  })

  it('[H4] a body of 32 MiB of empty objects is refused without blocking the event loop', async () => {
    const body = Buffer.from(`[${'{},'.repeat((32 * MIB) / 3)}{}]`)
    const { result, pauseMs } = await longestPauseMs(() => putLarge('/api/docs/dense', body))
    expect([result.status, result.json.errorCode]).toEqual([413, 'BODY_TOO_LARGE'])
    expect(pauseMs).toBeLessThan(MAX_PAUSE_MS)
  })

  it('[H3] [REST-7] a document above 128 MiB is refused before its body is sent', async () => {
    const declare = (token: string) =>
      relay.socket(
        `PUT /api/docs/huge HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${128 * MIB + 1}\r\n\r\n`,
        5_000,
      )
    const received = await declare(relay.issuer.token(ann))
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(received).toContain('"errorCode":"BODY_TOO_LARGE"')
    const capped = relay.issuer.token({ sub: 'ann', wsp: [{ id: 'default', role: 'member', max_doc_bytes: 5000 }] })
    expect(await declare(capped)).toContain(
      `"errorCode":"DOC_TOO_LARGE","sizeBytes":${128 * MIB + 1},"maxBytes":5000,"source":"claim"`,
    )
  })

  it('[BODY-8] [BODY-10] long bodies follow the same rules as short ones', async () => {
    const pad = 'x'.repeat(2 * MIB)
    const put = (raw: string) => putLarge('/api/docs/strict-large', Buffer.from(raw))
    expect((await put(`{"a":1e400,"pad":"${pad}"}`)).json.errorCode).toBe('BAD_JSON')
    expect((await put(`{"id":"other","pad":"${pad}"}`)).json.errorCode).toBe('ID_MISMATCH')
    expect((await put(`{"pages":7,"pad":"${pad}"}`)).json).toMatchObject({ errorCode: 'BAD_BODY', path: '/pages' })
    expect((await put(`{"name":"A","title":"B","pad":"${pad}"}`)).json.title).toBe('A')
    expect((await put(`{"name":"A","title":"C","pad":"${pad}"}`)).json.title).toBe('C')
  })
})

describe('reading bodies', () => {
  it('[C4] a body that cannot be parsed in time is refused as UNAVAILABLE', async () => {
    await using bodies = openBodies({ maxBytes: 128 * MIB, log: silentLogger, deadlineMs: 1 })
    const late = bodies.prepare(bigBody(4 * MIB), 'd', null)
    await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(late).rejects.toBeInstanceOf(OverdueBody)
  })

  it('[BODY-10] short and long bodies settle their title again when the stored title has changed', async () => {
    await using bodies = openBodies({ maxBytes: 128 * MIB, log: silentLogger })
    for (const pad of ['', 'x'.repeat(2 * MIB)]) {
      const raw = Buffer.from(JSON.stringify({ name: 'A', title: 'B', pad }))
      const first = await bodies.prepare(new Uint8Array(raw), 'd', 'A')
      expect(first.facts.title).toBe('B')
      const again = await bodies.resettle(first, 'B')
      expect(again.facts.title).toBe('A')
      expect(JSON.parse(Buffer.from(again.bytes).toString())).toMatchObject({ id: 'd', name: 'A', title: 'A' })
      expect(await bodies.resettle(again, 'B')).toBe(again)
    }
  })
})
