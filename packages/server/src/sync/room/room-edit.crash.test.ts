import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { DocumentHead, DocumentRecord } from '../../documents/document-store.port.ts'
import { openStorage } from '../../drivers/sql/storage.ts'
import { temporaryStore } from '../../drivers/sql/testing/store-under-test.ts'
import { silentLogger } from '../../kernel/log.ts'
import type { Acknowledged } from '../testing/edit-writer.ts'
import { createDocument, TestWorker } from '../testing/worker-harness.ts'
import { patience } from '../../kernel/testing/patience.ts'

const WRITER = fileURLToPath(new URL('../testing/edit-writer.ts', import.meta.url))
const PAGES = [{ id: 'p1', name: 'Prose', order: 0, content: '<p id="blk-1">start</p>' }]

const open = (url: string) => openStorage({ url, commitDelayMs: 0, log: silentLogger })

/** Runs the writer process and kills it after `afterEdits` edits. Returns the last edit that was acknowledged to the process. */
async function editUntilKilled(url: string, id: string, afterEdits: number): Promise<Acknowledged> {
  const child = fork(WRITER, [url, id], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const acknowledged: Acknowledged[] = []
  child.on('message', (message: Acknowledged) => {
    if (acknowledged.push(message) === afterEdits) child.kill('SIGKILL')
  })
  const ended = once(child, 'exit')
  expect((await ended)[1]).toBe('SIGKILL')
  return acknowledged.at(-1) as Acknowledged
}

/** Returns what a new process finds: the stored version, whether its body is stored, and the content of the document. */
async function afterRestart(url: string, document: DocumentHead) {
  await using storage = await open(url)
  const found = (await storage.documents.read(document)) as DocumentRecord
  await using worker = new TestWorker(storage)
  const settled = await worker.job(await worker.open(document), { kind: 'settle' })
  const body = new TextDecoder().decode((await storage.documents.read(document))?.body)
  return { found: found.head, settled, body }
}

it('[LIFE-2] [LIFE-12] [CONC-4] an acknowledged edit keeps its version and content after kill -9 before its body was stored', {
  timeout: patience(60_000),
}, async () => {
  const { url, remove } = temporaryStore()
  let document: DocumentHead
  {
    await using storage = await open(url)
    document = await createDocument(storage.documents, { pages: [], richTextPages: PAGES })
  }
  for (let round = 0; round < 3; round++) {
    const last = await editUntilKilled(url, document.id, 5 + round * 5)
    const { found, settled, body } = await afterRestart(url, document)
    expect(found.coveredSeq).toBeLessThan(found.lastSeq)
    // One more edit may have become durable before its acknowledgement left.
    expect([last.version, last.version + 1]).toContain(found.version)
    expect(settled).toMatchObject({ kind: 'settled', version: found.version })
    const turn = Number(last.text.slice('turn '.length)) + found.version - last.version
    expect(body).toContain(`>turn ${turn}</p>`)
  }
  remove()
})
