// `npm start`: runs a real issuer, the relay on its embedded store, and a sample workspace, until Ctrl-C. The state is kept in .dev/
// between runs. DOCRELAY_DEV_DIR chooses another folder, and the variables in `portsOf` choose other ports.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import './end-with-parent.mjs'
import { startDevIssuer } from '../packages/dev-issuer/src/dev-issuer.ts'
import type { CollectionInput } from '../packages/protocol/src/rest.ts'
import { makeFolder } from '../packages/server/src/kernel/folders.ts'
import { RelayError } from '../packages/client/src/errors.ts'
import { RelayClient } from '../packages/client/src/rest/relay-client.ts'
import { portOf, takenPorts, type WantedPort } from './free-ports.ts'
import { type Listeners, listenersOf } from './start-listeners.ts'
import { endedText, shownPath, startText } from './start-text.ts'

const ROOT = join(import.meta.dirname, '..')
const STATE = resolve(process.env['DOCRELAY_DEV_DIR'] ?? join(ROOT, '.dev'))
const SHOWN_STATE = shownPath(ROOT, STATE)
/** The token that opens the MCP endpoint from this host. */
const MCP_TOKEN_FILE = join(STATE, 'data', 'mcp_token')
/** A configuration for MCP clients that read one from a file. */
const MCP_CLIENT_FILE = join(STATE, 'mcp.json')
const TOKENS = join(STATE, 'tokens')
const WORKSPACE = 'default'
const AUDIENCE = 'service-relay'
/** About 15 s. */
const SLOW_TRIES = 150
const PEOPLE = [
  { id: 'ann', role: 'owner' },
  { id: 'ben', role: 'member' },
  { id: 'cleo', role: 'viewer' },
] as const

interface Ports {
  readonly issuer: WantedPort
  readonly relay: WantedPort
  readonly mcp: WantedPort
  readonly metrics: WantedPort
}

function portsOf(env: NodeJS.ProcessEnv): Ports {
  return {
    issuer: portOf(env, 'DOCRELAY_DEV_ISSUER_PORT', 9880),
    relay: portOf(env, 'RELAY_PORT', 9876),
    mcp: portOf(env, 'RELAY_MCP_PORT', 9877),
    metrics: portOf(env, 'RELAY_METRICS_PORT', 9878),
  }
}

/** The ports on which something will listen. */
function listening(ports: Ports, { mcp, metricsAreLocal, metricsPort }: Listeners): readonly WantedPort[] {
  const metrics = { ...ports.metrics, port: metricsPort }
  return [ports.issuer, ports.relay, ...(mcp === 'local' ? [ports.mcp] : []), ...(metricsAreLocal ? [metrics] : [])]
}

async function main(): Promise<void> {
  const ports = portsOf(process.env)
  makeFolder(STATE, 0o777)
  const config = await configFile()
  const listeners = listenersOf(config, process.env)
  const mcpIsPublic = listeners.mcp === 'public'
  const mcpIsOff = listeners.mcp === 'off'
  // Checked before anything is started: another relay on these ports would answer instead of this one.
  const taken = await takenPorts(listening(ports, listeners))
  if (taken.length > 0) throw new Error(taken.join('\n'))
  // The resource for which MCP clients request a token from the issuer.
  const mcpUrl = `http://127.0.0.1:${mcpIsPublic ? ports.relay.port : ports.mcp.port}/mcp`
  const issuer = await startDevIssuer({
    port: ports.issuer.port,
    dataDir: join(STATE, 'issuer'),
    audience: AUDIENCE,
    resource: mcpUrl,
    people: PEOPLE.map((person) => ({ id: person.id, wsp: [{ id: WORKSPACE, role: person.role, region: '' }] })),
  })
  const relay = startRelay(ports, config, await shareOfAgents(config), issuer, mcpUrl)
  const ended = new Promise<RelayEnd>((resolve) => relay.once('exit', (code, signal) => resolve({ code, signal })))
  stopTogether(relay, ended, () => issuer.close())

  const baseUrl = `http://127.0.0.1:${ports.relay.port}`
  await ready(baseUrl, relay)
  const tokens = Object.fromEntries(
    await Promise.all(PEOPLE.map(async (person) => [person.id, await issuer.mint(person.id, { lifetimeSec: 30 * 86_400 })])),
  ) as Record<(typeof PEOPLE)[number]['id'], string>
  const owner = new RelayClient({ baseUrl, token: () => tokens.ann })
  await createSamples(owner)
  await createCollections(owner)
  await writeTokens(tokens)
  await writeForOwner(join(STATE, 'session.json'), { baseUrl, mcpUrl: mcpIsOff ? null : mcpUrl, tokens })
  await writeClientFile(listeners, mcpUrl, tokens.ann)
  const text = startText({
    baseUrl,
    mcpUrl: mcpIsOff ? null : mcpUrl,
    issuerUrl: issuer.url,
    state: SHOWN_STATE,
    stateVariable: process.env['DOCRELAY_DEV_DIR'] === undefined ? null : STATE,
    mcpTokenFile: shownPath(ROOT, mcpIsPublic ? join(TOKENS, 'ann') : MCP_TOKEN_FILE),
    people: PEOPLE,
  })
  console.log(text)
}

