import { awarenessFrame, readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { WebSocket } from 'ws'
import { TestClient } from '../../sync/testing/test-client.ts'
import { UpdateWriter } from '../../sync/testing/update-writer.ts'
import type { RelayUnderTest } from '../relay-under-test.ts'
import { encodePresence } from '../wire-client.ts'

/** The relay under attack, and the attacker's workspace. */
export interface Target {
  readonly relay: Pick<RelayUnderTest, 'wsUrl' | 'baseUrl' | 'token' | 'rest'>
  readonly workspace: string
}

/** An attack that continues until it is stopped. */
export interface RunningAttack {
  /** Number of frames, sockets or requests that the attacker has sent. */
  readonly sent: number
  /** Number of the attacker's sockets that the relay closed, by close code. */
  readonly closes: ReadonlyMap<number, number>
  stop(): Promise<void>
}

/**
 * Returns an update with `items` entries of one map key, none with an origin. Each entry has to pass all earlier ones, so the cost grows with the
 * square of the count. 12,000 items are about 96 KB and take half a second to one second of processor time.
 */
export function costlyUpdate(items: number, client: number): Uint8Array {
  return new UpdateWriter()
    .block(client, 0, items, (writer) => writer.raw([0x28]).uint(1).text('a').text('k').uint(1).raw([126]))
    .deletes([])
}

/** Opens a raw client that is authenticated and joined, with feature `ack`. */
export async function joinAs({ relay, workspace }: Target, docId: string, sub = 'mallory', role = 'owner'): Promise<TestClient> {
  const client = await openSocket(relay.wsUrl)
  client.auth(relay.token({ sub, workspace, role }), ['ack'])
  await client.next(TAG.authResponse)
  client.join(docId)
  await client.next(TAG.sync)
  return client
}

export async function openSocket(wsUrl: string, headers: Readonly<Record<string, string>> = {}): Promise<TestClient> {
  const socket = new WebSocket(wsUrl, { headers })
  const client = new TestClient(socket)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return client
}

/** Returns the highest ordinal acknowledged to a client. */
export function acknowledged(client: TestClient): number {
  return Math.max(0, ...client.of(TAG.syncAck).map((frame) => readSyncAck(frame.subarray(1)) ?? 0))
}

/** Creates `count` documents of the attacker and returns their ids. */
export async function attackersDocuments({ relay, workspace }: Target, count: number, prefix = 'noise'): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => `${prefix}-${i}`)
  const rest = relay.rest({ sub: 'mallory', workspace })
  for (const id of ids) await rest.putDocument(id, { name: id })
  return ids
}

/** Runs `sockets` clients, each sending one costly update per `everyMs`. A closed socket is replaced at once. */
export async function sendCostlyUpdates(
  target: Target,
  { sockets = 20, items = 12_000, everyMs = 1_000 }: { sockets?: number; items?: number; everyMs?: number } = {},
): Promise<RunningAttack> {
  const documents = await attackersDocuments(target, sockets, 'costly')
  let sent = 0
  return keepUp(documents, everyMs, {
    connect: (docId) => joinAs(target, docId),
    // A different client id each time, so that nothing in the update is already known.
    send: (client) => client.send(syncFrame(SYNC.update, costlyUpdate(items, 1_000_000 + ++sent))),
    sent: () => sent,
  })
}

/**
 * Sends AWARENESS frames of 260 KB, full of client ids that the sender never introduced, into a room where former connections left
 * `abandoned` ids behind.
 */
export async function crowdAwareness(
  target: Target,
  { abandoned = 2_176, perSecond = 5 }: { abandoned?: number; perSecond?: number } = {},
): Promise<RunningAttack> {
  const [docId = ''] = await attackersDocuments(target, 1, 'crowd')
  await abandonPresence(target, docId, abandoned)
  const frame = strangersFrame(32_500)
  let sent = 0
  return keepUp([docId], 1_000 / perSecond, {
    connect: (id) => joinAs(target, id),
    send(client) {
      sent++
      client.send(frame)
    },
    sent: () => sent,
  })
}

