import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { RunningAttack, Target } from './noisy-attacks.ts'

const MIB = 1_048_576

/** Attacks over HTTP and MCP; attacks over WebSocket are in `noisy-attacks.ts`. */

/** Requests of a viewer that declare 128 MiB and then send a byte every few seconds. A request that ends is replaced. */
export function declareBodies(target: Target, { connections = 40 }: { connections?: number } = {}): Promise<RunningAttack> {
  const head = (i: number) =>
    `PUT /api/docs/declared-${i} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${tokenOf(target, 'viewer')}\r\nContent-Length: ${128 * MIB}\r\n\r\n`
  return keepOpen(target, connections, (i) => ({ first: head(i), next: ' ', everyMs: 2_000 }))
}

/** Requests of a member that send up to 1 MiB of each body at once, and the rest byte by byte. */
export function holdBodies(target: Target, { connections = 200 }: { connections?: number } = {}): Promise<RunningAttack> {
  const part = ' '.repeat(MIB)
  const head = (i: number) =>
    `PUT /api/docs/held-${i} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${tokenOf(target, 'member')}\r\nContent-Length: ${16 * MIB}\r\n\r\n${part}`
  return keepOpen(target, connections, (i) => ({ first: head(i), next: ' ', everyMs: 2_000 }))
}

/** Connections from several loopback addresses that never complete their headers. */
export function halfHeaders(target: Target, { connections = 3_000 }: { connections?: number } = {}): Promise<RunningAttack> {
  return keepOpen(target, connections, () => ({
    first: 'GET /health HTTP/1.1\r\nHost: h\r\nX-Long: ',
    next: 'a',
    everyMs: 5_000,
  }))
}

/** Opens legacy sessions endlessly, as a viewer. */
export function initializeStorm(target: Target, parallel = 8): Promise<RunningAttack> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'noise', version: '1' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  return flood(target, parallel, () => ({ method: 'POST', path: '/mcp', body, role: 'viewer' }))
}

/** Requests large pictures of a large page. */
export async function floodPreviews(target: Target, parallel = 60): Promise<RunningAttack> {
  const shapes = Array.from({ length: 3_000 }, (_, i) => ({
    id: `s${i}`,
    type: 'rectangle',
    x: (i % 60) * 70,
    y: Math.floor(i / 60) * 70,
    width: 60,
    height: 60,
    label: `shape number ${i} with some words`,
  }))
  await target.relay
    .rest({ sub: 'mallory', workspace: target.workspace })
    .putDocument('drawn', { name: 'drawn', pages: [{ id: 'p', shapes }] })
  return flood(target, parallel, () => ({ method: 'GET', path: '/api/v1/docs/drawn/preview.png?scale=4', role: 'owner' }))
}

/** Sends documents of 6 MiB with content that is expensive to parse. */
export function floodBodies(target: Target, parallel = 4): Promise<RunningAttack> {
  const shapes = Array.from({ length: 60_000 }, (_, i) => ({
    id: `s${i}`,
    type: 'rectangle',
    x: i,
    y: i,
    width: 60,
    height: 60,
    label: 'words',
  }))
  const body = JSON.stringify({ name: 'heavy', pages: [{ id: 'p', shapes }] })
  let sent = 0
  return flood(target, parallel, () => ({ method: 'PUT', path: `/api/docs/heavy-${sent++ % 4}`, body, role: 'owner' }))
}

/** Requests answers of 4 MiB and does not read them. */
export async function leaveAnswers(target: Target, { connections = 100 }: { connections?: number } = {}): Promise<RunningAttack> {
  const rest = target.relay.rest({ sub: 'mallory', workspace: target.workspace })
  await rest.putDocument('unread', { name: 'unread', pages: [], filler: 'x'.repeat(4 * MIB) })
  const first = `GET /api/docs/unread HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${tokenOf(target, 'owner')}\r\n\r\n`
  return keepOpen(target, connections, () => ({ first, next: '', everyMs: 60_000, deaf: true }))
}

interface Kept {
  readonly first: string
  readonly next: string
  readonly everyMs: number
  /** Whether the connection reads nothing. */
  readonly deaf?: boolean
}

/** Opens connections that send their first part, then further parts from time to time, and are replaced when they end. */
async function keepOpen(target: Target, connections: number, kept: (i: number) => Kept): Promise<RunningAttack> {
  const { hostname, port } = new URL(target.relay.baseUrl)
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  let sent = 0
  let ended = 0
  let isStopped = false
  const open = (i: number): void => {
    if (isStopped) return
    const { first, next, everyMs, deaf = false } = kept(i)
    const socket = connect({ port: Number(port), host: hostname, localAddress: `127.0.0.${2 + (i % 8)}` })
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (deaf) socket.pause()
    else socket.resume()
    socket.write(first)
    sent++
    const timer = setInterval(() => void (next !== '' && socket.write(next)), everyMs)
    timers.add(timer)
    socket.once('close', () => {
      clearInterval(timer)
      timers.delete(timer)
      sockets.delete(socket)
      ended++
      setTimeout(() => open(i), 100)
    })
  }
  for (let i = 0; i < connections; i++) open(i)
  return {
    get sent() {
      return sent
    },
    get closes() {
      return new Map([[0, ended]])
    },
    async stop() {
      isStopped = true
      for (const timer of timers) clearInterval(timer)
      for (const socket of sockets) socket.destroy()
    },
  }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly role: string
}

/** Sends `parallel` requests at a time without a pause; `closes` counts the answers by status. */
async function flood(target: Target, parallel: number, ask: () => Asked): Promise<RunningAttack> {
  const agent = new Agent({ keepAlive: true })
  const statuses = new Map<number, number>()
  let sent = 0
  let isStopped = false
  const one = ({ method, path, body, role }: Asked): Promise<number> => {
    const headers = {
      authorization: `Bearer ${tokenOf(target, role)}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    }
    return new Promise((resolve) => {
      const asked = request(target.relay.baseUrl + path, { method, headers, agent }, (response) => {
        response.resume().once('close', () => resolve(response.statusCode ?? 0))
      })
      asked.once('error', () => resolve(0))
      asked.end(body)
    })
  }
  const loop = async (): Promise<void> => {
    while (!isStopped) {
      sent++
      const status = await one(ask())
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  for (let i = 0; i < parallel; i++) void loop()
  return {
    get sent() {
      return sent
    },
    closes: statuses,
    async stop() {
      isStopped = true
      agent.destroy()
    },
  }
}

function tokenOf({ relay, workspace }: Target, role: string): string {
  return relay.token({ sub: `mallory-${role}`, workspace, role })
}
