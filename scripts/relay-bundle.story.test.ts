import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestIssuer, type TestIssuer } from '../packages/server/src/auth/testing/test-issuer.ts'
import { patience } from '../packages/server/src/kernel/testing/patience.ts'
import { until } from '../packages/server/src/test/relay-under-test.ts'
import { buildRelay, isInstalledBeside, NOTICES } from './relay-bundle.ts'
import { packagesOf } from './third-party-notices.ts'

const ROOT = join(import.meta.dirname, '..')
const MANIFEST = join(ROOT, 'packages/server/package.json')
/** A folder like the image: the launcher and the bundle without sources, and only those third-party packages that the bundle lacks. */
const folder = mkdtempSync(join(tmpdir(), 'docrelay-bundle-'))
const server = join(folder, 'packages/server')
const dist = join(server, 'dist')
const launcher = join(server, 'bin/relay.js')
const installed = Object.keys(
  (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly dependencies: object }).dependencies,
).filter(isInstalledBeside)
const running = new Set<ChildProcess>()
let issuer: TestIssuer

beforeAll(async () => {
  issuer = await startTestIssuer()
  await buildRelay(dist)
  cpSync(join(ROOT, 'packages/server/bin'), join(server, 'bin'), { recursive: true })
  cpSync(MANIFEST, join(server, 'package.json'))
  for (const name of installed) {
    const place = join(folder, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), place)
  }
}, patience(120_000))
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await until('the end of what was started', () =>
    [...running].every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null),
  )
  await issuer?.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Run {
  readonly child: ChildProcess
  out(): string
  err(): string
}

function serve(dataDir: string): Run {
  const child = spawn(process.execPath, [launcher, 'serve'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      RELAY_HOST: '127.0.0.1',
      RELAY_PORT: '0',
      RELAY_METRICS_EXPOSE: 'off',
      RELAY_MCP_PORT: '0',
      RELAY_DATA_DIR: dataDir,
      RELAY_JWT_ISSUER: issuer.issuer,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
    },
  })
  running.add(child)
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return { child, out: () => out, err: () => err }
}

const ended = (run: Run) => until('the end', () => run.child.exitCode !== null, 60_000)

describe('the bundle that `npm run build:relay` writes', { timeout: patience(60_000) }, () => {
  it('serves without the packages that are in it, keeps its compiled code, and stops cleanly', async () => {
    expect(installed).toHaveLength(7)
    const data = join(folder, 'data')
    // Compiled code is kept only below an existing data directory.
    mkdirSync(data)
    const relay = serve(data)
    await until('the start', () => relay.out().includes('mcp '), 60_000)
    const [, url = ''] = /^main (\S+)$/m.exec(relay.out()) ?? []
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    const token = issuer.token({ role: 'owner' })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const page = { id: 'board', name: 'Board', shapes: [] }
    const body = JSON.stringify({ id: 'minutes', name: 'Minutes', pages: [page], richTextPages: [] })
    expect((await fetch(`${url}/api/docs/minutes?expectedVersion=0`, { method: 'PUT', headers, body })).status).toBeLessThan(300)
    // Uses a thread of its own, the icons beside the bundle, a native package and the fonts.
    const picture = await fetch(`${url}/api/v1/docs/minutes/preview.png?page=board`, { headers })
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
    relay.child.kill('SIGTERM')
    await ended(relay)
    expect([relay.child.exitCode, relay.err()]).toEqual([0, expect.not.stringMatching(/"level":"error"/)])
    expect(readdirSync(join(data, 'compiled-code'))).not.toEqual([])
  })

  it('names the source file and its line where an error was made on the main thread', async () => {
    writeFileSync(join(folder, 'file'), '')
    const relay = serve(join(folder, 'file/data'))
    await ended(relay)
    expect(relay.err()).toMatch(/"event":"relay.start_failed".* at refusal \(packages\/server\/src\/kernel\/folders\.ts:\d+\)/)
  })

  it('names the source file and its line where an error was made in another thread', async () => {
    const data = join(folder, 'damaged')
    mkdirSync(data)
    writeFileSync(join(data, 'relay.db'), 'no database'.repeat(1000))
    const relay = serve(data)
    await ended(relay)
    expect(relay.err()).toMatch(
      /"event":"relay.start_failed".* at [^"]*\(packages\/server\/src\/drivers\/sql\/[a-z/-]+\.ts:\d+\)/,
    )
  })

  it('may be read by the user of the service, whoever built it', () => {
    const unreadable = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
      (path) => (statSync(join(dist, path)).mode & 0o004) === 0,
    )
    expect([statSync(dist).mode & 0o777, unreadable]).toEqual([0o755, []])
  })

  it('carries the licences of the packages whose code is in it', () => {
    const notices = readFileSync(join(dist, NOTICES), 'utf8')
    const tables = readdirSync(dist).filter((name) => name.endsWith('.lines.json'))
    const sources = tables.flatMap(
      (name) => (JSON.parse(readFileSync(join(dist, name), 'utf8')) as { sources: string[] }).sources,
    )
    const names = packagesOf(sources.map((path) => join(ROOT, path))).map((place) => place.split('/node_modules/').at(-1) ?? '')
    expect(names).toEqual(expect.arrayContaining(['kysely', 'yjs', 'ws', 'pino', 'parse5']))
    for (const name of names) expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+`, 'm'))
  })
})
