import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type CheckName, type Check, createReadiness, CHECKS } from './health.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { startRestRelay } from '../http/testing/rest-relay.ts'

const allOk = (over: Partial<Record<CheckName, Check>>) => ({
  ...(Object.fromEntries(CHECKS.map((name) => [name, () => ({ ok: true })])) as Record<CheckName, Check>),
  ...over,
})

describe('health over HTTP', () => {
  it('[OPS-1] /health answers the two bytes `ok` as text/plain', async () => {
    await using relay = await startRestRelay()
    const answer = await relay.call('GET', '/health')
    expect([answer.status, answer.text]).toEqual([200, 'ok'])
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(answer.headers.get('content-length')).toBe('2')
  })

  it('[OPS-2] [REST-30] /livez, /readyz and /version answer without a credential', async () => {
    await using relay = await startRestRelay()
    expect((await relay.call('GET', '/livez')).json).toEqual({ status: 'ok' })
    const ready = await relay.call('GET', '/readyz')
    const checks = {
      storage: { ok: true },
      log: { ok: true },
      bus: { ok: true },
      blobs: { ok: true },
      keys: { ok: true },
      draining: { ok: true },
    }
    expect([ready.status, ready.json]).toEqual([200, { status: 'ok', checks }])
    expect((await relay.call('GET', '/version')).json).toMatchObject({ server: 'docrelay', protocolVersion: 4, protocolMinor: 2 })
  })

  it('[OPS-2] one failing check makes /readyz answer 503 without details of its exception', async () => {
    await using relay = await startRestRelay({
      checks: {
        keys: () => ({ ok: false, detail: 'no key set' }),
        storage: () => Promise.reject(new Error('connect ECONNREFUSED db.internal:5432')),
      },
    })
    const answer = await relay.call('GET', '/readyz')
    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({
      status: 'unavailable',
      checks: { keys: { ok: false, detail: 'no key set' }, storage: { ok: false }, log: { ok: true } },
    })
    expect(answer.text).not.toContain('db.internal')
    expect((await relay.call('GET', '/livez')).status).toBe(200)
  })

  it('[OPS-3] /metrics is Prometheus text at every scrape, and its labels have route patterns instead of ids', async () => {
    await using relay = await startRestRelay()
    await relay.call('GET', '/api/docs/canary-document', {
      as: { sub: 'canary-user', workspace: 'canary-workspace', jti: 'canary-token' },
    })
    for (let i = 0; i < 3; i++) {
      const answer = await relay.call('GET', '/metrics')
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
      expect(answer.text).toContain('http_server_request_duration_seconds_count{route="/api/docs/:id",method="GET",code="404"} 1')
      expect(answer.text).not.toContain('canary')
    }
  })

  it('[OPS-5] [OPS-6] no log line of a request contains its token, query or content', async () => {
    await using relay = await startRestRelay()
    const token = relay.issuer.token({ sub: 'ann' })
    await relay.call('PUT', '/api/docs/secret?expectedVersion=0&secretquery=1', { token, body: { name: 'planted-content' } })
    await relay.call('PUT', '/api/docs/secret', { token, raw: '{"name":"planted-content"' })
    await relay.call('GET', '/api/docs', { token: `${token}x` })
    const log = JSON.stringify(relay.logLines)
    expect(log).toContain('http.request')
    for (const planted of [token, token.split('.')[2] as string, 'secretquery', 'planted-content'])
      expect(log).not.toContain(planted)
  })

  it('[OPS-8] [F-9] a client that disconnects while it is answered affects no other client', async () => {
    await using relay = await startRestRelay()
    const token = relay.issuer.token({ sub: 'ann' })
    await relay.call('PUT', '/api/docs/long', { token, body: { name: 'x'.repeat(3_000_000) } })
    for (let i = 0; i < 5; i++) {
      await new Promise<void>((resolve) => {
        const call = request(
          { port: relay.port, path: '/api/docs/long', headers: { authorization: `Bearer ${token}` } },
          (response) => {
            response.once('data', () => {
              call.destroy()
              resolve()
            })
          },
        )
        call.on('error', () => resolve())
        call.end()
      })
    }
    expect((await relay.call('GET', '/api/docs/long', { token })).status).toBe(200)
    expect(relay.logLines.filter((line) => line.level === 'error')).toEqual([])
  })
})

describe('readiness', () => {
  it('[OPS-2] [LIFE-27] each failed check except that of the bus makes the relay unavailable', async () => {
    for (const name of CHECKS) {
      const { status, checks } = await createReadiness(allOk({ [name]: () => ({ ok: false, detail: 'down' }) }), manualTime())()
      expect([name, status, checks[name]]).toEqual([name, name === 'bus' ? 'ok' : 'unavailable', { ok: false, detail: 'down' }])
    }
  })

  it('[OPS-2] only one of several nodes shows the check cluster', async () => {
    const { cluster: _, ...others } = allOk({})
    expect(Object.keys((await createReadiness(others, manualTime())()).checks)).not.toContain('cluster')
    expect(Object.keys((await createReadiness(allOk({}), manualTime())()).checks)).toEqual(CHECKS)
  })

  it('[OPS-2] results of readiness checks are reused for one second', async () => {
    const time = manualTime()
    let runs = 0
    const readiness = createReadiness(allOk({ log: () => ({ ok: ++runs > 0 }) }), time)
    await Promise.all([readiness(), readiness()])
    await time.advance(900)
    await readiness()
    expect(runs).toBe(1)
    await time.advance(200)
    await readiness()
    expect(runs).toBe(2)
  })

  it('[LIFE-27] [OPS-2] a node stays ready and reports its bus as failed when the bus does not answer', async () => {
    const down = () => ({ ok: false, detail: 'down' })
    const withoutBus = await createReadiness(allOk({ bus: down }), manualTime())()
    expect([withoutBus.status, withoutBus.checks.bus]).toEqual(['ok', { ok: false, detail: 'down' }])
    for (const name of ['storage', 'log', 'blobs', 'keys', 'draining'] as const)
      expect((await createReadiness(allOk({ [name]: down }), manualTime())()).status).toBe('unavailable')
  })

  it('[OPS-2] a readiness check that hangs counts as failed after two seconds', async () => {
    const time = manualTime()
    const asked = createReadiness(allOk({ bus: () => new Promise(() => undefined) }), time)()
    let answered = false
    void asked.then(() => (answered = true))
    await time.advance(1_999)
    expect(answered).toBe(false)
    await time.advance(1)
    const readiness = await asked
    expect(readiness.checks.bus).toEqual({ ok: false, detail: 'no answer in time' })
    expect(readiness.checks.storage.ok).toBe(true)
  })
})
