import { expect, it } from 'vitest'
import type { Environment, SocketLike } from '../environment.ts'
import { NeedsSignIn } from '../errors.ts'
import { type ConnectionStatus, SyncConnection } from './sync-connection.ts'

/** A connection whose sockets and timers are played by the test. */
function bench(token: () => unknown, docId?: string) {
  const statuses: ConnectionStatus[] = []
  const urls: string[] = []
  const sockets: SocketLike[] = []
  const timers = new Map<number, { readonly ms: number; readonly run: () => void }>()
  let made = 0
  let online = () => {}
  const environment: Environment = {
    now: () => 0,
    random: () => 0,
    after(ms, run) {
      const id = ++made
      timers.set(id, { ms, run })
      return () => timers.delete(id)
    },
    openSocket(url) {
      urls.push(url)
      const socket: SocketLike = {
        binaryType: '',
        readyState: 0,
        onopen: null,
        onmessage: null,
        onclose: null,
        onerror: null,
        send() {},
        close() {},
      }
      sockets.push(socket)
      return socket
    },
    fetch: () => Promise.reject(new Error('no fetch here')),
    onOnline(run) {
      online = run
      return () => {
        online = () => {}
      }
    },
  }
  const connection = new SyncConnection({
    url: 'ws://relay.example/ws',
    token: token as () => string,
    ...(docId !== undefined && { docId }),
    environment,
    onStatus: (status) => statuses.push(status),
    onOpen() {},
    onFrame() {},
  })
  const fire = (ms: number): void => {
    for (const [id, timer] of timers) {
      if (timer.ms !== ms) continue
      timers.delete(id)
      timer.run()
    }
  }
  return {
    connection,
    statuses,
    urls,
    sockets,
    fire,
    online: () => online(),
    waiting: () => [...timers.values()].map(({ ms }) => ms),
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('[WS-1] the address of a socket names its document, for balancers', async () => {
  const { connection, urls } = bench(() => 'a.token', 'a plan/ä')
  connection.connect()
  await settled()
  expect(urls.map((url) => new URL(url).searchParams.get('doc'))).toEqual(['a plan/ä'])
})

it('[WS-67] a token() that never resolves is given up after 30 s, and the next attempt calls it again', async () => {
  let asked = 0
  const { connection, statuses, sockets, fire, waiting } = bench(() => {
    asked++
    return asked === 1 ? new Promise(() => {}) : 'a.token'
  })
  connection.connect()
  await settled()
  expect(statuses.at(-1)).toEqual({ kind: 'connecting' })
  fire(30_000)
  expect(statuses.at(-1)).toMatchObject({
    kind: 'waiting',
    delayMs: 250,
    code: 1012,
    reason: 'token() gave no token within 30 s',
  })
  fire(250)
  await settled()
  expect([asked, sockets.length, waiting()]).toEqual([2, 1, []])
})

it('[WS-67] a token that resolves after its attempt was given up opens no socket', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { connection, sockets, fire } = bench(() => promise)
  connection.connect()
  await settled()
  fire(30_000)
  resolve('a.token')
  await settled()
  expect(sockets).toHaveLength(0)
})

it('[WS-67] a token that resolves after the client was closed opens no socket', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { connection, sockets } = bench(() => promise)
  connection.connect()
  connection.close()
  resolve('a.token')
  await settled()
  expect(sockets).toHaveLength(0)
})

it.each([
  [undefined, 'token() gave a value of type undefined, which is no token'],
  [null, 'token() gave null, which is no token'],
  [{ token: 'x' }, 'token() gave a value of type object, which is no token'],
  ['', 'token() gave an empty string, which is no token'],
])('[WS-67] token() that resolves to %j stops the client at once with a reason', async (token, reason) => {
  const { connection, statuses, sockets, waiting } = bench(() => token)
  connection.connect()
  await settled()
  expect(statuses.at(-1)).toMatchObject({ kind: 'stopped', code: 1006, reason, error: { code: 'TOKEN_FAILED' } })
  expect([sockets.length, waiting()]).toEqual([0, []])
})

it('[WS-67] token() that throws NeedsSignIn stops the client at once and is asked no more', async () => {
  let asked = 0
  const { connection, statuses, sockets, waiting } = bench(() => {
    asked++
    throw new NeedsSignIn('the session has ended')
  })
  connection.connect()
  await settled()
  expect(statuses.at(-1)).toMatchObject({
    kind: 'stopped',
    code: 4401,
    reason: 'the session has ended',
    error: { code: 'NEEDS_SIGN_IN' },
  })
  expect([asked, sockets.length, waiting()]).toEqual([1, 0, []])
})

it('[WS-67] a connection that waits tries again at once when the platform says that the network is back', async () => {
  const { connection, sockets, online, waiting } = bench(() => 'a.token')
  connection.connect()
  await settled()
  sockets[0]?.onclose?.({ code: 1006, reason: '' })
  expect(waiting()).toEqual([250])
  online()
  await settled()
  expect([sockets.length, waiting()]).toEqual([2, []])
  connection.close()
  online()
  await settled()
  expect(sockets).toHaveLength(2)
})

it('[WS-67] the reason for a socket that fails to open is the message of the platform', async () => {
  const { connection, statuses, sockets } = bench(() => 'a.token')
  connection.connect()
  await settled()
  sockets[0]?.onerror?.({ message: 'Unexpected server response: 404' })
  sockets[0]?.onclose?.({ code: 1006, reason: '' })
  expect(statuses.at(-1)).toMatchObject({ kind: 'waiting', code: 1006, reason: 'Unexpected server response: 404' })
})
