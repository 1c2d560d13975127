import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { type DevIssuer, startDevIssuer } from '@docrelay/dev-issuer/dev-issuer'
import { makeFolder } from '@docrelay/server/kernel/folders'
import { type ScriptedAgent, startScriptedAgent } from '../agent/scripted-agent.ts'
import { portOf, takenPorts, type WantedPort } from './free-ports.ts'
import { type Listeners, listenersOf } from './listeners.ts'
import { openBrowser } from './open-browser.ts'
import { type Ports, type RelayProcess, startRelayProcess } from './relay-process.ts'
import { relayEnvironment } from './relay-settings.ts'
import { createSamples, FIRST_DOCUMENT } from './samples.ts'
import { endedText, shownPath, startText } from './start-text.ts'

/** Where a try-out finds its parts, and its options. */
export interface TryOut {
  /** The folder with documents, tokens and keys, which is kept between starts. */
  readonly state: string
  /** Whether the caller chose `state`, so that other commands need its path. */
  readonly stateIsChosen: boolean
  /** The configuration file of the caller. When it exists, it is used in place of the one in `state`. */
  readonly ownConfig: string
  /** The main file of the relay. */
  readonly relayProgram: string
  /** Returns the folder of the built console. Called after the ports are checked, since it may build the console first. */
  readonly console: () => string
  /** The folder of the sample documents. */
  readonly examples: string
  /** Paths inside this folder are printed relative to it. */
  readonly shownFrom: string
  /** The command that starts the try-out again, for messages. */
  readonly command: string
  /** The command that runs the example beside the try-out, for the printed text; `null` when there is none. */
  readonly example: string | null
  readonly withAgent: boolean
  /** Opens the first link in a browser. */
  readonly open: boolean
  readonly terminal: Terminal
}

/** Each text is one or more whole lines. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
}

const WORKSPACE = 'default'
const AUDIENCE = 'service-relay'
const CONSOLE_CLIENT = 'docrelay-console'
const TOKEN_SECS = 30 * 86_400
const PEOPLE = [
  { id: 'ann', name: 'Ann', role: 'owner' },
  { id: 'ben', name: 'Ben', role: 'member' },
  { id: 'cleo', name: 'Cleo', role: 'viewer' },
] as const
/** People with the right to write, so that their links show two people in one document. */
const SHOWN_PEOPLE = PEOPLE.slice(0, 2)

type Tokens = Readonly<Record<(typeof PEOPLE)[number]['id'], string>>

/**
 * Runs a development issuer, the relay with its console, a sample workspace and a scripted agent, until a signal comes or the relay ends; either
 * also ends this process. Resolves when everything runs and the links are printed.
 *
 * @throws Error with a sentence for the person at the terminal
 */
