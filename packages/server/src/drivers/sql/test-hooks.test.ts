import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { openDatabase } from './database.ts'
import { testHooks } from './test-hooks.ts'
import { temporaryStore } from './testing/store-under-test.ts'

const WEAK = {
  RELAY_TEST_SYNCHRONOUS: 'NORMAL',
  RELAY_TEST_ACK_BEFORE_COMMIT: '1',
  RELAY_TEST_COMMIT_HOLD_MS: '9',
  RELAY_TEST_ANSWER_HOLD_MS: '8',
}
const STRONG = { synchronous: 'FULL', ackBeforeCommit: false, commitHoldMs: 0, answerHoldMs: 0 }

it('[LIFE-1] durability is weakened only when the environment allows test hooks and names one', () => {
  expect(testHooks({})).toEqual(STRONG)
  expect(testHooks(WEAK)).toEqual(STRONG)
  expect(testHooks({ ...WEAK, RELAY_TEST_HOOKS: 'true' })).toEqual(STRONG)
  expect(testHooks({ RELAY_TEST_HOOKS: '1' })).toEqual(STRONG)
  expect(testHooks({ ...WEAK, RELAY_TEST_HOOKS: '1' })).toEqual({
    synchronous: 'NORMAL',
    ackBeforeCommit: true,
    commitHoldMs: 9,
    answerHoldMs: 8,
  })
})

it('[LIFE-1] commits are delayed while the named file exists, and only with test hooks', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'docrelay-hooks-')), 'hold')
  const held = testHooks({ RELAY_TEST_HOOKS: '1', RELAY_TEST_COMMIT_HOLD_FILE: file }).isCommitHeld
  expect(testHooks({ RELAY_TEST_COMMIT_HOLD_FILE: file })).toEqual(STRONG)
  expect(held?.()).toBe(false)
  writeFileSync(file, '')
  expect(held?.()).toBe(true)
  rmSync(dirname(file), { recursive: true })
  expect(held?.()).toBe(false)
})

it('[LIFE-26] appends leave out the epoch only when the environment allows test hooks', () => {
  const wanted = { RELAY_TEST_APPEND_WITHOUT_EPOCH: '1' }
  expect(testHooks(wanted)).toEqual(STRONG)
  expect(testHooks({ ...wanted, RELAY_TEST_HOOKS: '1' })).toEqual({ ...STRONG, appendWithoutEpoch: true })
})

it('[LIFE-1] a SQLite store is opened with a write-ahead log that is flushed at every commit', async () => {
  const store = temporaryStore()
  const database = await openDatabase(store.url, testHooks({}), silentLogger)
  const pragma = async (name: string) =>
    Object.values((await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(database.writer)).rows[0] ?? {})
  const FULL = 2
  expect([await pragma('synchronous'), await pragma('journal_mode'), await pragma('foreign_keys')]).toEqual([
    [FULL],
    ['wal'],
    [1],
  ])
  await database.close()
  store.remove()
})
