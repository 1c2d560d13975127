/**
 * Measures the cost of one appended record, including the way to the storage thread and back. `node append-bench.ts [records per second]
 * [seconds] [documents] [url]` prints the processor time of the storage thread and of this one per record, and the delay from call to
 * durable.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bodyOf } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import type { UpdateLog } from '../../../sync/update-log.port.ts'
import { storageFromPort } from '../storage-client.ts'
import { openStorage } from '../storage.ts'

const rate = Number(process.argv[2] ?? 28_000)
const seconds = Number(process.argv[3] ?? 5)
const documentCount = Number(process.argv[4] ?? 100)
const directory = mkdtempSync(join(tmpdir(), 'append-bench-'))
const url = process.argv[5] ?? `sqlite:${join(directory, 'relay.db')}`
const TURN_MS = 16
const UPDATE_BYTES = 60

async function main(): Promise<void> {
  await using storage = await openStorage({ url, commitDelayMs: 4, log: silentLogger })
  const { updates } = storageFromPort(storage.workerPort())
  const keys: number[] = []
  for (let i = 0; i < documentCount; i++) {
    const outcome = await storage.documents.write({
      ref: { workspaceId: 'bench', id: `doc-${i}` },
      expect: { kind: 'absent' },
      set: { ownerId: 'u', ownerName: 'U', body: bodyOf(' '.repeat(1000)) },
      bump: true,
      nowMs: 1,
      quotaBytes: null,
      log: { kind: 'cold' },
    })
    if (outcome.kind === 'written') keys.push(outcome.head.key)
  }
  // The first second compiles the code and is not measured.
  await drive(updates, keys, 1)
  await storage.stats()
  const callerBefore = process.threadCpuUsage()
  const allBefore = process.cpuUsage()
  const { sent, elapsedMs, delays } = await drive(updates, keys, seconds)
  const caller = process.threadCpuUsage(callerBefore)
  const all = process.cpuUsage(allBefore)
  const callerMicros = caller.user + caller.system
  const otherMicros = all.user + all.system - callerMicros
  delays.sort((a, b) => a - b)
  const at = (share: number) => (delays[Math.floor(delays.length * share)] ?? 0).toFixed(2)
  const { commits } = await storage.stats()
  process.stdout.write(
    `${sent} records in ${elapsedMs.toFixed(0)} ms (${((sent / elapsedMs) * 1000).toFixed(0)}/s), ${commits} commits since start\n` +
      `storage thread and engine: ${(otherMicros / sent).toFixed(2)} us per record, ${(otherMicros / elapsedMs / 10).toFixed(1)} % of a core\n` +
      `caller: ${(callerMicros / sent).toFixed(2)} us per record\n` +
      `call to durable: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(0.9999)} ms\n`,
  )
}

/** Appends as rooms do: one call for each document and turn, with all calls of a turn together. */
async function drive(updates: UpdateLog, keys: readonly number[], forSeconds: number) {
  const perTurn = Math.round((rate * TURN_MS) / 1000)
  const update = new Uint8Array(UPDATE_BYTES).fill(7)
  const delays: number[] = []
  const pending: Promise<unknown>[] = []
  const start = performance.now()
  let sent = 0
  const ends = keys.map(() => 0)
  for (let turn = 1; turn * TURN_MS <= forSeconds * 1000; turn++) {
    for (; sent < turn * perTurn; sent++) {
      const from = performance.now()
      const document = sent % keys.length
      const afterSeq = (ends[document] as number)++
      const records = [{ key: keys[document] as number, afterSeq, actor: `user-${sent % 50}`, atMs: 1, update }]
      pending.push(updates.append(records).then(() => delays.push(performance.now() - from)))
    }
    await sleep(Math.max(0, turn * TURN_MS - (performance.now() - start)))
  }
  await Promise.all(pending)
  return { sent, elapsedMs: performance.now() - start, delays }
}

try {
  await main()
} finally {
  rmSync(directory, { recursive: true, force: true })
}