export async function runTryOut(tryOut: TryOut, env: NodeJS.ProcessEnv): Promise<void> {
  const { state } = tryOut
  const ports = portsOf(env)
  makeFolder(state, 0o777)
  const configFile = await openConfigFile(tryOut)
  const configText = await readFile(configFile, 'utf8')
  const settings = {
    ports,
    dataDir: join(state, 'data'),
    audience: AUDIENCE,
    console: { clientId: CONSOLE_CLIENT, dir: '' },
  }
  const nobody = { issuer: { url: '', jwksUrl: '' }, mcpUrl: '' }
  const listeners = listenersOf(configFile, relayEnvironment(env, configText, { ...settings, ...nobody }))
  // Checked before anything is started: a relay already on these ports would answer in place of this one.
  const taken = await takenPorts(listening(ports, listeners))
  if (taken.length > 0) throw new Error(taken.join('\n'))
  const pages = tryOut.console()

  const baseUrl = `http://127.0.0.1:${ports.relay.port}`
  const mcpUrl = `http://127.0.0.1:${listeners.mcp === 'public' ? ports.relay.port : ports.mcp.port}/mcp`
  const issuer = await startIssuer(state, ports, mcpUrl, listeners)
  const withPage = { ...settings, issuer, mcpUrl, console: { clientId: CONSOLE_CLIENT, dir: pages } }
  const relay = startRelayProcess(tryOut.relayProgram, configFile, relayEnvironment(env, configText, withPage))
  const agents: ScriptedAgent[] = []
  const stopping = stopTogether(tryOut, relay, () => issuer.close())
  await relay.ready(baseUrl, (text) => tryOut.terminal.err(text))

  const tokens = Object.fromEntries(
    await Promise.all(PEOPLE.map(async ({ id }) => [id, await issuer.mint(id, { lifetimeSec: TOKEN_SECS })])),
  ) as Tokens
  await createSamples(new RelayClient({ baseUrl, token: () => tokens.ann }), tryOut.examples)
  const mcpToken = await writeCredentials(state, listeners, { baseUrl, mcpUrl, tokens })
  if (tryOut.withAgent && mcpToken !== null) agents.push(await startAgent(mcpUrl, mcpToken, tryOut.terminal, stopping))

  const links = SHOWN_PEOPLE.flatMap(({ id, name }) =>
    listeners.console === null ? [] : [{ name, url: `${baseUrl}${listeners.console.path}/#doc/${FIRST_DOCUMENT}?as=${id}` }],
  )
  const mcpTokenFile = listeners.mcp === 'public' ? join(state, 'tokens/ann') : join(state, 'data/mcp_token')
  const text = startText({
    baseUrl,
    links,
    mcpUrl: listeners.mcp === 'off' ? null : mcpUrl,
    hasAgent: agents.length > 0,
    issuerUrl: issuer.url,
    state: shownPath(tryOut.shownFrom, state),
    stateVariable: tryOut.stateIsChosen ? state : null,
    example: tryOut.example,
    mcpTokenFile: shownPath(tryOut.shownFrom, mcpTokenFile),
    people: PEOPLE,
  })
  tryOut.terminal.out(text)
  if (tryOut.open && links[0] !== undefined) openBrowser(links[0].url)
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

/** Returns the caller's configuration file when it exists, else a file in the state folder, which is created without keys. */
async function openConfigFile({ state, ownConfig, command }: TryOut): Promise<string> {
  if (existsSync(ownConfig)) return ownConfig
  const file = join(state, 'relay.toml')
  const text = `# Keys of the relay that \`${command}\` runs; docs/reference/config.md lists them.\n`
  if (!existsSync(file)) await writeFile(file, text, { mode: 0o600 })
  return file
}

function startIssuer(state: string, ports: Ports, resource: string, { console }: Listeners): Promise<DevIssuer> {
  const redirectUris = ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${ports.relay.port}${console?.path}/`)
  return startDevIssuer({
    port: ports.issuer.port,
    dataDir: join(state, 'issuer'),
    audience: AUDIENCE,
    resource,
    people: PEOPLE.map(({ id, name, role }) => ({ id, name, wsp: [{ id: WORKSPACE, role, region: '' }] })),
    clients: console === null ? [] : [{ clientId: console.clientId, redirectUris }],
  })
}

interface Credentials {
  readonly baseUrl: string
  readonly mcpUrl: string
  readonly tokens: Tokens
}

/** Writes the tokens and the other files that further programs read. Returns the token for the MCP endpoint; `null` when it is off. */
async function writeCredentials(
  state: string,
  { mcp }: Listeners,
  { baseUrl, mcpUrl, tokens }: Credentials,
): Promise<string | null> {
  const folder = join(state, 'tokens')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [id, token] of Object.entries(tokens)) await writeFile(join(folder, id), `${token}\n`, { mode: 0o600 })
  await writeForOwner(join(state, 'session.json'), { baseUrl, mcpUrl: mcp === 'off' ? null : mcpUrl, tokens })
  const clientFile = join(state, 'mcp.json')
  if (mcp === 'off') {
    await rm(clientFile, { force: true })
    return null
  }
  const token = mcp === 'public' ? tokens.ann : (await readFile(join(state, 'data/mcp_token'), 'utf8')).trim()
  const server = { type: 'http', url: mcpUrl, headers: { Authorization: `Bearer ${token}` } }
  await writeForOwner(clientFile, { mcpServers: { docrelay: server } })
  return token
}

function writeForOwner(file: string, value: object): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
}

/** Starts the agent. When the agent fails, the try-out goes on without it. */
async function startAgent(mcpUrl: string, bearer: string, terminal: Terminal, stopping: AbortSignal): Promise<ScriptedAgent> {
  const agent = await startScriptedAgent({ mcpUrl, bearer, docId: FIRST_DOCUMENT })
  agent.ended.catch((error: unknown) => {
    if (!stopping.aborted) terminal.err(`The scripted agent has stopped: ${String(error)}`)
  })
  stopping.addEventListener('abort', () => void agent.close())
  return agent
}

/**
 * Returns a signal that is aborted when the process begins to stop. Ctrl-C reaches the relay directly. A signal to this process alone, or the end
 * of its parent, does not, so it is passed on to the relay.
 */
function stopTogether(
  { state, shownFrom, command, terminal }: TryOut,
  relay: RelayProcess,
  closeIssuer: () => Promise<void>,
): AbortSignal {
  const stopping = new AbortController()
  const stop = (): void => {
    if (!stopping.signal.aborted) terminal.out('\nStopping: the relay stores what is open …')
    stopping.abort()
    relay.stop()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  void relay.ended.then(async ({ code, signal }) => {
    await closeIssuer()
    if (stopping.signal.aborted)
      terminal.out(
        `Stopped. ${shownPath(shownFrom, state)} keeps the documents and the tokens; \`${command}\` goes on with them.`,
      )
    else terminal.err(endedText(code, signal, command))
    process.exit(code ?? 1)
  })
  return stopping.signal
}
