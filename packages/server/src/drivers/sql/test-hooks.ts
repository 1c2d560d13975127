/**
 * Weakenings by which the fault tests show that they can fail; none works without `RELAY_TEST_HOOKS=1`.
 * `RELAY_TEST_SYNCHRONOUS=NORMAL`: SQLite does not flush at commit. `RELAY_TEST_ACK_BEFORE_COMMIT=1`: calls are answered before the commit.
 */
export interface TestHooks {
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly ackBeforeCommit: boolean
}

export function testHooks(env: Readonly<Record<string, string | undefined>>): TestHooks {
  const allowed = env.RELAY_TEST_HOOKS === '1'
  return {
    synchronous: allowed && env.RELAY_TEST_SYNCHRONOUS === 'NORMAL' ? 'NORMAL' : 'FULL',
    ackBeforeCommit: allowed && env.RELAY_TEST_ACK_BEFORE_COMMIT === '1',
  }
}
