import { afterAll, describe } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'

/** Registers tests on nodes, and disposes of the nodes afterwards. Where this machine lacks a server, the tests are skipped with the reason. */
export function onNodes<Nodes extends AsyncDisposable>(nodes: Nodes | string, register: (nodes: Nodes) => void): void {
  if (typeof nodes === 'string') {
    process.stderr.write(`skipped: ${nodes}\n`)
    describe.skip(`several nodes (${nodes})`, () => undefined)
    return
  }
  afterAll(() => nodes[Symbol.asyncDispose](), patience(20_000))
  register(nodes)
}
