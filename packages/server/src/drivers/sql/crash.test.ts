import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../documents/testing/document-writes.ts'
import type { StorageHost } from './storage-host.ts'
import type { Confirmed } from './testing/crash-writer.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

const WRITER = fileURLToPath(new URL('./testing/crash-writer.ts', import.meta.url))

/** Runs the writer process and kills it `afterMs` after its first confirmation. Returns all writes that it had confirmed. */
async function writeUntilKilled(url: string, round: number, afterMs: number, env: Record<string, string>): Promise<Confirmed[]> {
  const child = fork(WRITER, [url, '4', String(round)], {
    env: { ...process.env, ...env },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const confirmed: Confirmed[] = []
  child.on('message', (message: Confirmed) => confirmed.push(message))
  const ended = once(child, 'exit')
  await Promise.race([once(child, 'message'), ended])
  await sleep(afterMs)
  child.kill('SIGKILL')
  expect((await ended)[1]).toBe('SIGKILL')
  return confirmed
}

/** Returns the confirmed writes that are now missing or different. */
async function missing(host: StorageHost, confirmed: readonly Confirmed[]): Promise<Confirmed[]> {
  const lost: Confirmed[] = []
  const logs = new Map<number, Awaited<ReturnType<StorageHost['updates']['load']>>>()
  for (const item of confirmed) {
    if (item.kind === 'saved') {
      const record = await host.documents.read({ workspaceId: 'crash', id: item.id })
      const version = record?.head.version ?? 0
      if (version < item.version || (version === item.version && textOf(record?.body) !== item.text)) lost.push(item)
      continue
    }
    const log = logs.get(item.key) ?? (await host.updates.load(item.key))
    logs.set(item.key, log)
    if (log.kind !== 'loaded') {
      lost.push(item)
      continue
    }
    if (item.seq <= (log.snapshot?.throughSeq ?? 0)) continue
    const record = log.records.find(({ seq }) => seq === item.seq)
    const same = record?.update.byteLength === item.length && record.update.every((byte) => byte === item.fill)
    if (!same) lost.push(item)
  }
  return lost
}

async function killRounds(rounds: number, env: Record<string, string>): Promise<{ confirmed: number; lost: number }> {
  const { url, remove } = temporaryStore()
  const total = { confirmed: 0, lost: 0 }
  try {
    for (let round = 0; round < rounds; round++) {
      const confirmed = await writeUntilKilled(url, round, (round * 37) % 120, env)
      const host = await openHost(url)
      total.confirmed += confirmed.length
      total.lost += (await missing(host, confirmed)).length
      await host[Symbol.asyncDispose]()
    }
    return total
  } finally {
    remove()
  }
}

describe('kill -9 while edits are appended and bodies saved', () => {
  it('[LIFE-3] [LIFE-7] after each of ten kills, some during compaction, every confirmed write is stored', {
    timeout: patience(60_000),
  }, async () => {
    const { confirmed, lost } = await killRounds(10, {})
    expect(confirmed).toBeGreaterThan(100)
    expect(lost).toBe(0)
  })

  it('[LIFE-2] a store that confirms before its commit loses confirmed writes in the kill test', {
    timeout: patience(60_000),
  }, async () => {
    const sabotage = { RELAY_TEST_HOOKS: '1', RELAY_TEST_ACK_BEFORE_COMMIT: '1', RELAY_TEST_COMMIT_HOLD_MS: '10' }
    // It is up to chance whether a kill comes between an answer and its commit.
    let lost = 0
    for (let tries = 0; lost === 0 && tries < 5; tries++) lost += (await killRounds(4, sabotage)).lost
    expect(lost).toBeGreaterThan(0)
  })
})
