import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { DocumentHead, DocumentRecord } from '../../documents/document-store.port.ts'
import { openStorage } from '../../drivers/sql/storage.ts'
import { temporaryStore } from '../../drivers/sql/testing/store-under-test.ts'
import { silentLogger } from '../../kernel/log.ts'
import type { Acknowledged } from '../testing/edit-writer.ts'
import { createDocument, TestWorker } from '../testing/worker-harness.ts'

const WRITER = fileURLToPath(new URL('../testing/edit-writer.ts', import.meta.url))
const PAGES = [{ id: 'p1', name: 'Prose', order: 0, content: '<p id="blk-1">start</p>' }]

const open = (url: string) => openStorage({ url, commitDelayMs: 0, log: silentLogger })

/** Runs the writer process and kills it without warning some time after its first edit. Returns what the process was told is durable. */
async function editUntilKilled(url: string, id: string, afterMs: number): Promise<Acknowledged> {
  const child = fork(WRITER, [url, id], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const acknowledged: Acknowledged[] = []
  child.on('message', (message: Acknowledged) => acknowledged.push(message))
  const ended = once(child, 'exit')
  await Promise.race([once(child, 'message'), ended])
  await sleep(afterMs)
  child.kill('SIGKILL')
  expect((await ended)[1]).toBe('SIGKILL')
  return acknowledged.at(-1) as Acknowledged
}

/** What a new process finds: the stored version, whether its body is stored, and what the document contains. */
async function afterRestart(url: string, document: DocumentHead) {
  await using storage = await open(url)
  const found = (await storage.documents.read(document)) as DocumentRecord
  await using worker = new TestWorker(storage)
  const settled = await worker.job(await worker.open(document), { kind: 'settle' })
  const body = new TextDecoder().decode((await storage.documents.read(document))?.body)
  return { found: found.head, settled, body }
}

it('[LIFE-2] [LIFE-12] [CONC-4] after kill -9 following an acknowledged edit, before its body was stored, version and content of the edit are there', {
  timeout: 60_000,
}, async () => {
  const { url, remove } = temporaryStore()
  let document: DocumentHead
  {
    await using storage = await open(url)
    document = await createDocument(storage.documents, { pages: [], richTextPages: PAGES })
  }
  for (let round = 0; round < 3; round++) {
    const last = await editUntilKilled(url, document.id, 40 + round * 30)
    const { found, settled, body } = await afterRestart(url, document)
    expect(found.coveredSeq).toBeLessThan(found.lastSeq)
    // One more edit may have become durable without having been reported.
    expect([last.version, last.version + 1]).toContain(found.version)
    expect(settled).toMatchObject({ kind: 'settled', version: found.version })
    const turn = Number(last.text.slice('turn '.length)) + found.version - last.version
    expect(body).toContain(`>turn ${turn}</p>`)
  }
  remove()
})
