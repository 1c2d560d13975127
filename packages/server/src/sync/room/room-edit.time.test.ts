import { threadTime } from '@docrelay/model/testing/thread-time'
import { expect, it } from 'vitest'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { createDocument, openTestStorage, TestWorker } from '../testing/worker-harness.ts'
import { patience } from '../../kernel/testing/patience.ts'

const EDITS = 60
const WARM_UP = 20

function prose(blocks: number, page: number): string {
  return Array.from({ length: blocks }, (_, i) => `<p id="blk-${page}-${i}">${'lorem ipsum dolor '.repeat(10)} ${i}</p>`).join('')
}

/** Returns the median processor time, in ms, of a set_prose on one block of a live document. */
async function medianMs(pages: number, blocksPerPage: number): Promise<number> {
  await using storage = await openTestStorage({ thread: true })
  await using worker = new TestWorker(storage, { rooms: { saveIdleMs: 600_000, saveLatestMs: 600_000 } })
  const richTextPages = Array.from({ length: pages }, (_, p) => ({
    id: `p${p}`,
    name: `P${p}`,
    order: p,
    content: prose(blocksPerPage, p),
  }))
  const head = await createDocument(storage.documents, { pages: [], richTextPages })
  const room = await worker.open(head)
  const times: number[] = []
  for (let i = 0; i < EDITS; i++) {
    const request = editRequest(head, 'set_prose', { pageId: 'p0', id: 'blk-0-7', content: `<p>edit ${i}</p>`, format: 'html' })
    const took = threadTime()
    done(await editIn(worker, room, request))
    times.push(took())
  }
  return times.slice(WARM_UP).sort((a, b) => a - b)[(EDITS - WARM_UP) / 2] as number
}

it('[CONC-13] the time of an edit of one block depends on the change and not on the size of the document', {
  timeout: patience(60_000),
}, async () => {
  const [one, many, long] = [await medianMs(1, 25), await medianMs(200, 25), await medianMs(1, 5_000)]
  const told = [`1 page: ${one.toFixed(1)} ms`, `200 pages: ${many.toFixed(1)} ms`, `one page of 1 MB: ${long.toFixed(1)} ms`]
  process.stdout.write(`set_prose on one block. ${told.join(', ')}, ratio of 200 pages to 1: ${(many / one).toFixed(2)}\n`)
  expect(many / one).toBeLessThan(3)
  // The edit takes 50 ms on an otherwise idle machine.
  expect(long).toBeLessThan(200)
})
