import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { SignIn } from './sign-in.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A signed-in person whose refresh token the tab stores, and an issuer whose answers to renewals the test gives. */
async function bench() {
  const renewals: ServerResponse[] = []
  const server = createServer((request, response) => {
    if (request.method === 'POST') renewals.push(response)
    else answer(response, { issuer, token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/revoke` })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const kept = new Map([['docrelay.refresh-token', 'first-refresh']])
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    clear: () => kept.clear(),
  } as unknown as Storage
  const timers = new Set<() => void>()
  const after = (_: number, run: () => void) => {
    timers.add(run)
    return () => void timers.delete(run)
  }
  const config = { issuer, clientId: 'console', scope: 'docs', authorizeParams: {}, mcpUrl: null, version: '1' }
  const signIn = new SignIn(config, { now: () => 0, after, storage, redirectUri: `${issuer}/`, leaveTo: () => {} })
  /** Fires every pending timer. */
  const timeIsOver = () => {
    for (const run of timers) run()
  }
  return { signIn, renewals, kept, timeIsOver }
}

function answer(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
const grant = (name: string) => ({ access_token: name, token_type: 'Bearer', refresh_token: `${name}-refresh` })
const outcome = (promise: Promise<string>) => promise.then(String, (error: unknown) => `${error}`)

it('[WS-67] a renewal that the issuer never answers is abandoned after 30 s, and the next call renews again', async () => {
  const { signIn, renewals, timeIsOver } = await bench()
  const first = outcome(signIn.accessToken({ fresh: true }))
  await expect.poll(() => renewals.length).toBe(1)
  timeIsOver()
  expect(await first).toBe('Error: the issuer gave no token within 30 s')
  const second = outcome(signIn.accessToken({ fresh: true }))
  await expect.poll(() => renewals.length).toBe(2)
  answer(renewals[1] as ServerResponse, grant('second'))
  expect(await second).toBe('second')
})

it.each([
  ['a grant', grant('late'), 200],
  ['a refusal', { error: 'invalid_grant' }, 400],
])('[WS-67] %s that answers a renewal after a newer one changes nothing', async (_, body, status) => {
  const { signIn, renewals, kept, timeIsOver } = await bench()
  const first = outcome(signIn.accessToken({ fresh: true }))
  await expect.poll(() => renewals.length).toBe(1)
  timeIsOver()
  await first
  const second = outcome(signIn.accessToken({ fresh: true }))
  await expect.poll(() => renewals.length).toBe(2)
  answer(renewals[1] as ServerResponse, grant('second'))
  await second
  const ended = new Promise((resolve) => renewals[0]?.on('close', resolve))
  answer(renewals[0] as ServerResponse, body, status)
  await ended
  // The page needs some turns to read the answer.
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([kept.get('docrelay.refresh-token'), await signIn.accessToken({ fresh: false })]).toEqual(['second-refresh', 'second'])
})

it('[CON-21] a sign-out does not wait for an issuer that does not answer', async () => {
  const { signIn, renewals, kept, timeIsOver } = await bench()
  let isOver = false
  const ending = signIn.end().then(() => {
    isOver = true
  })
  await expect.poll(() => renewals.length).toBe(1)
  expect([kept.size, isOver]).toEqual([0, false])
  timeIsOver()
  await ending
})
