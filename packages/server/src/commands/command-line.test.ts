import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunningRelay } from '../compose.ts'
import type { Config } from '../config/config.ts'
import { runCommandLine } from './command-line.ts'

const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks' }

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'relay-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

interface Run {
  code: number
  out: string
  err: string
}

interface RunOptions {
  env?: Record<string, string>
  /** An exception that nobody catches, instead of a signal. */
  crash?: Error
  /** Starts the relay for `serve`; its result decides how the relay drains. */
  start?: (config: Config) => Promise<RunningRelay>
}

/** Runs a command in this process. Sends `serve` the stop signal at once. */
async function run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  let out = ''
  let err = ''
  const io = {
    env: options.env ?? AUTH,
    cwd,
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    onStopSignal: (callback: () => void) => void (options.crash === undefined && setImmediate(callback)),
    onCrash: (callback: (error: unknown) => void) => void (options.crash !== undefined && setImmediate(callback, options.crash)),
    keepCompiledCode: () => undefined,
  }
  const start = options.start ?? (() => Promise.reject(new Error('nothing may be started here')))
  const code = await runCommandLine(args, io, {
    version: '1.2.3',
    loadRelay: () => Promise.resolve({ startRelay: ({ config }) => start(config) }),
  })
  return { code, out, err }
}

const never = new Promise<Error>(() => {})
const relay =
  (drain: RunningRelay['drain'], failed = never) =>
  (): Promise<RunningRelay> =>
    Promise.resolve({
      release: { version: '1.2.3', commit: 'abc', built: 'today' },
      listeners: [{ name: 'main', url: 'http://0.0.0.0:9876' }],
      failed,
      drain,
    })

describe('commands of the command line', () => {
  it('[CFG-11] init writes every key and refuses to overwrite without --force', async () => {
    expect((await run(['init'])).code).toBe(0)
    const file = join(cwd, 'relay.toml')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toContain('[tenancy.limits]\n')
    writeFileSync(file, '# mine')
    expect(await run(['init'])).toMatchObject({ code: 1, out: '' })
    expect(readFileSync(file, 'utf8')).toBe('# mine')
    expect((await run(['init', '--force'])).code).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toBe('# mine')
    expect((await run(['init', '--config', 'other.toml'])).code).toBe(0)
    expect(existsSync(join(cwd, 'other.toml'))).toBe(true)
    expect((await run(['init', '--config', 'no/such/folder.toml'])).code).toBe(1)
  })

  it('[CFG-11] a file written by init passes config check once the issuer is set', async () => {
    await run(['init'])
    expect(await run(['config', 'check'], { env: {} })).toMatchObject({ code: 2, out: '' })
    expect(await run(['config', 'check'])).toEqual({ code: 0, out: 'configuration ok\n', err: '' })
  })

  it('[CFG-11] config print shows values with their sources, as text and as JSON', async () => {
    const env = { ...AUTH, RELAY_PORT: '1234', RELAY_REVOCATION_BEARER: 'planted-secret-of-a-test' }
    const text = await run(['config', 'print'], { env })
    expect(text.out).toContain('port = 1234 # RELAY_PORT\n')
    expect(text.out).toContain('url = "sqlite:data/relay.db" # default\n')
    const json = await run(['config', 'print', '--json'], { env })
    expect(JSON.parse(json.out)).toMatchObject({
      server: { port: { value: 1234, source: 'RELAY_PORT' } },
      auth: { revocation_push_bearer: { value: '<redacted>', source: 'RELAY_REVOCATION_BEARER' } },
    })
    expect(JSON.stringify([text, json])).not.toContain('planted-secret-of-a-test')
  })

  it('[CFG-11] help and --version print to stdout', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: 'relay 1.2.3\n', err: '' })
    const overview = await run(['help'])
    for (const name of ['init', 'serve', 'config check', 'config print', 'backup', 'restore', 'verify', 'repair', 'migrate'])
      expect(overview.out).toContain(`  ${name} `)
    expect(overview).toMatchObject({ code: 0, err: '' })
    expect((await run(['--help'])).out).toBe(overview.out)
    expect((await run(['help', 'serve'])).out).toMatch(/^relay serve .*--tenancy-workspace/)
    expect((await run(['config', 'print', '--help'])).out).toMatch(/^relay config print /)
    expect((await run(['help', 'config'])).out.match(/^relay config/gm)).toHaveLength(2)
  })

  it.each(['backup x', 'restore x', 'verify', 'migrate --plan', 'migrate'])(
    '[CFG-11] [CFG-12] %s without a store reports that on stderr and exits with 1',
    async (line) => {
      const done = await run([...line.split(' '), '--data-dir', join(cwd, 'none')])
      expect([done.code, done.out]).toEqual([1, ''])
      expect(readdirSync(cwd).filter((name) => name !== 'x')).toEqual([])
      expect(done.err).toMatch(/^relay: .*(relay\.db|manifest\.json)/)
    },
  )

  it.each(['backup', 'restore'])('[CFG-12] %s without a folder exits with 2', async (name) => {
    expect((await run([name])).code).toBe(2)
    expect(readdirSync(cwd)).toEqual([])
  })

  it('[CFG-11] options of serve override file and environment', async () => {
    let seen: Config | null = null
    const start = (config: Config) => {
      seen = config
      return relay(() => Promise.resolve('clean'))()
    }
    const args = [
      'serve',
      '--host',
      '::1',
      '--port',
      '0',
      '--data-dir',
      'd',
      '--region',
      'eu',
      '--tenancy=dedicated',
      '--tenancy-workspace=w',
    ]
    expect((await run(args, { start, env: { ...AUTH, RELAY_PORT: '1', RELAY_REGION: 'us' } })).code).toBe(0)
    expect(seen).toMatchObject({
      server: { host: '::1', port: 0, region: 'eu' },
      storage: { url: 'sqlite:d/relay.db' },
      tenancy: { mode: 'dedicated', workspaceId: 'w' },
    })
  })
})