/** Leaves about `count` client ids behind in a room, by connections that introduce four each and then end. */
export async function abandonPresence(target: Target, docId: string, count: number): Promise<void> {
  const leave = async (first: number): Promise<void> => {
    const client = await joinAs(target, docId)
    client.send(awarenessFrame(encodePresence([0, 1, 2, 3].map((i) => ({ client: first + i, clock: 1, state: {} })))))
    await client.settled()
    client.socket.terminate()
  }
  for (let first = 1; first <= count; first += 40)
    await Promise.all(Array.from({ length: Math.min(10, Math.ceil((count - first + 1) / 4)) }, (_, i) => leave(first + i * 4)))
}

/** Returns one AWARENESS frame with `count` client ids. */
export function strangersFrame(count: number): Uint8Array {
  const states = Array.from({ length: count }, (_, i) => ({ client: 10_000_000 + i, clock: 1, state: {} }))
  return awarenessFrame(encodePresence(states))
}

/** Opens `count` sockets that never authenticate, and replaces each one that the relay closes. */
export async function idleSockets(
  { relay }: Pick<Target, 'relay'>,
  {
    count = 300,
    headers = {},
    localAddress,
  }: { count?: number; headers?: Readonly<Record<string, string>>; localAddress?: string } = {},
): Promise<RunningAttack> {
  const closes = new Map<number, number>()
  const open = new Set<WebSocket>()
  let sent = 0
  let isStopped = false
  const connect = (): void => {
    if (isStopped) return
    sent++
    const socket = new WebSocket(relay.wsUrl, { headers, ...(localAddress !== undefined && { localAddress }) })
    open.add(socket)
    const again = (): void => {
      if (open.delete(socket)) setTimeout(connect, 20)
    }
    socket.on('error', again)
    socket.on('close', (code) => {
      closes.set(code, (closes.get(code) ?? 0) + 1)
      again()
    })
  }
  for (let i = 0; i < count; i++) connect()
  await new Promise((resolve) => setTimeout(resolve, 500))
  return {
    get sent() {
      return sent
    },
    closes,
    async stop() {
      isStopped = true
      for (const socket of [...open]) {
        open.delete(socket)
        socket.terminate()
      }
    },
  }
}

/** Changes the share list of one of the attacker's documents, with `parallel` requests at a time and no pause. */
export async function changeShares(target: Target, { parallel = 32 }: { parallel?: number } = {}): Promise<RunningAttack> {
  const [docId = ''] = await attackersDocuments(target, 1, 'shared')
  const { relay, workspace } = target
  const headers = { Authorization: `Bearer ${relay.token({ sub: 'mallory', workspace })}`, 'Content-Type': 'application/json' }
  let sent = 0
  let isStopped = false
  const loop = async (): Promise<void> => {
    while (!isStopped) {
      const sharedWith = sent++ % 2 === 0 ? [{ userId: 'user', permission: 'view' }] : []
      const body = JSON.stringify({ name: docId, sharedWith })
      const answer = await fetch(`${relay.baseUrl}/api/docs/${docId}`, { method: 'PUT', headers, body })
      await answer.arrayBuffer()
    }
  }
  const loops = Array.from({ length: parallel }, loop)
  return {
    get sent() {
      return sent
    },
    closes: new Map(),
    async stop() {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

interface Sender {
  connect(docId: string): Promise<TestClient>
  send(client: TestClient): void
  sent(): number
}

/** Runs one client per document that sends repeatedly and reconnects when it is closed. */
async function keepUp(documents: readonly string[], everyMs: number, sender: Sender): Promise<RunningAttack> {
  const closes = new Map<number, number>()
  const clients = new Map<string, TestClient>()
  const timers: NodeJS.Timeout[] = []
  let isStopped = false
  const connect = async (docId: string): Promise<void> => {
    const client = await sender.connect(docId)
    if (isStopped) return client.socket.terminate()
    clients.set(docId, client)
    void client.closed.then(({ code }) => {
      closes.set(code, (closes.get(code) ?? 0) + 1)
      if (!isStopped) void connect(docId).catch(() => undefined)
    })
  }
  for (const docId of documents) await connect(docId)
  for (const docId of documents) {
    const send = (): void => {
      const client = clients.get(docId)
      if (client?.socket.readyState === WebSocket.OPEN) sender.send(client)
    }
    send()
    timers.push(setInterval(send, everyMs))
  }
  return {
    get sent() {
      return sender.sent()
    },
    closes,
    async stop() {
      isStopped = true
      for (const timer of timers) clearInterval(timer)
      for (const { socket } of clients.values()) socket.terminate()
    },
  }
}
