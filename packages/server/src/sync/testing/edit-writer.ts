/**
 * The process that the crash test of edits kills. It is a document worker that edits one live document without a pause and reports each edit
 * when it is acknowledged. No body is stored by a timer. The arguments are the storage URL and the document id.
 */
import { openStorage } from '../../drivers/sql/storage.ts'
import { silentLogger } from '../../kernel/log.ts'
import { done, editIn, editRequest } from './room-editing.ts'
import { TestWorker } from './worker-harness.ts'

// This timer keeps the process alive until it is killed. The timers of the relay do not keep a process alive.
setInterval(() => {}, 60_000)

export interface Acknowledged {
  readonly version: number
  readonly text: string
}

const [url = '', id = ''] = process.argv.slice(2)
const storage = await openStorage({ url, commitDelayMs: 1, log: silentLogger })
const state = await storage.documents.state({ workspaceId: 'ws', id })
if (state.kind !== 'document') throw new Error('there is no document to edit')
const worker = new TestWorker(storage, { rooms: { saveIdleMs: 600_000, saveLatestMs: 600_000 } })
const room = await worker.open(state.head)
for (let turn = 1; ; turn++) {
  const text = `turn ${turn}`
  const request = editRequest(state.head, 'set_prose', { pageId: 'p1', content: `<p id="blk-1">${text}</p>`, format: 'html' })
  const { head } = done(await editIn(worker, room, request))
  process.send?.({ version: head.version, text } satisfies Acknowledged)
}
