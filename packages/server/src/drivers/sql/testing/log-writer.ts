/**
 * The process that the test of recent records kills. It appends short records to many documents as fast as it can, and reports to its parent process
 * where each log durably ends. Arguments: storage URL, number of documents.
 */
import { flushCompileCache } from 'node:module'
import { creation, update, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { STORAGE_THREAD } from '../../../test/relay-program.ts'
import { openStorage } from '../storage.ts'
import { byteOf } from './log-bytes.ts'

/** The ends of the logs, by the keys of the documents. */
export type Ends = readonly (readonly [key: number, lastSeq: number])[]

const [url = '', documents = ''] = process.argv.slice(2)
const storage = await openStorage({ url, commitDelayMs: 1, log: silentLogger, thread: STORAGE_THREAD })
// Stores the compiled code now: a killed process would not store it, and the next process would have to compile again.
flushCompileCache()
const ends = new Map<number, number>()
for (let i = 0; i < Number(documents); i++) {
  const ref = { workspaceId: 'w', id: `doc-${i}` }
  const state = await storage.documents.state(ref)
  const head = state.kind === 'document' ? state.head : written(await storage.documents.write(creation(ref)))
  ends.set(head.key, head.lastSeq)
}
for (;;) {
  const records = [...ends].flatMap(([key, lastSeq]) =>
    [0, 1, 2, 3].map((i) => ({
      key,
      afterSeq: lastSeq + i,
      actor: 'ada',
      atMs: 1,
      update: update(byteOf(key, lastSeq + i + 1)),
    })),
  )
  for (const outcome of await storage.updates.append(records)) if (outcome.kind !== 'appended') throw new Error(outcome.kind)
  for (const [key, lastSeq] of ends) ends.set(key, lastSeq + 4)
  process.send?.([...ends] satisfies Ends)
}
