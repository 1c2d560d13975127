import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FaultReport } from './testing/fault-writer.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

const WRITER = fileURLToPath(new URL('./testing/fault-writer.ts', import.meta.url))
const hasStrace = spawnSync('strace', ['-V']).status === 0

let store: ReturnType<typeof temporaryStore>
beforeEach(async () => {
  store = temporaryStore()
  // Creates the store first, so that nearly all system calls that are counted below come from appends.
  await (await openHost(store.url))[Symbol.asyncDispose]()
})
afterEach(() => store.remove())

/** Runs the writer while chosen system calls fail. Returns `null` when the store could not be opened. */
async function writeUnder(fault: string): Promise<FaultReport | null> {
  const call = fault.slice(0, fault.indexOf(':'))
  const traced = [
    '-f',
    '-qqq',
    '-o',
    '/dev/null',
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${fault}`,
    process.execPath,
    WRITER,
    store.url,
  ]
  const child = spawn('strace', traced, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return output === '' ? null : (JSON.parse(output) as FaultReport)
}

async function storedSeqs(key: number): Promise<number[]> {
  const host = await openHost(store.url)
  const log = await host.updates.load(key)
  await host[Symbol.asyncDispose]()
  return log.kind === 'loaded' ? log.records.map(({ seq }) => seq) : []
}

const confirmedOf = (report: FaultReport) => report.results.filter((result) => typeof result === 'number')

describe.skipIf(!hasStrace)('failing system calls (needs strace)', () => {
  it.each([9, 12, 15])(
    '[LIFE-6] [LIFE-1] after failed flush number %d no write is confirmed, and all writes confirmed before are stored',
    async (nth) => {
      const report = await writeUnder(`fsync:error=EIO:when=${nth}`)
      expect(report).not.toBeNull()
      if (report === null) return
      const failed = report.results.findIndex((result) => typeof result === 'string')
      expect(report.fatal).toBe(true)
      expect(failed).toBeGreaterThanOrEqual(0)
      expect(report.results.slice(failed).filter((result) => typeof result === 'number')).toEqual([])
      expect(await storedSeqs(report.key)).toEqual(expect.arrayContaining(confirmedOf(report)))
    },
  )

  it('[LIFE-6] a full disk refuses writes and confirms them again afterwards, without a gap in the log', async () => {
    const report = await writeUnder('pwrite64:error=ENOSPC:when=45..49')
    expect(report?.results).toContain('NOT_PERSISTED')
    expect(report?.fatal).toBe(false)
    expect(typeof report?.results.at(-1)).toBe('number')
    const stored = await storedSeqs(report?.key ?? 0)
    expect(stored).toEqual(Array.from(stored, (_, i) => i + 1))
    expect(stored).toEqual(report === null ? null : confirmedOf(report))
  })
})
