import { parentPort, workerData } from 'node:worker_threads'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { generator } from '../mixed-load.ts'
import type { DistantlyTyped, DistantPlan } from './distant-people.ts'
import { openTypingPerson } from './typing-person.ts'
import { distantLetters } from './words.ts'

const { wsUrl, docId, pageId, keystrokesPerSec, people: plans } = workerData as DistantPlan
const letter = distantLetters()
const people = plans.map(({ number, seed, token }) =>
  openTypingPerson({
    connect(onState) {
      const client = new SyncClient({ url: wsUrl, docId, doc: new Y.Doc(), token: () => token, onState })
      client.connect()
      return client
    },
    pageId,
    number,
    keystrokesPerSec,
    random: generator(seed),
    letter,
  }),
)
const saved = async (): Promise<void> => {
  while (!people.every(({ client }) => client.state.synced && client.state.saved === 'saved'))
    await new Promise((resolve) => setTimeout(resolve, 10))
}
let isRunning = false
let work: readonly Promise<void>[] = []

parentPort?.on('message', (told: 'type' | 'stop') => void (told === 'type' ? type() : stop()))

function type(): void {
  isRunning = true
  work = people.map((one) => one.type(() => isRunning))
}

async function stop(): Promise<void> {
  isRunning = false
  await Promise.all(work)
  await saved()
  const so: DistantlyTyped = { typed: people.flatMap(({ typed }) => typed), ackMs: people.flatMap(({ ackMs }) => ackMs) }
  parentPort?.postMessage(so)
}

await saved()
parentPort?.postMessage('ready')
