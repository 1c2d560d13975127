import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { YoungHeap } from './young-heap.ts'

/** The code of a thread. It makes some megabytes of objects that all stay in use, and posts how many garbage collections ran meanwhile. */
const ENTRY = `
  const { PerformanceObserver } = require('node:perf_hooks')
  let collections = 0
  const observer = new PerformanceObserver((list) => (collections += list.getEntries().length))
  observer.observe({ entryTypes: ['gc'] })
  const kept = Array.from({ length: 100_000 }, (_, at) => ({ at, text: 't' + at }))
  setImmediate(() => {
    collections += observer.takeRecords().length
    require('node:worker_threads').parentPort.postMessage(kept.length === 100_000 ? collections : -1)
  })`

const open = () => new Worker(ENTRY, { eval: true })
const told = (thread: Worker) => new Promise<number>((resolve) => thread.once('message', resolve))

it('[DIAG-17] threads with a large young heap make thousands of objects with fewer collections, and later threads have the usual heap', async () => {
  const heap = new YoungHeap()
  const usual = await told(open())
  expect(usual).toBeGreaterThan(1)
  const young = await Promise.all([heap.start(open), heap.start(open)].map(told))
  for (const collections of young) expect(collections).toBeLessThan(usual)
  expect(await told(open())).toBeGreaterThan(1)
})
