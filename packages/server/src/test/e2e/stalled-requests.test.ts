import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storedHead } from '../store-file.ts'

const GRACE_SECS = 6
const viewer = { sub: 'eve', role: 'viewer' } as const

let relay: RelayUnderTest
const sockets: Socket[] = []
beforeEach(async () => {
  relay = await startRelayUnderTest({ mcp: 'public', env: { RELAY_SHUTDOWN_GRACE_SECS: String(GRACE_SECS) } })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await relay[Symbol.asyncDispose]()
})

/** Sends the head of a request without its body. Resolves when the relay waits for the body. */
async function stall(request: string, bytes: number, as: Parameters<RelayUnderTest['token']>[0]): Promise<() => string> {
  const { host, hostname, port } = new URL(relay.baseUrl)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  sockets.push(socket)
  let received = ''
  socket.on('data', (data) => void (received += data.toString()))
  const head = `${request} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${relay.token(as)}\r\nExpect: 100-continue\r\n`
  socket.write(`${head}Content-Length: ${bytes}\r\n\r\n`)
  await until('100 Continue', () => received.includes('100 Continue'))
  received = ''
  return () => received
}

/** Makes a document with an edit that is in its log but not in its stored body. */
async function editedDocument(id: string): Promise<void> {
  await relay.rest().putDocument(id, { richTextPages: [{ id: 'text', name: 'Text', content: '<p>hello</p>' }] })
  const client = relay.sync(id)
  await saved(client)
  const paragraph = client.doc.getXmlFragment('prose:text').get(0) as Y.XmlElement
  paragraph.insert(0, [new Y.XmlText('edited ')])
  await saved(client)
}

const isMaterialised = (id: string): boolean => {
  const head = storedHead(relay, id)
  return head !== null && head.lastSeq > 0 && head.coveredSeq === head.lastSeq
}

it('[LIFE-28] a stop answers 503 to requests without bodies, materialises open documents and exits with 0 in time', {
  timeout: patience(40_000),
}, async () => {
  await editedDocument('open')
  const bytes = 200_000
  const hash = createHash('sha256').update('never').digest('hex')
  const answers = await Promise.all([
    stall('PUT /api/docs/other', 1_000, viewer),
    stall('PUT /api/docs/large', bytes, { sub: 'ann', role: 'member' }),
    stall('POST /api/v1/share-links/redeem', 1_000, viewer),
    stall(`POST /api/blobs/${hash}`, bytes, { sub: 'ann', role: 'member' }),
    stall('POST /mcp', 1_000, viewer),
  ])
  const took = stopwatch()
  expect(await relay.stop()).toBe(0)
  expect(took()).toBeLessThan(GRACE_SECS * 1_000)
  for (const answer of answers) expect(answer()).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n/)
  expect(relay.logLines.filter((line) => line.includes('relay.drain_overrun'))).toEqual([])
  expect(isMaterialised('open')).toBe(true)
})

it('[LIFE-28] a client that does not read its answer does not keep a stop from materialising documents and exiting with 0', {
  timeout: patience(40_000),
}, async () => {
  await editedDocument('open')
  const bytes = Buffer.alloc(64 * 1_048_576, 7)
  const hash = createHash('sha256').update(bytes).digest('hex')
  const headers = { authorization: `Bearer ${relay.token()}` }
  expect((await relay.fetch(`/api/blobs/${hash}`, { method: 'POST', headers, body: bytes })).status).toBe(204)
  const { host, hostname, port } = new URL(relay.baseUrl)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  sockets.push(socket)
  socket.pause()
  socket.write(`GET /api/blobs/${hash} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${headers.authorization}\r\n\r\n`)
  await sleep(500)
  expect(await relay.stop()).toBe(0)
  expect(isMaterialised('open')).toBe(true)
})
