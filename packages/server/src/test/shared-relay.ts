import { randomUUID } from 'node:crypto'
import { endWithProcess } from './end-with-process.ts'
import { inWorkspace } from './in-workspace.ts'
import { type RelayUnderTest, startRelayUnderTest } from './relay-under-test.ts'

/** What a file may do with a relay that others use after it: nothing that they would notice. */
export interface SharedRelay extends Omit<RelayUnderTest, 'dataDir' | 'issuer' | 'pid' | 'kill' | 'stop' | 'restart'> {
  /** Of this file alone; tokens are for it unless their claims say otherwise. */
  readonly workspace: string
}

/** For files that are not about the limits of a workspace. */
export const FEW_LIMITS = {
  RELAY_TENANCY_MODE: 'shared',
  RELAY_WRITES_PER_SEC: '0',
  RELAY_READS_PER_SEC: '0',
  RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '500',
}

let running: RelayUnderTest | null = null

/**
 * A relay with few limits that the test files of one process use one after another, each in a workspace of its own: starting one and running
 * its code until it is compiled takes longer than the calls of many a file. For files that neither end it nor read its database.
 * Disposing of it ends the connections of the file; the relay ends with the process.
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

/** A relay that a failed file has ended or exhausted is not handed on. */
async function isReady({ baseUrl }: RelayUnderTest): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
  return answer?.status === 200
}
