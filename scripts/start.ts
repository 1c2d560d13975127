// `npm start`: a real issuer, the relay on its embedded store, and a sample workspace, until Ctrl-C. State is kept in .dev/ and survives;
// DOCRELAY_DEV_DIR puts it elsewhere, and the variables of `PORTS` choose other ports.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startDevIssuer } from '../packages/dev-issuer/src/dev-issuer.ts'
import type { CollectionInput } from '../packages/protocol/src/rest.ts'
import { RelayClient, RelayRequestError } from '../packages/protocol/src/client/relay-client.ts'
import { takenPorts, type WantedPort } from './free-ports.ts'

const ROOT = join(import.meta.dirname, '..')
const STATE = process.env['DOCRELAY_DEV_DIR'] ?? join(ROOT, '.dev')
const ISSUER_PORT = Number(process.env['DOCRELAY_DEV_ISSUER_PORT'] ?? 9880)
const RELAY_PORT = Number(process.env['RELAY_PORT'] ?? 9876)
const MCP_PORT = Number(process.env['RELAY_MCP_PORT'] ?? 9877)
const MCP_IS_PUBLIC = process.env['RELAY_MCP_EXPOSE'] === 'public'
const MCP_IS_OFF = ['0', 'false', 'no', 'off'].includes(process.env['RELAY_MCP_ENABLED'] ?? 'true')
/** What MCP clients ask the issuer for a token of. */
const MCP_URL = `http://127.0.0.1:${MCP_IS_PUBLIC ? RELAY_PORT : MCP_PORT}/mcp`
/** Opens the endpoint from this host; is not printed, unlike the tokens of people who do not exist. */
const MCP_TOKEN_FILE = join(STATE, 'data', 'mcp_token')
/** For clients that are configured by a file. */
const MCP_CLIENT_FILE = join(STATE, 'mcp.json')
const PORTS: readonly WantedPort[] = [
  { port: ISSUER_PORT, variable: 'DOCRELAY_DEV_ISSUER_PORT' },
  { port: RELAY_PORT, variable: 'RELAY_PORT' },
  ...(MCP_IS_OFF || MCP_IS_PUBLIC ? [] : [{ port: MCP_PORT, variable: 'RELAY_MCP_PORT' }]),
  ...((process.env['RELAY_METRICS_EXPOSE'] ?? 'local') === 'local'
    ? [{ port: Number(process.env['RELAY_METRICS_PORT'] ?? 9878), variable: 'RELAY_METRICS_PORT' }]
    : []),
]
const WORKSPACE = 'default'
const AUDIENCE = 'service-relay'
const PEOPLE = [
  { id: 'ann', role: 'owner' },
  { id: 'ben', role: 'member' },
  { id: 'cleo', role: 'viewer' },
] as const

async function main(): Promise<void> {
  // Before anything is started: another relay on these ports would answer in the place of this one.
  const taken = await takenPorts(PORTS)
  if (taken.length > 0) throw new Error(taken.join('\n'))
  await mkdir(STATE, { recursive: true })
  const issuer = await startDevIssuer({
    port: ISSUER_PORT,
    dataDir: join(STATE, 'issuer'),
    audience: AUDIENCE,
    resource: MCP_URL,
    people: PEOPLE.map((person) => ({ id: person.id, wsp: [{ id: WORKSPACE, role: person.role, region: '' }] })),
  })
  const relay = spawn(process.execPath, ['packages/server/src/main.ts', 'serve'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      RELAY_HOST: process.env['RELAY_HOST'] ?? '127.0.0.1',
      RELAY_PORT: String(RELAY_PORT),
      RELAY_MCP_PORT: String(MCP_PORT),
      RELAY_DATA_DIR: join(STATE, 'data'),
      RELAY_JWT_ISSUER: issuer.url,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
      RELAY_JWT_AUDIENCE: AUDIENCE,
      RELAY_JWT_RESOURCE: MCP_URL,
      RELAY_REVOCATION_BEARER: process.env['RELAY_REVOCATION_BEARER'] ?? 'dev-revocation-secret',
      RELAY_LOG_LEVEL: process.env['RELAY_LOG_LEVEL'] ?? 'warn',
    },
  })
  const ended = new Promise<number>((resolve) => relay.once('exit', (code) => resolve(code ?? 1)))
  stopTogether(relay, ended, () => issuer.close())

  const baseUrl = `http://127.0.0.1:${RELAY_PORT}`
  await ready(baseUrl, relay)
  const tokens = Object.fromEntries(
    await Promise.all(PEOPLE.map(async (person) => [person.id, await issuer.mint(person.id, { lifetimeSec: 30 * 86_400 })])),
  ) as Record<(typeof PEOPLE)[number]['id'], string>
  const owner = new RelayClient({ baseUrl, token: () => tokens.ann })
  await createSamples(owner)
  await createCollections(owner)
  await writeForOwner(join(STATE, 'session.json'), { baseUrl, mcpUrl: MCP_IS_OFF ? null : MCP_URL, tokens })
  await writeClientFile(tokens.ann)
  printWelcome(baseUrl, issuer.url, tokens)
}

