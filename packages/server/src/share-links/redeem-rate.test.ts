import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'

const time = manualTime(Date.UTC(2030, 0, 1))
const mia = { sub: 'mia', role: 'member' }
let relay: RestRelay
let token: string
beforeAll(async () => {
  relay = await startRestRelay({ shareClock: time.clock })
  await relay.call('PUT', '/api/docs/shared', { as: mia, body: {} })
  const body = { expires_at: new Date(time.clock.nowMs() + 3_600_000).toISOString() }
  const issued = await relay.call('POST', '/api/v1/docs/shared/share-links', { as: mia, body })
  token = String(issued.json.token)
})
afterAll(() => relay[Symbol.asyncDispose]())

const redeem = (given: string, sub: string) =>
  relay.call('POST', '/api/v1/share-links/redeem', { as: { sub, role: 'member' }, body: { token: given } })

describe('rate of redeeming', () => {
  it('[SHARE-4] [REST-12] the eleventh redeem of a user within a minute answers 429, whatever the token; other users are not limited', async () => {
    for (let i = 0; i < 10; i++) expect((await redeem(i % 2 === 0 ? token : 'wrong', 'eve')).status).toBe(i % 2 === 0 ? 200 : 404)
    const limited = await redeem(token, 'eve')
    expect([limited.status, limited.json.errorCode, limited.json.retryAfterMs]).toEqual([429, 'RATE_LIMITED', 60_000])
    expect(limited.headers.get('retry-after')).toBe('60')
    expect((await redeem(token, 'ben')).status).toBe(200)
    await time.advance(60_000)
    expect((await redeem(token, 'eve')).status).toBe(200)
    expect((await relay.metrics.render()).text).toContain('relay_rate_limit_rejections_total{surface="redeem"} 1')
  })

  it('[SHARE-4] a user redeems at most ten links in any minute, however the calls are spread', async () => {
    const redeemedAt: number[] = []
    for (let second = 0; second < 180; second++) {
      if ((await redeem('wrong', 'pat')).status === 404) redeemedAt.push(second)
      await time.advance(1000)
    }
    expect(redeemedAt).toHaveLength(30)
    for (const [at, second] of redeemedAt.slice(10).entries()) expect(second - (redeemedAt[at] ?? 0)).toBeGreaterThanOrEqual(60)
  })
})
