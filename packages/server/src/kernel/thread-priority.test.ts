import { getPriority } from 'node:os'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'

const MODULE = new URL('./thread-priority.ts', import.meta.url).href
const THREAD = `
import { readlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { runInBackground } from '${MODULE}'
runInBackground()
parentPort.postMessage(getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))))
`

describe('priority of threads', () => {
  it.runIf(process.platform === 'linux')(
    '[DIAG-17] a thread that runs in the background gives way to the others of its process, whose priority stays',
    async () => {
      const own = getPriority()
      const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`))
      const [lowered] = (await once(thread, 'message')) as [number]
      await thread.terminate()
      expect(lowered).toBeGreaterThan(own)
      expect(getPriority()).toBe(own)
    },
  )
})
