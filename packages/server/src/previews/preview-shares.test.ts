import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

const BODY = { pages: [{ id: 'p', shapes: [{ id: 'a', type: 'rectangle', x: 0, y: 0, width: 400, height: 400 }] }] }
const NOISY = { sub: 'eve', workspace: 'noisy' }
const QUIET = { sub: 'ann', workspace: 'quiet' }

let relay: RestRelay
beforeEach(async () => {
  relay = await startRestRelay()
  await relay.call('PUT', '/api/docs/d', { as: NOISY, body: BODY })
  await relay.call('PUT', '/api/docs/d', { as: QUIET, body: BODY })
})
afterEach(() => relay[Symbol.asyncDispose]())

it('[REST-34] many waiting previews of one workspace delay a preview of another by at most three', async () => {
  const order: string[] = []
  const draw = async (who: typeof QUIET, name: string, query = '') => {
    const { status } = await relay.call('GET', `/api/v1/docs/d/preview.png${query}`, { as: who })
    order.push(`${name} ${status}`)
  }
  // A slow page and one beside it start both threads.
  const slow = draw(NOISY, 'first', '?scale=4')
  await relay.call('GET', '/health')
  await draw(QUIET, 'first')
  await slow
  const noisy = Array.from({ length: 12 }, () => draw(NOISY, 'noisy'))
  await noisy[0]
  const before = order.length
  await Promise.all([draw(QUIET, 'quiet'), ...noisy])
  expect(order.indexOf('quiet 200') - before).toBeLessThanOrEqual(3)
  expect(order.filter((each) => each === 'noisy 200').length).toBe(12)
})
