/**
 * The process that the crash test kills: appends and saves continuously and reports to its parent only what was confirmed. Arguments:
 * storage URL, number of documents.
 */
import { flushCompileCache } from 'node:module'
import { creation, change, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { STORAGE_THREAD } from '../../../test/relay-program.ts'
import { storageFromPort } from '../storage-client.ts'
import { openStorage } from '../storage.ts'

export type Confirmed =
  | { readonly kind: 'appended'; readonly key: number; readonly seq: number; readonly fill: number; readonly length: number }
  | { readonly kind: 'saved'; readonly id: string; readonly version: number; readonly text: string }

export const fillOf = (key: number, seq: number) => (key * 31 + seq * 7) % 251

const [url = '', count = '4', round = '0'] = process.argv.slice(2)
const storage = await openStorage({ url, commitDelayMs: 1, log: silentLogger, thread: STORAGE_THREAD })
// Stores the compiled code now: a killed process would not store it, and the next process would have to compile again.
flushCompileCache()
const { updates } = storageFromPort(storage.workerPort())
const confirm = (confirmed: Confirmed) => process.send?.(confirmed)

async function edit(id: string): Promise<never> {
  const head = written(await storage.documents.write(creation({ workspaceId: 'crash', id })))
  for (let seq = 1; ; ) {
    const length = (seq * 97) % 3000
    const burst = Array.from({ length: 3 }, (_, i) => ({
      key: head.key,
      afterSeq: seq + i - 1,
      actor: 'ada',
      atMs: seq + i,
      update: new Uint8Array(length).fill(fillOf(head.key, seq + i)),
    }))
    for (const outcome of await updates.append(burst)) {
      if (outcome.kind !== 'appended') throw new Error(outcome.kind)
      confirm({ kind: 'appended', key: head.key, seq: outcome.seq, fill: fillOf(head.key, outcome.seq), length })
    }
    seq += burst.length
    if (seq % 2 === 0)
      await updates.compact(head.key, {
        update: new Uint8Array([seq % 251]),
        stateVector: new Uint8Array([1]),
        throughSeq: seq - 3,
      })
  }
}

async function save(id: string): Promise<never> {
  let head = written(await storage.documents.write(creation({ workspaceId: 'crash', id })))
  for (;;) {
    const text = JSON.stringify({ text: 'x'.repeat(head.version % 2000), version: head.version + 1 })
    head = written(await storage.documents.write(change(head, text)))
    confirm({ kind: 'saved', id, version: head.version, text })
  }
}

await Promise.all(
  Array.from({ length: Number(count) }, (_, i) => (i % 2 === 0 ? edit(`edited-${round}-${i}`) : save(`saved-${round}-${i}`))),
)
