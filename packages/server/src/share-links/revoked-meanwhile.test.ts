import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

const mia = { sub: 'mia', role: 'member' }
const eve = { sub: 'eve', role: 'member' }

/** A point of a test at which work waits. */
function gate(): { readonly reached: Promise<void>; pass(): Promise<void>; open(): void } {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    reached: reached.promise,
    async pass() {
      reached.resolve()
      await opened.promise
    },
    open: () => opened.resolve(),
  }
}

async function issued(relay: RestRelay): Promise<{ readonly id: string; readonly token: string }> {
  await relay.call('PUT', '/api/docs/d', { as: mia, body: {} })
  const body = { expires_at: new Date(Date.now() + 3_600_000).toISOString() }
  const { id, token } = (await relay.call('POST', '/api/v1/docs/d/share-links', { as: mia, body })).json
  return { id: String(id), token: String(token) }
}
const redeem = (relay: RestRelay, token: string) => relay.call('POST', '/api/v1/share-links/redeem', { as: eve, body: { token } })
const revoke = (relay: RestRelay, id: string) => relay.call('DELETE', `/api/v1/docs/d/share-links/${id}`, { as: mia })
const isRevoked = async (relay: RestRelay): Promise<boolean> =>
  (await relay.call('GET', '/api/v1/docs/d/share-links', { as: mia })).text === '{"shareLinks":[]}'

it('[SHARE-3] [SHARE-4] a redeem that waits for other writes of the document gives no share when the link is revoked meanwhile', async () => {
  const [writing, looked] = [gate(), Promise.withResolvers<void>()]
  let holds = false
  await using relay = await startRestRelay({
    store: (real) => ({
      ...real,
      async write(...given) {
        if (holds) await writing.pass()
        return real.write(...given)
      },
    }),
    shareLinks: (real) => ({
      ...real,
      async find(...given) {
        const found = await real.find(...given)
        looked.resolve()
        return found
      },
    }),
  })
  const { id, token } = await issued(relay)
  holds = true
  const put = relay.call('PUT', '/api/docs/d', { as: mia, body: { name: 'n' } })
  await writing.reached
  const redeemed = redeem(relay, token)
  await looked.promise
  const revoked = revoke(relay, id)
  while (!(await isRevoked(relay))) await sleep(5)
  holds = false
  writing.open()
  expect([(await put).status, (await revoked).status, (await redeemed).status]).toEqual([200, 204, 404])
  expect((await relay.call('GET', '/api/docs/d', { as: eve })).status).toBe(403)
})

it('[SHARE-3] a revoke answers 204 only after every share that the link gave is written', async () => {
  const finding = gate()
  let looks = 0
  await using relay = await startRestRelay({
    shareLinks: (real) => ({
      ...real,
      async find(...given) {
        const found = await real.find(...given)
        // The second look-up of the link is the one right before the share is written.
        if (++looks === 2) await finding.pass()
        return found
      },
    }),
  })
  const { id, token } = await issued(relay)
  const redeemed = redeem(relay, token)
  await finding.reached
  const order: string[] = []
  const revoked = revoke(relay, id).then(({ status }) => order.push(`revoked ${status}`))
  while (!(await isRevoked(relay))) await sleep(5)
  await Promise.race([revoked, sleep(100)])
  order.push('share written')
  finding.open()
  expect((await redeemed).status).toBe(200)
  await revoked
  expect(order).toEqual(['share written', 'revoked 204'])
})
