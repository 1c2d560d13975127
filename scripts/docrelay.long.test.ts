import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../packages/server/src/kernel/testing/patience.ts'
import { until } from '../packages/server/src/test/relay-under-test.ts'
import { freePort } from './free-port.ts'
import { consoleModules, docrelayDependencies, packDocrelay } from './pack-docrelay.ts'
import { packagesOf } from './third-party-notices.ts'

const MODULES = join(import.meta.dirname, '../node_modules')
/**
 * A folder outside the repository. Of our packages it has only the tarball, and of third-party packages only the dependencies that the tarball
 * names.
 */
const folder = mkdtempSync(join(tmpdir(), 'docrelay-npx-'))
const installed = join(folder, 'node_modules/docrelay')
const program = join(installed, 'dist/docrelay.mjs')
const running = new Set<ChildProcess>()

beforeAll(async () => {
  const tarball = await packDocrelay(join(folder, 'tarballs'))
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', installed])
  for (const name of Object.keys(docrelayDependencies())) {
    const place = join(folder, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(MODULES, name), place)
  }
}, patience(120_000))
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await until('the end of what was started', () =>
    [...running].every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null),
  )
  rmSync(folder, { recursive: true, force: true })
})

interface Run {
  readonly child: ChildProcess
  text(): string
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Run {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, text: () => text }
}

const ended = (it: Run) => until('the end', () => it.child.exitCode !== null, 60_000)

describe('the package docrelay, installed from its tarball', () => {
  it('bare, prints both commands', { timeout: patience(60_000) }, async () => {
    const bare = run([])
    await ended(bare)
    expect([bare.child.exitCode, bare.text()]).toEqual([0, expect.stringMatching(/docrelay try .*docrelay serve /s)])
  })

  it('carries the licences of the packages whose code is in its page', async () => {
    const notices = readFileSync(join(installed, 'THIRD-PARTY-NOTICES'), 'utf8')
    const names = packagesOf(await consoleModules()).map((place) => relative(MODULES, place))
    expect(names).toEqual(
      expect.arrayContaining(['preact', 'prosemirror-view', 'yjs', 'lib0', 'oauth4webapi', '@preact/signals']),
    )
    for (const name of names) expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+`, 'm'))
    expect(notices.match(/Permission is hereby granted/g)?.length).toBeGreaterThan(10)
  })

  it('docrelay serve is the relay: it names what its configuration lacks', { timeout: patience(60_000) }, async () => {
    const serve = run(['serve'])
    await ended(serve)
    expect(serve.child.exitCode).toBe(2)
    expect(serve.text()).toContain('[auth].issuer: not set')
  })

  it('docrelay try serves the console and a sample with an agent, and keeps its state in .docrelay', {
    timeout: patience(180_000),
  }, async () => {
    const [relay, mcp, metrics, issuer] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
    const ports = { RELAY_PORT: relay, RELAY_MCP_PORT: mcp, RELAY_METRICS_PORT: metrics, DOCRELAY_DEV_ISSUER_PORT: issuer }
    const tried = run(['try'], ports)
    await until(
      'the try-out',
      () => {
        if (tried.child.exitCode !== null) throw new Error(`it ended with ${tried.child.exitCode}: ${tried.text()}`)
        return tried.text().includes('Docrelay is running.')
      },
      120_000,
    )
    const base = `http://127.0.0.1:${relay}`
    expect(tried.text()).toContain(`  Ann  ${base}/console/#doc/meeting-minutes?as=ann\n`)
    expect(tried.text()).toContain('  State      .docrelay ')
    expect((await fetch(`${base}/console/`)).status).toBe(200)
    const headers = { authorization: `Bearer ${readFileSync(join(folder, '.docrelay/tokens/ben'), 'utf8').trim()}` }
    const sample = await fetch(`${base}/api/v1/docs/meeting-minutes/preview.svg?page=board`, { headers })
    expect(sample.status).toBe(200)
    tried.child.kill('SIGINT')
    await ended(tried)
    expect(tried.text()).toMatch(/Stopped\. \.docrelay keeps the documents.*`npx docrelay try`/)
  })
})
