import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import type { RunNotes } from './test-report.ts'

/**
 * Writes what the JSON reporter omits into the file named by DOCRELAY_RUN_NOTES: the reasons of `context.skip('why')`, differences, the processor
 * time of each file, and errors outside tests.
 */
export default class NotesReporter implements Reporter {
  readonly #skips: Record<string, string> = {}
  readonly #diffs: Record<string, string> = {}
  readonly #processorSeconds: Record<string, number> = {}

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    const name = test.fullName.replaceAll(' > ', ' ')
    if (result.state === 'skipped' && result.note !== undefined) this.#skips[name] = result.note
    if (result.state === 'failed') this.#diffs[name] = result.errors.flatMap((error) => error.diff ?? []).join('\n')
  }

  onTestModuleEnd(file: TestModule): void {
    const { processorSeconds } = file.meta()
    if (processorSeconds !== undefined) this.#processorSeconds[file.moduleId] = processorSeconds
  }

  onTestRunEnd(_modules: unknown, unhandled: readonly { readonly message: string; readonly stack?: string }[]): void {
    const file = process.env['DOCRELAY_RUN_NOTES']
    const notes: RunNotes = {
      skips: this.#skips,
      diffs: this.#diffs,
      processorSeconds: this.#processorSeconds,
      unhandled: unhandled.map((error) => error.stack ?? error.message),
    }
    if (file !== undefined) writeFileSync(file, JSON.stringify(notes))
  }
}
