/**
 * The process into which the fault test injects failing system calls. Appends one record after another and prints the outcome of each call
 * as one JSON line. Argument: storage URL.
 */
import { creation, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { STORAGE_THREAD } from '../../../test/relay-program.ts'
import { openStorage } from '../storage.ts'

export interface FaultReport {
  readonly key: number
  /** Confirmed sequences and error codes, in the order of the calls. */
  readonly results: readonly (number | string)[]
  readonly fatal: boolean
}

const storage = await openStorage({ url: process.argv[2] ?? '', commitDelayMs: 0, log: silentLogger, thread: STORAGE_THREAD })
let fatal = false
storage.onFatal(() => {
  fatal = true
})
const results: (number | string)[] = []
const created = await storage.documents
  .write(creation({ workspaceId: 'w', id: 'd' }))
  .catch((error: { code: string }) => error.code)
const key = typeof created === 'string' ? 0 : written(created).key
let stored = 0
for (let i = 0; i < 14; i++) {
  const record = { key, afterSeq: stored, actor: 'ada', atMs: i, update: new Uint8Array(200).fill(i) }
  results.push(
    await storage.updates.append([record]).then(
      ([outcome]) => (outcome?.kind === 'appended' ? (stored = outcome.seq) : (outcome?.kind ?? 'none')),
      (error: { code: string }) => error.code,
    ),
  )
}
process.stdout.write(`${JSON.stringify({ key, results, fatal } satisfies FaultReport)}\n`)
process.exit(0)
