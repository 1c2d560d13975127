import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Holds the commits of a relay that was started with `env`: all statements of a transaction run, and its COMMIT waits until `release`. */
export interface CommitHold {
  readonly env: Readonly<Record<string, string>>
  hold(): void
  release(): void
  /** Deletes the file and its folder, which releases held commits. */
  remove(): void
}

export function commitHold(): CommitHold {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-hold-'))
  const file = join(folder, 'hold')
  return {
    env: { RELAY_TEST_HOOKS: '1', RELAY_TEST_COMMIT_HOLD_FILE: file },
    hold: () => writeFileSync(file, ''),
    release: () => rmSync(file, { force: true }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
