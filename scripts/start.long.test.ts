import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMPILED_CODE } from '../packages/server/src/test/compiled-code.ts'
import { until } from '../packages/server/src/test/relay-under-test.ts'
import { freePort } from './free-port.ts'
import { patience } from '../packages/server/src/kernel/testing/patience.ts'

const ROOT = join(import.meta.dirname, '..')
const BOOTSTRAP = join(ROOT, 'scripts/bootstrap.mjs')
/** Acts like npm: starts the script through a shell and waits for it. */
const LIKE_NPM = `require('node:child_process').spawn('sh', ['-c', 'node "$BOOTSTRAP" start $OPTIONS; true'], { stdio: 'inherit' })`

interface Start extends AsyncDisposable {
  readonly child: ChildProcess
  readonly state: string
  /** Output of both streams so far. */
  text(): string
  /** Ids of the processes of this start, outermost first: the stand-in for npm, bootstrap, start, relay. */
  pids(): readonly number[]
}

async function start(env: Readonly<Record<string, string>> = {}, options = ''): Promise<Start> {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-start-'))
  const state = join(folder, 'state')
  const [relay, mcp, metrics, issuer] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const child = spawn(process.execPath, ['-e', LIKE_NPM], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...COMPILED_CODE,
      PATH: process.env['PATH'],
      // Keeps the command from replacing the packages that this test run uses.
      VITEST: process.env['VITEST'],
      npm_lifecycle_event: 'start',
      BOOTSTRAP,
      OPTIONS: options,
      DOCRELAY_DEV_DIR: state,
      RELAY_PORT: relay,
      RELAY_MCP_PORT: mcp,
      RELAY_METRICS_PORT: metrics,
      DOCRELAY_DEV_ISSUER_PORT: issuer,
      ...env,
    },
  })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const pids = (): readonly number[] => processesWith(`DOCRELAY_DEV_DIR=${state}`)
  return {
    child,
    state,
    text: () => text,
    pids,
    async [Symbol.asyncDispose]() {
      for (const pid of pids()) killIfThere(pid)
      await until('the end of a start', () => pids().length === 0)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

/** Ids of processes whose environment contains this entry. Shells are left out, because they end with the command they run. */
function processesWith(entry: string): readonly number[] {
  return readdirSync('/proc')
    .filter(
      (name) => /^\d+$/.test(name) && textOf(name, 'environ').split('\0').includes(entry) && textOf(name, 'comm') !== 'sh\n',
    )
    .map(Number)
    .toSorted((a, b) => a - b)
}

/** Reads a file of /proc about a process; empty when the process has ended or belongs to another user. */
function textOf(pid: string, file: 'environ' | 'comm'): string {
  try {
    return readFileSync(join('/proc', pid, file), 'utf8')
  } catch {
    return ''
  }
}

const running = (it: Start) =>
  until(
    'the start',
    () => {
      if (it.child.exitCode !== null) throw new Error(`the start ended with ${it.child.exitCode}: ${it.text()}`)
      return it.text().includes('Docrelay is running.')
    },
    60_000,
  )

describe.concurrent('npm start', () => {
  it.each([
    ['npm', 0],
    ['bootstrap.mjs', 1],
    ['start.ts', 2],
  ])('the relay and the issuer end when %s is killed with SIGKILL', { timeout: patience(120_000) }, async (_, at) => {
    await using started = await start()
    await running(started)
    expect(started.pids()).toHaveLength(4)
    process.kill(started.pids()[at] as number, 'SIGKILL')
    await until('everything to end', () => started.pids().length === 0, 20_000)
  })

  describe('once it runs', { concurrent: false }, () => {
    let started: Start
    beforeAll(async () => {
      started = await start()
      await running(started)
    }, patience(120_000))
    afterAll(() => started?.[Symbol.asyncDispose]())

    it('npm start prints links first, whose page signs in at the issuer of this start and has an agent beside it', {
      timeout: patience(120_000),
    }, async () => {
      const [links = ''] = started.text().split('Docrelay is running.')
      const [, link = ''] = /^ {2}Ann {2}(http:\S+)$/m.exec(links) ?? []
      expect(links).toContain(`\n  Ben  ${link.replace('as=ann', 'as=ben')}\n`)
      expect(new URL(link).hash).toBe('#doc/meeting-minutes?as=ann')

      const page = await fetch(link)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? ''
      expect((await fetch(new URL(script, link))).headers.get('cache-control')).toContain('immutable')
      const config = (await (await fetch(new URL('config.json', link))).json()) as Readonly<Record<string, string>>
      const { mcpUrl } = JSON.parse(readFileSync(join(started.state, 'session.json'), 'utf8')) as { mcpUrl: string }
      expect(config).toMatchObject({ clientId: 'docrelay-console', scope: 'openid docs', mcpUrl })

      const request = new URLSearchParams({
        response_type: 'code',
        client_id: config['clientId'] ?? '',
        redirect_uri: link.slice(0, link.indexOf('#')),
        scope: config['scope'] ?? '',
        login_hint: 'ann',
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
      })
      const asked = await fetch(`${config['issuer']}/auth?${request}`, { redirect: 'manual' })
      expect([asked.status, asked.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/interaction\//)])
      expect(started.text()).toContain('@agent list the open points')
    })

    it('npm start prints on one screen what runs and the names of the token files, and no token', {
      timeout: patience(120_000),
    }, async () => {
      const text = started.text()
      const token = readFileSync(join(started.state, 'tokens/ann'), 'utf8').trim()
      expect(text).not.toContain(token)
      expect(text.split('\n').length).toBeLessThan(26)
      expect(text).not.toMatch(/warn/i)
      expect(
        readdirSync(join(started.state, 'tokens')).map((name) => [
          name,
          statSync(join(started.state, 'tokens', name)).mode & 0o777,
        ]),
      ).toEqual(['ann', 'ben', 'cleo'].map((name) => [name, 0o600]))
      const [command] = text.split('\n').filter((line) => line.startsWith('  curl'))
      const answer = execFileSync('sh', ['-c', `${command} -o /dev/null -w '%{http_code}'`], { encoding: 'utf8' })
      expect(answer).toBe('200')
      process.kill(started.pids()[2] as number, 'SIGINT')
      await until('the last words', () => started.text().includes('Stopped.'), 20_000)
      expect(started.text()).toMatch(/Stopping: .*\nStopped\. .* keeps the documents and the tokens/)
    })
  })

  it('npm start refuses an option that it does not have, and names those that it has', {
    timeout: patience(60_000),
  }, async () => {
    await using started = await start({}, '--opne')
    await until('the refusal', () => started.text().includes('--no-agent'))
    expect(started.text()).toContain("Unknown option '--opne'")
  })

  it('npm start names the variable whose value is not a port', { timeout: patience(60_000) }, async () => {
    await using started = await start({ RELAY_PORT: 'abc' })
    await until('the refusal', () => started.text() !== '', 30_000)
    expect(started.text()).toBe('RELAY_PORT is not a port (got "abc", allowed 1 to 65535)\n')
  })
})