function writeForOwner(file: string, value: object): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
}

async function writeClientFile(ownerToken: string): Promise<void> {
  if (MCP_IS_OFF) return rm(MCP_CLIENT_FILE, { force: true })
  const token = MCP_IS_PUBLIC ? ownerToken : (await readFile(MCP_TOKEN_FILE, 'utf8')).trim()
  const server = { type: 'http', url: MCP_URL, headers: { Authorization: `Bearer ${token}` } }
  await writeForOwner(MCP_CLIENT_FILE, { mcpServers: { docrelay: server } })
}

function stopTogether(relay: ChildProcess, ended: Promise<number>, closeIssuer: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => relay.kill('SIGTERM'))
  void ended.then(async (code) => {
    await closeIssuer()
    process.exit(code)
  })
}

async function ready(baseUrl: string, relay: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 150 && relay.exitCode === null; tries++) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`the relay did not become ready at ${baseUrl}; its log above says why`)
}

/** Creates what is not there yet; a sample that was edited or deleted before stays as it is. */
async function createSamples(client: RelayClient): Promise<void> {
  const folder = join(ROOT, 'examples', 'workspace')
  for (const file of (await readdir(folder)).sort()) {
    const body = JSON.parse(await readFile(join(folder, file), 'utf8')) as { id: string }
    await client.putDocument(body.id, body, { expectedVersion: 0 }).catch((error: unknown) => {
      const expected = error instanceof RelayRequestError && (error.code === 'VERSION_CONFLICT' || error.code === 'TOMBSTONED')
      if (!expected) throw error
    })
  }
}

/** Groups the samples; a workspace that has collections keeps them. */
async function createCollections(client: RelayClient): Promise<void> {
  const file = join(ROOT, 'examples', 'collections.json')
  const { collections, members } = JSON.parse(await readFile(file, 'utf8')) as {
    collections: CollectionInput[]
    members: Record<string, string>
  }
  try {
    await client.putCollections(collections, 0)
  } catch (error) {
    if (error instanceof RelayRequestError && error.code === 'VERSION_CONFLICT') return
    throw error
  }
  for (const [docId, collectionId] of Object.entries(members)) await client.setCollection(docId, collectionId)
}

function printWelcome(baseUrl: string, issuerUrl: string, tokens: Record<string, string>): void {
  const roles = PEOPLE.map((person) => `  ${person.role.padEnd(7)} ${person.id.padEnd(5)} ${tokens[person.id]}`).join('\n')
  console.log(`
Docrelay is running.

  REST       ${baseUrl}/api/docs
  WebSocket  ${baseUrl.replace('http', 'ws')}/ws
  MCP        ${mcpAddress()}
  OpenAPI    ${baseUrl}/api/v1/openapi.json
  Health     ${baseUrl}/health   ${baseUrl}/readyz
  Issuer     ${issuerUrl}   (for development only)
  State      ${STATE}   (kept between starts)

Tokens, valid for 30 days:
${roles}

Try it:
  curl -s -H 'Authorization: Bearer ${tokens['ann']}' ${baseUrl}/api/docs
  curl -s -H 'Authorization: Bearer ${tokens['ann']}' ${baseUrl}/api/v1/docs/relay-at-a-glance/preview.png -o preview.png
${agentLines(tokens['ann'] as string)}
Two live editors and an agent on one document, in another terminal:
  npm run example

Ctrl-C stops everything.`)
}

/** Where the endpoint is and what opens it. */
function mcpAddress(): string {
  if (MCP_IS_OFF) return 'off'
  if (MCP_IS_PUBLIC) return `${MCP_URL}   (bearer: one of the tokens below)`
  return `${MCP_URL}   (bearer: the line in ${MCP_TOKEN_FILE}, or one of the tokens below)`
}

/** Commands that connect an agent as they stand. */
function agentLines(ownerToken: string): string {
  if (MCP_IS_OFF) return ''
  const bearer = `"Authorization: Bearer ${MCP_IS_PUBLIC ? ownerToken : `$(cat '${MCP_TOKEN_FILE}')`}"`
  const call = { name: 'service_get_document', arguments: { docId: 'relay-at-a-glance' } }
  const curl = (method: string, params: object): string =>
    `curl -s ${MCP_URL} -H ${bearer} -H 'Content-Type: application/json' -d '${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}'`
  return `
Connect an agent (docs/agents-guide.md):
  claude mcp add --transport http docrelay ${MCP_URL} --header ${bearer}
  ${MCP_CLIENT_FILE}   (the entry for clients that are configured by a file with \`mcpServers\`)
  ${curl('tools/list', {})}
  ${curl('tools/call', call)}
`
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
