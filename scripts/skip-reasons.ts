import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase } from 'vitest/node'

/** Keeps the notes of `context.skip('why')`, which the JSON reporter drops, in the file that DOCRELAY_SKIP_REASONS names. */
export default class SkipReasons implements Reporter {
  readonly #reasons: Record<string, string> = {}

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === 'skipped' && result.note !== undefined) this.#reasons[test.fullName.replaceAll(' > ', ' ')] = result.note
  }

  onTestRunEnd(): void {
    const file = process.env['DOCRELAY_SKIP_REASONS']
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#reasons))
  }
}
