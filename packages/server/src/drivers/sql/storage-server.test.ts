import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import type { RoundTurns } from '../../kernel/round-turns.ts'
import type { StorageHost } from './storage-host.ts'
import { storageFromPort } from './storage-client.ts'
import { serveStorage } from './storage-server.ts'
import { VERBS } from './storage-verbs.ts'

/** Methods that are not sent as calls of this name, or that the owner of the thread answers. */
const MADE_BY_CLIENT = ['documents.list', 'updates.append', 'control.close']

/** Serves a store that answers every call with its port and method. The test grants the turns. */
function served() {
  const { port1, port2 } = new MessageChannel()
  const portOf = (port: string): unknown =>
    new Proxy(() => Promise.resolve(`control.${port}`), { get: (_, verb) => () => Promise.resolve(`${port}.${String(verb)}`) })
  const host = new Proxy({}, { get: (_, name) => portOf(String(name)) }) as StorageHost
  const waiting: { readonly holder: string; readonly work: () => void }[] = []
  const reads: RoundTurns = { run: (holder, work) => void waiting.push({ holder, work }) }
  serveStorage(port1, host, { reads, close: () => Promise.resolve() })
  onTestFinished(() => (port2 as MessagePort).close())
  return { storage: storageFromPort(port2), waiting }
}

it('[C3] reading a document waits for a turn of its workspace, but later calls of other workspaces do not', async () => {
  const { storage, waiting } = served()
  const read = storage.documents.read({ workspaceId: 'noisy', id: 'long' })
  expect(await storage.documents.state({ workspaceId: 'quiet', id: 'short' })).toBe('documents.state')
  expect(waiting.map(({ holder }) => holder)).toEqual(['noisy'])
  waiting[0]?.work()
  expect(await read).toBe('documents.read')
})

it('[C3] reading logs and recovery points waits for turns, like reading documents', async () => {
  const { storage, waiting } = served()
  const loaded = storage.updates.load(1)
  const point = storage.recovery.read(1, 'p' as never)
  await storage.documents.state({ workspaceId: 'quiet', id: 'short' })
  expect(waiting).toHaveLength(2)
  for (const { work } of waiting) work()
  expect(await Promise.all([loaded, point])).toEqual(['updates.load', 'recovery.read'])
})

it('[C3] every call to the storage thread reaches the method of its port', async () => {
  const { storage, waiting } = served()
  const ports = storage as unknown as Readonly<Record<string, Readonly<Record<string, () => Promise<unknown>>>>>
  const asked = Object.entries(VERBS)
    .flatMap(([port, verbs]) => Object.keys(verbs).map((verb) => ({ port, verb, name: `${port}.${verb}` })))
    .filter(({ port, name }) => port !== 'heads' && !MADE_BY_CLIENT.includes(name))
  const answers = Promise.all(asked.map(async ({ port, verb }) => ports[port]?.[verb]?.()))
  await storage.control.ping()
  for (const { work } of waiting) work()
  expect(await answers).toEqual(asked.map(({ name }) => name))
})