function startRelay(
  ports: Ports,
  config: string,
  share: Readonly<Record<string, string>>,
  issuer: { readonly url: string; readonly jwksUrl: string },
  mcpUrl: string,
): ChildProcess {
  const endsWithThis = join(import.meta.dirname, 'end-with-parent.mjs')
  const args = ['--import', endsWithThis, 'packages/server/src/main.ts', 'serve', '--config', config]
  return spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      RELAY_HOST: process.env['RELAY_HOST'] ?? '127.0.0.1',
      RELAY_PORT: String(ports.relay.port),
      RELAY_MCP_PORT: String(ports.mcp.port),
      RELAY_DATA_DIR: join(STATE, 'data'),
      RELAY_JWT_ISSUER: issuer.url,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
      RELAY_JWT_AUDIENCE: AUDIENCE,
      RELAY_JWT_RESOURCE: mcpUrl,
      RELAY_REVOCATION_BEARER: process.env['RELAY_REVOCATION_BEARER'] ?? 'dev-revocation-secret',
      RELAY_LOG_LEVEL: process.env['RELAY_LOG_LEVEL'] ?? 'warn',
      ...share,
    },
  })
}

/** Agents that come with the static token write documents that the three people can open, unless the file says otherwise. [AG-89] */
async function shareOfAgents(config: string): Promise<Readonly<Record<string, string>>> {
  if ((await readFile(config, 'utf8')).includes('static_token_share')) return {}
  return { RELAY_MCP_STATIC_TOKEN_SHARE: process.env['RELAY_MCP_STATIC_TOKEN_SHARE'] ?? 'edit' }
}

/** Uses the repository's `relay.toml` when there is one, else a file in the state folder, which is created without keys. */
async function configFile(): Promise<string> {
  const own = join(ROOT, 'relay.toml')
  if (existsSync(own)) return own
  const file = join(STATE, 'relay.toml')
  const text = '# Keys of the relay that `npm start` runs; docs/reference/config.md lists them.\n'
  if (!existsSync(file)) await writeFile(file, text, { mode: 0o600 })
  return file
}

async function writeTokens(tokens: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(TOKENS, { recursive: true, mode: 0o700 })
  for (const [id, token] of Object.entries(tokens)) await writeFile(join(TOKENS, id), `${token}\n`, { mode: 0o600 })
}

function writeForOwner(file: string, value: object): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
}

async function writeClientFile({ mcp }: Listeners, mcpUrl: string, ownerToken: string): Promise<void> {
  if (mcp === 'off') return rm(MCP_CLIENT_FILE, { force: true })
  const token = mcp === 'public' ? ownerToken : (await readFile(MCP_TOKEN_FILE, 'utf8')).trim()
  const server = { type: 'http', url: mcpUrl, headers: { Authorization: `Bearer ${token}` } }
  await writeForOwner(MCP_CLIENT_FILE, { mcpServers: { docrelay: server } })
}

interface RelayEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Ctrl-C reaches the relay directly. A signal to this process alone, or the end of its parent, does not, so those are passed on. */
function stopTogether(relay: ChildProcess, ended: Promise<RelayEnd>, closeIssuer: () => Promise<void>): void {
  let stopping = false
  const stop = (): void => {
    if (!stopping) console.log('\nStopping: the relay stores what is open …')
    stopping = true
    relay.kill('SIGTERM')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  void ended.then(async ({ code, signal }) => {
    await closeIssuer()
    if (stopping) console.log(`Stopped. ${SHOWN_STATE} keeps the documents and the tokens; \`npm start\` goes on with them.`)
    else console.error(endedText(code, signal))
    process.exit(code ?? 1)
  })
}

/** Waits as long as the relay runs: a slow machine may take minutes, and a relay that cannot start ends. */
async function ready(baseUrl: string, relay: ChildProcess): Promise<void> {
  for (let tries = 0; relay.exitCode === null && relay.signalCode === null; tries++) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
    if (answer?.ok) return
    if (tries === SLOW_TRIES) console.error(`The relay is not ready yet at ${baseUrl}; Ctrl-C ends it.`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`the relay did not become ready at ${baseUrl}; its log above says why`)
}

/** Creates missing samples. A sample that was edited or deleted before stays as it is. */
async function createSamples(client: RelayClient): Promise<void> {
  const folder = join(ROOT, 'examples', 'workspace')
  for (const file of (await readdir(folder)).sort()) {
    const body = JSON.parse(await readFile(join(folder, file), 'utf8')) as { id: string }
    await client.putDocument(body.id, body, { expectedVersion: 0 }).catch((error: unknown) => {
      const expected = error instanceof RelayError && (error.code === 'VERSION_CONFLICT' || error.code === 'TOMBSTONED')
      if (!expected) throw error
    })
  }
}

/** Groups the samples; does nothing when the workspace already has collections. */
async function createCollections(client: RelayClient): Promise<void> {
  const file = join(ROOT, 'examples', 'collections.json')
  const { collections, members } = JSON.parse(await readFile(file, 'utf8')) as {
    collections: CollectionInput[]
    members: Record<string, string>
  }
  try {
    await client.putCollections(collections, 0)
  } catch (error) {
    if (error instanceof RelayError && error.code === 'VERSION_CONFLICT') return
    throw error
  }
  for (const [docId, collectionId] of Object.entries(members)) await client.setCollection(docId, collectionId)
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
