/**
 * Weakenings by which the fault tests show that they can fail; none works without `RELAY_TEST_HOOKS=1`.
 * `RELAY_TEST_SYNCHRONOUS=NORMAL`: SQLite does not flush at commit. `RELAY_TEST_ACK_BEFORE_COMMIT=1`: writes are answered before the commit.
 * `RELAY_TEST_COMMIT_HOLD_MS`: how long everything of a commit is written but not committed; it weakens nothing, only makes that time visible.
 * `RELAY_TEST_ANSWER_HOLD_MS`: the same for what is committed and not answered.
 */
export interface TestHooks {
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly ackBeforeCommit: boolean
  readonly commitHoldMs: number
  readonly answerHoldMs: number
}

export function testHooks(env: Readonly<Record<string, string | undefined>>): TestHooks {
  const allowed = env.RELAY_TEST_HOOKS === '1'
  return {
    synchronous: allowed && env.RELAY_TEST_SYNCHRONOUS === 'NORMAL' ? 'NORMAL' : 'FULL',
    ackBeforeCommit: allowed && env.RELAY_TEST_ACK_BEFORE_COMMIT === '1',
    commitHoldMs: allowed ? Number(env.RELAY_TEST_COMMIT_HOLD_MS ?? 0) : 0,
    answerHoldMs: allowed ? Number(env.RELAY_TEST_ANSWER_HOLD_MS ?? 0) : 0,
  }
}
