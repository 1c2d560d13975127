import { existsSync } from 'node:fs'
import { type CommitFaults, seededFaults } from './commit-faults.ts'

/**
 * Weakenings by which the fault tests show that they can fail; none works without `RELAY_TEST_HOOKS=1`.
 * `RELAY_TEST_SYNCHRONOUS=NORMAL`: SQLite does not flush at commit. `RELAY_TEST_ACK_BEFORE_COMMIT=1`: writes are answered before the commit.
 * `RELAY_TEST_COMMIT_HOLD_MS`: how long everything of a commit is written but not committed; it weakens nothing, only makes that time visible.
 * `RELAY_TEST_COMMIT_HOLD_FILE=<path>`: the same for as long as there is such a file, so that a test need not be quicker than a time.
 * `RELAY_TEST_ANSWER_HOLD_MS`: how long everything is committed but not answered.
 * `RELAY_TEST_COMMIT_FAULTS=<seed>:<share>`: so large a share of the commits fails, with a full disk or a lost answer.
 */
export interface TestHooks {
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly ackBeforeCommit: boolean
  readonly commitHoldMs: number
  /** Tells whether a commit has to wait. */
  readonly isCommitHeld?: () => boolean
  readonly answerHoldMs: number
  /** Lets single commits fail. */
  readonly commitFaults?: CommitFaults
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
  }
}
