import { randomUUID } from 'node:crypto'
import { patience } from '../../kernel/testing/patience.ts'
import { endWithProcess } from '../end-with-process.ts'
import { inWorkspace } from '../in-workspace.ts'
import type { RelayUnderTest } from '../relay-under-test.ts'
import { FEW_LIMITS } from '../shared-relay.ts'
import { metric } from '../wire-client.ts'
import { type NodesUnderTest, startNodesUnderTest } from './nodes-under-test.ts'

/** Two nodes with few limits for the tests of a file. Tests may end, pause and restart them, and must leave both running. */
export interface SharedNodes extends AsyncDisposable {
  /** The relays. Their tokens are for `workspace` unless the claims name another. */
  readonly relays: readonly [RelayUnderTest, RelayUnderTest]
  /** The workspace of this file. */
  readonly workspace: string
}

let running: NodesUnderTest | null = null

/**
 * Returns the nodes that the test files of one process share, since starting two takes longer than most of the tests. Disposing ends the clients
 * of the file; the nodes end with the process. Returns a string with the reason when this machine lacks a server that they need.
 */
export async function sharedNodes(): Promise<SharedNodes | string> {
  const nodes = await runningNodes()
  if (typeof nodes === 'string') return nodes
  const workspace = `nodes-${randomUUID()}`
  const clients: (() => void)[] = []
  const [a, b] = nodes.relays.map((relay) => inWorkspace(relay, workspace, clients))
  return {
    relays: [a, b] as [RelayUnderTest, RelayUnderTest],
    workspace,
    async [Symbol.asyncDispose]() {
      for (const end of clients) end()
    },
  }
}

async function runningNodes(): Promise<NodesUnderTest | string> {
  if (running !== null && (await areWell(running.relays))) return running
  if (running === null) endWithProcess({ [Symbol.asyncDispose]: async () => running?.[Symbol.asyncDispose]() })
  else await running[Symbol.asyncDispose]()
  running = null
  const started = await startNodesUnderTest({ count: 2, mcp: 'public', env: FEW_LIMITS })
  if (typeof started === 'string') return started
  running = started
  return running
}

/** Whether both nodes run and are linked. Nodes that a failed file has ended, paused or separated are not reused. */
async function areWell(relays: readonly RelayUnderTest[]): Promise<boolean> {
  const looks = relays.map(async (relay) => {
    const { status } = await fetch(`${relay.baseUrl}/readyz`, { signal: AbortSignal.timeout(patience(2_000)) })
    return status === 200 && (await metric(relay, 'relay_links')) === relays.length - 1
  })
  return (await Promise.all(looks).catch(() => [false])).every(Boolean)
}
