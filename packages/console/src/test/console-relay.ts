import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevIssuer, startDevIssuer } from '@docrelay/dev-issuer/dev-issuer'
import { type Person, tryOutPeople, type WorkspaceMembership } from '@docrelay/dev-issuer/people'
import { endWithProcess } from '@docrelay/server/test/end-with-process'
import { type RelayUnderTest, startRelayUnderTest } from '@docrelay/server/test/relay-under-test'
import type { ConsoleConfig } from '../session/config.ts'

export interface ConsoleRelay extends AsyncDisposable {
  readonly relay: RelayUnderTest
  readonly issuer: DevIssuer
  /** The sign-in settings that the relay gives to pages. */
  readonly signIn: Pick<ConsoleConfig, 'issuer' | 'clientId' | 'scope'>
}

/** The limits of a workspace, in the form of the token claim. */
export type WorkspaceLimits = Pick<WorkspaceMembership, 'quota_bytes'>

interface ConsoleRelayOptions {
  /** The folder of the built console. */
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  readonly people: readonly Person[]
}

const RESOURCE = 'http://127.0.0.1/mcp'
const CLIENT = { clientId: 'console', scope: 'openid docs' }

/** Starts a relay that serves the console and agents, together with an issuer for its people. */
export async function startConsoleRelay({ folder, env, people }: ConsoleRelayOptions): Promise<ConsoleRelay> {
  await using opened = new AsyncDisposableStack()
  const dataDir = mkdtempSync(join(tmpdir(), 'docrelay-issuer-'))
  opened.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  // The issuer accepts a loopback redirect address with any port, so each page may have an origin with its own port.
  const clients = [{ clientId: CLIENT.clientId, redirectUris: ['http://127.0.0.1/console/'] }]
  const issuer = opened.use(
    await startDevIssuer({ port: 0, dataDir, people, audience: 'service-relay', resource: RESOURCE, clients }),
  )
  const relay = opened.use(
    await startRelayUnderTest({
      mcp: 'local',
      env: {
        RELAY_JWT_ISSUER: issuer.url,
        RELAY_JWT_JWKS_URL: issuer.jwksUrl,
        RELAY_CONSOLE_ENABLED: 'true',
        RELAY_CONSOLE_DIR: folder,
        RELAY_CONSOLE_CLIENT_ID: CLIENT.clientId,
        RELAY_CONSOLE_SCOPE: CLIENT.scope,
        ...env,
      },
    }),
  )
  const ending = opened.move()
  return {
    relay,
    issuer,
    signIn: { ...CLIENT, issuer: issuer.url },
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  }
}

let shared: Promise<ConsoleRelay> | null = null
let workspace: Omit<WorkspaceMembership, 'role'> = { id: '' }

/**
 * Returns the relay that the test files of one process share, with ann, ben and cleo in a new workspace. Shared because a start takes longer than
 * most tests. It ends with the process. `limits`: the limits of the workspace in the issuer's tokens.
 */
export function sharedConsoleRelay(folder: string, limits: WorkspaceLimits = {}): Promise<ConsoleRelay> {
  workspace = { id: `console-${randomUUID()}`, ...limits }
  shared ??= startShared(folder)
  return shared
}

async function startShared(folder: string): Promise<ConsoleRelay> {
  const people = tryOutPeople('').map((person) => ({
    ...person,
    get wsp() {
      return person.wsp.map((membership) => ({ ...membership, ...workspace }))
    },
  }))
  const running = await startConsoleRelay({ folder, env: { RELAY_TENANCY_MODE: 'shared' }, people })
  endWithProcess(running)
  return running
}
