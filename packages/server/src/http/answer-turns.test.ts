import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DocumentStore } from '../documents/document-store.port.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'

const MIB = 1_048_576
const NOISY = { sub: 'eve', workspace: 'noisy' }
const QUIET = { sub: 'ann', workspace: 'quiet' }

let relay: RestRelay
let reads: string[] = []
const sockets: Socket[] = []
beforeEach(async () => {
  const store = (real: DocumentStore): DocumentStore => ({
    ...real,
    read(ref) {
      reads.push(ref.workspaceId)
      return real.read(ref)
    },
  })
  relay = await startRestRelay({ store, answers: { unsentBytes: 16 * MIB } })
  const body = { name: 'large', filler: 'x'.repeat(8 * MIB) }
  await relay.call('PUT', '/api/docs/d', { as: NOISY, body })
  await relay.call('PUT', '/api/docs/d', { as: QUIET, body: { name: 'small' } })
  reads = []
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await relay[Symbol.asyncDispose]()
})

/** Sends requests for a document from `count` clients that never read an answer. */
function ask(count: number): void {
  const head = `GET /api/docs/d HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${relay.issuer.token(NOISY)}\r\n\r\n`
  for (let i = 0; i < count; i++) {
    const socket = connect(relay.port, '127.0.0.1').on('error', () => undefined)
    socket.pause()
    socket.write(head)
    sockets.push(socket)
  }
}

it('[H10] a workspace whose clients do not read gets answers up to its memory share; other workspaces are served', async () => {
  ask(12)
  await expect.poll(() => reads.filter((workspace) => workspace === 'noisy').length).toBeGreaterThanOrEqual(2)
  for (let i = 0; i < 5; i++) expect((await relay.call('GET', '/api/docs/d', { as: QUIET })).status).toBe(200)
  expect(reads.filter((workspace) => workspace === 'noisy').length).toBeLessThanOrEqual(3)
})

it('[H10] a workspace gets further answers once its clients have read theirs or have left', async () => {
  ask(4)
  await expect.poll(() => reads.length).toBeGreaterThanOrEqual(2)
  const waiting = relay.call('GET', '/api/docs/d', { as: NOISY })
  for (const socket of sockets.splice(0)) socket.destroy()
  expect((await waiting).bytes.byteLength).toBeGreaterThan(8 * MIB)
})
