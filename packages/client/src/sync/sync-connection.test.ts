import { HEARTBEAT_FRAME, jsonFrame, syncAckFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { describe, expect, it } from 'vitest'
import { NeedsSignIn } from '../errors.ts'
import { playedEnvironment } from '../testing/played-environment.ts'
import { type ConnectionStatus, SyncConnection } from './sync-connection.ts'

/** A connection whose sockets and timers the test controls. */
function bench(token: () => unknown, docId?: string, isTransferring?: () => boolean) {
  const played = playedEnvironment()
  const statuses: ConnectionStatus[] = []
  const connection = new SyncConnection({
    url: 'ws://relay.example/ws',
    token: token as () => string,
    ...(docId !== undefined && { docId }),
    ...(isTransferring && { isTransferring }),
    environment: played.environment,
    onStatus: (status) => statuses.push(status),
    onOpen() {},
    onFrame() {},
  })
  return { ...played, connection, statuses }
}

const GRANTED = jsonFrame(TAG.authResponse, { success: true, userId: 'ann' })

it('[WS-1] the address of a socket names its document, for balancers', async () => {
  const { connection, urls, settled } = bench(() => 'a.token', 'a plan/ä')
  connection.connect()
  await settled()
  expect(urls.map((url) => new URL(url).searchParams.get('doc'))).toEqual(['a plan/ä'])
})

it('[WS-67] a token() that never resolves is abandoned after 30 s, and the next attempt calls it again', async () => {
  let asked = 0
  const { connection, statuses, sockets, advance, settled, waiting } = bench(() => {
    asked++
    return asked === 1 ? new Promise(() => {}) : 'a.token'
  })
  connection.connect()
  await settled()
  expect(statuses.at(-1)).toEqual({ kind: 'connecting' })
  await advance(30_000)
  expect(statuses.at(-1)).toMatchObject({
    kind: 'waiting',
    delayMs: 250,
    code: 1012,
    reason: 'token() gave no token within 30 s',
  })
  await advance(250)
  expect([asked, sockets.length, waiting()]).toEqual([2, 1, [15_000]])
})

it('[WS-67] a token that resolves after its attempt was abandoned opens no socket', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { connection, sockets, advance, settled } = bench(() => promise)
  connection.connect()
  await settled()
  await advance(30_000)
  resolve('a.token')
  await settled()
  expect(sockets).toHaveLength(0)
})

it('[WS-67] a token that resolves after the client was closed opens no socket', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const { connection, sockets, settled } = bench(() => promise)
  connection.connect()
  connection.close()
  resolve('a.token')
  await settled()
  expect(sockets).toHaveLength(0)
})

it('[WS-67] a connection closed by its own `connecting` listener opens no socket and does not try again', async () => {
  const { connection, sockets, advance, settled, waiting, statuses } = bench(() => 'a.token')
  const push = statuses.push.bind(statuses)
  statuses.push = (status) => {
    connection.close()
    return push(status)
  }
  connection.connect()
  await settled()
  await advance(60_000)
  expect([sockets.length, waiting(), [...statuses]]).toEqual([0, [], [{ kind: 'connecting' }]])
})

it.each([
  [undefined, 'token() gave a value of type undefined, which is no token'],
  [null, 'token() gave null, which is no token'],
  [{ token: 'x' }, 'token() gave a value of type object, which is no token'],
  ['', 'token() gave an empty string, which is no token'],
])('[WS-67] token() that resolves to %j stops the client at once with a reason', async (token, reason) => {
  const { connection, statuses, sockets, settled, waiting } = bench(() => token)
  connection.connect()
  await settled()
  expect(statuses.at(-1)).toMatchObject({ kind: 'stopped', code: 1006, reason, error: { code: 'TOKEN_FAILED' } })
  expect([sockets.length, waiting()]).toEqual([0, []])
})

