import { awarenessFrame, jsonFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import type { SocketLike } from './environment.ts'
import { relayWebSocket } from './y-websocket.ts'

type Played = SocketLike & { readonly address: string }

/** A class whose sockets and timers the test controls. */
function bench() {
  const played: Played[] = []
  const timers: { readonly ms: number; readonly run: () => void }[] = []
  const asked: boolean[] = []
  const polyfill = relayWebSocket({
    token: ({ fresh }) => {
      asked.push(fresh)
      return 'a.token'
    },
    environment: {
      now: () => 1_000,
      random: () => 0,
      after(ms, run) {
        const timer = { ms, run }
        timers.push(timer)
        return () => {
          if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1)
        }
      },
      openSocket(address) {
        const silent = { onopen: null, onmessage: null, onclose: null, onerror: null }
        const socket: Played = { address, binaryType: '', readyState: 1, ...silent, send() {}, close() {} }
        played.push(socket)
        return socket
      },
    },
  })
  /** Connects to a document as a provider does. `waitMs` is how long the socket waits first, `socket` is the one that it opens then. */
  const connect = async (docId: string) => {
    const socket = new polyfill(`ws://relay.example/ws/${docId}`)
    const closed: number[] = []
    socket.onclose = ({ code }) => closed.push(code)
    const start = timers.pop()
    if (start === undefined) throw new Error('a socket begins by a timer')
    start.run()
    await new Promise((resolve) => setImmediate(resolve))
    const opened = played.at(-1) as Played
    expect(new URL(opened.address).searchParams.get('doc')).toBe(docId)
    return { socket, waitMs: start.ms, closed, end: (code: number, reason: string) => opened.onclose?.({ code, reason }), opened }
  }
  const accept = (opened: Played) => opened.onmessage?.({ data: jsonFrame(TAG.authResponse, { success: true }).buffer })
  const fire = (ms: number) => {
    for (const timer of timers.filter((each) => each.ms === ms)) timer.run()
  }
  return { asked, connect, accept, fire }
}

it('[WS-69] a socket sends its provider an empty presence every 15 s while it is accepted and open', async () => {
  const { connect, accept, fire } = bench()
  const heard: Uint8Array[] = []
  const open = async () => {
    const { socket, opened } = await connect('one')
    socket.onmessage = ({ data }) => heard.push(new Uint8Array(data as ArrayBuffer))
    opened.onopen?.({} as never)
    return { socket, opened }
  }
  await open()
  // A relay that has not answered for so long counts as absent.
  fire(15_000)
  expect(heard).toEqual([])
  const { socket, opened } = await open()
  accept(opened)
  fire(15_000)
  expect(heard).toEqual([awarenessFrame(encodeAwarenessUpdate(new Awareness(new Y.Doc()), []))])
  socket.close()
  fire(15_000)
  expect(heard).toHaveLength(1)
})

it('[WS-69] a retry delay of one document does not delay another document of the same class', async () => {
  const { connect } = bench()
  const one = await connect('one')
  one.end(1013, 'overloaded;retry-after=3000')
  expect([one.closed, (await connect('two')).waitMs]).toEqual([[1013], 0])
  expect((await connect('one')).waitMs).toBeGreaterThanOrEqual(3_000)
})

it('[WS-69] only the document whose token was refused asks for a fresh one', async () => {
  const { connect, asked } = bench()
  const one = await connect('one')
  one.end(4401, 'token-expired')
  await connect('two')
  await connect('one')
  expect(asked).toEqual([false, false, true])
})

it('[WS-69] only a socket that itself used a fresh token stops when that token is refused', async () => {
  const { connect, asked } = bench()
  // Two providers of one document, whose tokens expire at the same time.
  const both = [await connect('one'), await connect('one')]
  for (const each of both) each.end(4401, 'token-expired')
  const next = [await connect('one'), await connect('one')]
  for (const each of next) each.end(4401, 'token-expired')
  expect([...both, ...next].map(({ closed }) => closed)).toEqual([[1013], [1013], [4401], [4401]])
  expect(asked).toEqual([false, false, true, true])
})

it('[WS-58] a token that expires after it was accepted is renewed, also when it was a fresh one', async () => {
  const { connect, accept, asked } = bench()
  const first = await connect('one')
  first.end(4401, 'token-expired')
  const second = await connect('one')
  accept(second.opened)
  second.end(4401, 'token-expired')
  const third = await connect('one')
  expect([second.closed, third.closed, asked]).toEqual([[1013], [], [false, true, true]])
})
