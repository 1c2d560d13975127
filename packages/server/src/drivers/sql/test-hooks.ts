import { existsSync } from 'node:fs'
import { type CommitFaults, seededFaults } from './commit-faults.ts'

/**
 * Switches that weaken durability or hold commits, so that the fault tests can be shown to fail. They only work with `RELAY_TEST_HOOKS=1`.
 * - `RELAY_TEST_SYNCHRONOUS=NORMAL`: SQLite does not flush at commit.
 * - `RELAY_TEST_ACK_BEFORE_COMMIT=1`: writes are answered before the commit.
 * - `RELAY_TEST_COMMIT_HOLD_MS`: how long a commit is kept written but not committed. This weakens nothing and only lengthens that moment.
 * - `RELAY_TEST_COMMIT_HOLD_FILE=<path>`: the same for as long as the file exists, so that a test need not be faster than a timer.
 * - `RELAY_TEST_ANSWER_HOLD_MS`: how long a commit is kept committed but not answered.
 * - `RELAY_TEST_COMMIT_FAULTS=<seed>:<share>`: this share of the commits fails, with a full disk or a lost answer.
 * - `RELAY_TEST_APPEND_WITHOUT_EPOCH=1`: appends do not compare which node owns the document. [LIFE-26]
 */
export interface TestHooks {
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly ackBeforeCommit: boolean
  readonly commitHoldMs: number
  /** Whether a commit must wait. */
  readonly isCommitHeld?: () => boolean
  readonly answerHoldMs: number
  /** Makes chosen commits fail. */
  readonly commitFaults?: CommitFaults
  /** Makes appends ignore the epoch. */
  readonly appendWithoutEpoch?: true
}

export function testHooks(env: Readonly<Record<string, string | undefined>>): TestHooks {
  const allowed = env.RELAY_TEST_HOOKS === '1'
  const holdFile = allowed ? env.RELAY_TEST_COMMIT_HOLD_FILE : undefined
  return {
    synchronous: allowed && env.RELAY_TEST_SYNCHRONOUS === 'NORMAL' ? 'NORMAL' : 'FULL',
    ackBeforeCommit: allowed && env.RELAY_TEST_ACK_BEFORE_COMMIT === '1',
    commitHoldMs: allowed ? Number(env.RELAY_TEST_COMMIT_HOLD_MS ?? 0) : 0,
    answerHoldMs: allowed ? Number(env.RELAY_TEST_ANSWER_HOLD_MS ?? 0) : 0,
    ...(holdFile === undefined ? {} : { isCommitHeld: () => existsSync(holdFile) }),
    ...(allowed && env.RELAY_TEST_COMMIT_FAULTS ? { commitFaults: seededFaults(env.RELAY_TEST_COMMIT_FAULTS) } : {}),
    ...(allowed && env.RELAY_TEST_APPEND_WITHOUT_EPOCH === '1' ? { appendWithoutEpoch: true } : {}),
  }
}