describe('exit codes and streams', () => {
  it.each([
    ['no command', []],
    ['an unknown command', ['frobnicate']],
    ['half a command', ['config']],
    ['an unknown option', ['serve', '--prt', '1']],
    ['an option without its value', ['serve', '--port']],
    ['a word too many', ['config', 'check', 'now']],
    ['help for an unknown command', ['help', 'frobnicate']],
    ['a value that is no port', ['serve', '--port', 'x']],
    ['a missing file', ['serve', '--config', 'none.toml']],
  ])('[CFG-12] %s exits with 2 and prints nothing on stdout', async (_, args) => {
    const done = await run(args)
    expect([done.code, done.out]).toEqual([2, ''])
    expect(done.err).not.toBe('')
  })

  it('[CFG-5] [CFG-13] with a bad configuration serve starts and writes nothing', async () => {
    const done = await run(['serve'], { env: { RELAY_PORT: 'x' } })
    expect(done.code).toBe(2)
    expect(done.err.match(/^default: \[auth\]\..*not set/gm)).toHaveLength(2)
    expect(done.err).toContain('RELAY_PORT: [server].port: ')
    expect(readdirSync(cwd)).toEqual([])
  })

  it('[CFG-13] serve prints its listeners on stdout and logs JSON on stderr', async () => {
    const done = await run(['serve'], { start: relay(() => Promise.resolve('clean')) })
    expect([done.code, done.out]).toEqual([0, 'main http://0.0.0.0:9876\n'])
    const events = done.err
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event)
    expect(new Set(events)).toEqual(new Set(['config.warning', 'relay.started', 'relay.stopping', 'relay.stopped']))
  })

  it('[LIFE-28] serve exits with 0 after a clean drain, with 1 after an overrun or a failure', async () => {
    expect((await run(['serve'], { start: relay(() => Promise.resolve('overrun')) })).code).toBe(1)
    expect((await run(['serve'], { start: relay(() => Promise.reject(new Error('x'))) })).code).toBe(1)
    expect((await run(['serve'], { start: () => Promise.reject(new Error('port in use')) })).code).toBe(1)
  })

  it('[LIFE-28] a stop during the start exits with 0 at once', async () => {
    const done = await run(['serve'], { start: () => new Promise(() => undefined) })
    expect([done.code, done.out]).toEqual([0, ''])
  })
})

describe('a relay with a broken store', () => {
  it('[LIFE-28] a relay that cannot store anything any more exits with 1 without draining', async () => {
    const start = relay(() => Promise.reject(new Error('drained')), Promise.resolve(new Error('disk gone')))
    const done = await run(['serve'], { start })
    expect(done.code).toBe(1)
    expect(done.err).toContain('"event":"relay.failed"')
    expect(done.err).not.toContain('drained')
  })
})

describe('a relay with an unexpected exception', () => {
  it('[OPS-8] [LIFE-28] an unexpected exception is logged, and the relay drains and exits with 1', async () => {
    let drains = 0
    const start = relay(() => {
      drains++
      return Promise.resolve('clean')
    })
    const done = await run(['serve'], { start, crash: new Error('impossible') })
    expect([done.code, drains]).toEqual([1, 1])
    expect(done.err).toMatch(/"event":"relay.crashed".*impossible/)
  })
})
