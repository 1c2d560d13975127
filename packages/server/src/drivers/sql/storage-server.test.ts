import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import type { RoundTurns } from '../../kernel/round-turns.ts'
import type { StorageHost } from './storage-host.ts'
import { storageFromPort } from './storage-client.ts'
import { serveStorage } from './storage-server.ts'

/** A served port whose store answers every call with the name of its verb, and turns that the test grants. */
function served() {
  const { port1, port2 } = new MessageChannel()
  const verbs = (): unknown => new Proxy({}, { get: (_, verb) => () => Promise.resolve(String(verb)) })
  const host = new Proxy({}, { get: verbs }) as StorageHost
  const waiting: { readonly holder: string; readonly work: () => void }[] = []
  const reads: RoundTurns = { run: (holder, work) => void waiting.push({ holder, work }) }
  serveStorage(port1, host, { reads, close: () => Promise.resolve() })
  onTestFinished(() => (port2 as MessagePort).close())
  return { storage: storageFromPort(port2), waiting }
}

it('[C3] reading a document waits for a turn of its workspace, and later calls of others do not wait', async () => {
  const { storage, waiting } = served()
  const read = storage.documents.read({ workspaceId: 'noisy', id: 'long' })
  expect(await storage.documents.state({ workspaceId: 'quiet', id: 'short' })).toBe('state')
  expect(waiting.map(({ holder }) => holder)).toEqual(['noisy'])
  waiting[0]?.work()
  expect(await read).toBe('read')
})

it('[C3] reading logs and recovery points also waits for turns', async () => {
  const { storage, waiting } = served()
  const loaded = storage.updates.load(1)
  const point = storage.recovery.read(1, 'p' as never)
  await storage.documents.state({ workspaceId: 'quiet', id: 'short' })
  expect(waiting).toHaveLength(2)
  for (const { work } of waiting) work()
  expect(await Promise.all([loaded, point])).toEqual(['load', 'read'])
})