it('[WS-67] token() that throws NeedsSignIn stops the client at once and is asked no more', async () => {
  let asked = 0
  const { connection, statuses, sockets, settled, waiting } = bench(() => {
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

it('[WS-67] a waiting connection tries again at once when the platform reports that the network is back', async () => {
  const { connection, sockets, online, settled, waiting } = bench(() => 'a.token')
  connection.connect()
  await settled()
  sockets[0]?.onclose?.({ code: 1006, reason: '' })
  expect(waiting()).toEqual([250])
  online()
  await settled()
  expect([sockets.length, waiting()]).toEqual([2, [15_000]])
  connection.close()
  online()
  await settled()
  expect(sockets).toHaveLength(2)
})

it('[WS-67] a client whose clock is ahead asks for fresh tokens at growing intervals, up to once a minute', async () => {
  let asked = 0
  const { connection, sockets, advance, settled, environment } = bench(() => `token-${asked++}`)
  connection.connect()
  await settled()
  const [socket] = sockets
  socket?.open()
  // The relay accepts each token. Its expiry is in five minutes by the relay's clock and was an hour ago by the client's.
  const grant = () =>
    socket?.receive(
      jsonFrame(TAG.authResponse, { success: true, userId: 'ann', tokenExpiresAt: environment.now() - 3_600_000 }),
      HEARTBEAT_FRAME,
    )
  grant()
  for (let second = 0; second < 600; second++) {
    const before = asked
    await advance(1_000)
    if (asked > before) grant()
    else socket?.receive(HEARTBEAT_FRAME)
  }
  expect(asked).toBeGreaterThan(8)
  expect(asked).toBeLessThan(20)
  connection.close()
})

it('[WS-67] when a socket fails to open, the close reason is the message of the platform', async () => {
  const { connection, statuses, sockets, settled } = bench(() => 'a.token')
  connection.connect()
  await settled()
  sockets[0]?.onerror?.({ message: 'Unexpected server response: 404' })
  sockets[0]?.onclose?.({ code: 1006, reason: '' })
  expect(statuses.at(-1)).toMatchObject({ kind: 'waiting', code: 1006, reason: 'Unexpected server response: 404' })
})

describe('a socket on which the relay does not answer', () => {
  it('[WS-67] is abandoned 15 s after it was opened, and the next attempt comes by itself', async () => {
    const { connection, statuses, sockets, advance } = bench(() => 'a.token')
    connection.connect()
    await advance(14_999)
    expect(statuses.at(-1)).toEqual({ kind: 'connecting' })
    await advance(1)
    const reason = 'the relay did not answer within 15 s'
    expect(statuses.at(-1)).toMatchObject({ kind: 'waiting', code: 1006, reason })
    await advance(250)
    expect([sockets.length, sockets[0]?.closedWith]).toEqual([2, 4001])
  })

  it('[WS-67] is abandoned when it opened but the answer to AUTH is lost', async () => {
    const { connection, statuses, sockets, advance } = bench(() => 'a.token')
    connection.connect()
    await advance(5_000)
    sockets[0]?.open()
    await advance(10_000)
    expect(statuses.at(-1)).toMatchObject({ kind: 'waiting', code: 1006 })
  })

  it('[WS-67] is replaced at once when the network is back or the application calls `retryNow`', async () => {
    const { connection, sockets, online, settled } = bench(() => 'a.token')
    connection.connect()
    await settled()
    online()
    await settled()
    connection.retryNow()
    await settled()
    expect(sockets.map(({ closedWith }) => closedWith)).toEqual([4001, 4001, null])
  })

  it('[WS-67] is kept once the relay has answered', async () => {
    const { connection, statuses, sockets, advance, online } = bench(() => 'a.token')
    connection.connect()
    await advance(14_000)
    sockets[0]?.open()
    sockets[0]?.receive(GRANTED)
    online()
    await advance(2_000)
    expect([statuses.at(-1)?.kind, sockets.length, sockets[0]?.closedWith]).toEqual(['authenticated', 1, null])
  })

  it('[WS-16] is kept open for a relay that refused the token and closes up to 10 s later', async () => {
    const { connection, statuses, sockets, advance, online } = bench(() => 'a.token')
    connection.connect()
    await advance(14_000)
    sockets[0]?.open()
    sockets[0]?.receive(jsonFrame(TAG.authResponse, { success: false, error: 'token expired' }))
    online()
    await advance(10_000)
    expect([statuses.at(-1)?.kind, sockets.length]).toEqual(['connecting', 1])
    sockets[0]?.onclose?.({ code: 4403, reason: 'forbidden' })
    expect(statuses.at(-1)).toMatchObject({ kind: 'stopped', code: 4403 })
  })
})

describe('a heartbeat', () => {
  /** An authenticated connection whose first heartbeat was just sent. */
  async function beating(isTransferring: () => boolean = () => false) {
    const played = bench(() => 'a.token', undefined, isTransferring)
    /** Opens the newest socket and grants the token; 15 s later the client sends the first heartbeat. */
    const beat = async () => {
      const socket = played.sockets.at(-1)
      socket?.open()
      socket?.receive(GRANTED)
      await played.advance(15_000)
      expect(socket?.sent.at(-1)).toEqual(HEARTBEAT_FRAME)
    }
    played.connection.connect()
    await played.settled()
    await beat()
    return { ...played, beat, closed: () => played.sockets.map(({ closedWith }) => closedWith) }
  }

  it('[WS-49] closes a quiet connection when its echo is missing for 5 s', async () => {
    const { advance, closed } = await beating()
    await advance(4_999)
    expect(closed()).toEqual([null])
    await advance(1)
    expect(closed()).toEqual([4000])
  })

  it('[WS-49] waits for its echo as long as frames come, and at most 10 s longer', async () => {
    const { advance, closed, sockets } = await beating()
    for (let i = 0; i < 10; i++) {
      await advance(4_000)
      sockets[0]?.receive(syncAckFrame(i))
    }
    expect(closed()).toEqual([null])
    await advance(10_000)
    expect(closed()).toEqual([4000])
  })

  it('[WS-49] waits for its echo as long as earlier bytes still leave the page', async () => {
    const { advance, closed, sockets } = await beating()
    const [socket] = sockets
    if (socket === undefined) throw new Error('no socket')
    socket.receive(HEARTBEAT_FRAME)
    socket.bufferedAmount = 5_000_000
    await advance(15_000)
    for (; socket.bufferedAmount > 0; socket.bufferedAmount -= 500_000) await advance(4_000)
    expect(closed()).toEqual([null])
    socket.receive(HEARTBEAT_FRAME)
    socket.bufferedAmount = 700
    await advance(10_000)
    expect(closed()).toEqual([4000])
  })

  it('[WS-49] waits 60 s for its echo behind one large message, and 120 s on the attempt after a timeout', async () => {
    const { advance, closed, beat, statuses } = await beating(() => true)
    await advance(59_999)
    expect(closed()).toEqual([null])
    await advance(1)
    expect(closed()).toEqual([4000])
    await advance(250)
    await beat()
    await advance(119_999)
    expect(closed()).toEqual([4000, null])
    await advance(1)
    expect([closed(), statuses.at(-1)?.kind]).toEqual([[4000, 4000], 'waiting'])
  })

  it('[WS-49] ends its wait with the echo, so a link that dies later is noticed within 20 s', async () => {
    const { advance, closed, sockets } = await beating()
    await advance(3_000)
    sockets[0]?.receive(HEARTBEAT_FRAME)
    await advance(11_000)
    expect(closed()).toEqual([null])
    await advance(6_000)
    expect(closed()).toEqual([4000])
  })
})
