// Runs before each test file.
import { afterAll, vi } from 'vitest'
import { patience } from '../packages/server/src/kernel/testing/patience.ts'
import './byte-equality.ts'
import { processorSecondsSinceLast } from './processor-seconds.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** The processor time of the file. When a process runs several files, earlier files do not count. */
    processorSeconds?: number
  }
}

vi.setConfig({ testTimeout: patience(20_000), hookTimeout: patience(60_000), expect: { poll: { timeout: patience(10_000) } } })

// Registered before all others, so it runs after them, when relays that the file started have ended.
// oxlint-disable-next-line no-empty-pattern -- vitest accepts nothing but a pattern as the first parameter
afterAll(({}, suite) => {
  suite.meta.processorSeconds = processorSecondsSinceLast()
})
