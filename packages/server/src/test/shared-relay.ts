import { randomUUID } from 'node:crypto'
import { endWithProcess } from './end-with-process.ts'
import { inWorkspace } from './in-workspace.ts'
import { type RelayUnderTest, startRelayUnderTest } from './relay-under-test.ts'

/** A relay that later files use too. A file may do nothing with it that those would notice. */
export interface SharedRelay extends Omit<RelayUnderTest, 'dataDir' | 'issuer' | 'pid' | 'kill' | 'stop' | 'restart'> {
  /** The workspace of this file; tokens are for it unless their claims name another. */
  readonly workspace: string
}

/** Settings for tests that are not about the limits of a workspace. */
export const FEW_LIMITS = {
  RELAY_TENANCY_MODE: 'shared',
  RELAY_WRITES_PER_SEC: '0',
  RELAY_READS_PER_SEC: '0',
  RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '500',
}

let running: RelayUnderTest | null = null

/**
 * Returns the relay with few limits that the test files of one process share, each in a workspace of its own. A start and the compilation of its
 * code take longer than the calls of many a file. For files that neither end the relay nor read its database. Disposing ends the connections of
 * the file; the relay ends with the process.
 */
export async function sharedRelay(): Promise<SharedRelay> {
  const relay = await runningRelay()
  const workspace = `shared-${randomUUID()}`
  const logStart = relay.logLines.length
  const clients: (() => void)[] = []
  const { token, fetch, rest, sync } = inWorkspace(relay, workspace, clients)
  return {
    workspace,
    baseUrl: relay.baseUrl,
    wsUrl: relay.wsUrl,
    mcpUrl: relay.mcpUrl,
    get logLines() {
      return relay.logLines.slice(logStart)
    },
    token,
    fetch,
    rest,
    sync,
    async [Symbol.asyncDispose]() {
      for (const end of clients) end()
    },
  }
}

async function runningRelay(): Promise<RelayUnderTest> {
  if (running !== null && (await isReady(running))) return running
  if (running === null) endWithProcess({ [Symbol.asyncDispose]: async () => running?.[Symbol.asyncDispose]() })
  else await running[Symbol.asyncDispose]()
  running = await startRelayUnderTest({ mcp: 'local', env: FEW_LIMITS })
  return running
}

/** Whether the relay answers. A relay that a failed file has ended or exhausted is not reused. */
async function isReady({ baseUrl }: RelayUnderTest): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
  return answer?.status === 200
}
