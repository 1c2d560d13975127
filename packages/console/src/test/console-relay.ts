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
  /** What the relay tells pages about signing in. */
  readonly signIn: Pick<ConsoleConfig, 'issuer' | 'clientId' | 'scope'>
}

/** As tokens name them. */
export type WorkspaceLimits = Pick<WorkspaceMembership, 'quota_bytes'>

interface ConsoleRelayOptions {
  /** The built console. */
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  readonly people: readonly Person[]
}

const RESOURCE = 'http://127.0.0.1/mcp'
const CLIENT = { clientId: 'console', scope: 'openid docs' }

/** Starts a relay that serves the console, and agents, for people of an issuer of its own. */
export async function startConsoleRelay({ folder, env, people }: ConsoleRelayOptions): Promise<ConsoleRelay> {
  await using opened = new AsyncDisposableStack()
  const dataDir = mkdtempSync(join(tmpdir(), 'docrelay-issuer-'))
  opened.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  // The issuer takes every port of an address on this machine: the origin of each page has one of its own.
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
 * The relay that the files of one process use one test after another, with ann, ben and cleo in a new workspace: starting one takes longer
 * than most tests use it. It ends with the process. `limits`: what the issuer says of the workspace.
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
