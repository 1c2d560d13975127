import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestIssuer } from '../../auth/testing/test-issuer.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { COMPILED_CODE } from '../compiled-code.ts'
import { RELAY_PROGRAM } from '../relay-program.ts'

/** The launcher, which an operator starts. */
const LAUNCHER = join(import.meta.dirname, '../../../bin/relay.js')
const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'http://127.0.0.1:1/jwks' }
const SECRET = 'planted-secret-of-the-operator'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'relay-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Called with the addresses of the listeners by name. */
type Bound = (listeners: Record<string, string>) => Promise<void>

/** Starts the program in an empty folder with only this environment and the shared cache of compiled code. */
function start(args: string, env: Record<string, string>, program = RELAY_PROGRAM): { child: ChildProcess; ended: Promise<Run> } {
  const words = args === '' ? [] : args.split(' ')
  const environment = { ...COMPILED_CODE, PATH: process.env['PATH'] ?? '', ...env }
  const child = spawn(process.execPath, [program, ...words], { cwd, env: environment })
  const texts = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => void (texts.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => void (texts.err += chunk.toString()))
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code: code ?? -1, ...texts }))) }
}

/** Runs the program to its end. A server gets `signal` once `bound` has handled the addresses of its two listeners. */
function relay(
  args: string,
  env: Record<string, string> = AUTH,
  signal?: NodeJS.Signals,
  bound?: Bound,
  program?: string,
): Promise<Run> {
  const { child, ended } = start(args, env, program)
  let out = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    const before = lines(out).length
    out += chunk.toString()
    if (signal === undefined || before >= 2 || lines(out).length < 2) return
    const listeners = Object.fromEntries(lines(out).map((line) => line.split(' ') as [string, string]))
    void Promise.resolve(bound?.(listeners)).finally(() => child.kill(signal))
  })
  return ended
}

const file = (name: string, text: string, mode = 0o600): void => writeFileSync(join(cwd, name), text, { mode })
const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

describe('a fresh installation', () => {
  it('[CFG-11] after `relay init` and setting the issuer, check and print succeed', async () => {
    expect(await relay('init', {})).toMatchObject({ code: 0, err: '' })
    const path = join(cwd, 'relay.toml')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await relay('init', {})).code).toBe(1)
    const text = readFileSync(path, 'utf8')
    file(
      'relay.toml',
      text
        .replace('issuer = ""', 'issuer = "https://issuer.example"')
        .replace('jwks_url = ""', 'jwks_url = "https://issuer.example/jwks"'),
    )
    expect(await relay('config check', {})).toEqual({ code: 0, out: 'configuration ok\n', err: '' })
    const printed = JSON.parse((await relay('config print --json', {})).out) as Record<
      string,
      Record<string, { value: unknown; source: string }>
    >
    const keys = [...text.matchAll(/^([a-z_]+) = /gm)].length
    expect(Object.values(printed).flatMap((section) => Object.keys(section))).toHaveLength(keys)
    expect(printed).toMatchObject({ auth: { issuer: { value: 'https://issuer.example', source: 'relay.toml' } } })
    expect(await relay('init --force', {})).toMatchObject({ code: 0 })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('[CFG-3] a value comes from the command line before environment, file and default', async () => {
    file('relay.toml', '[server]\nport = 1001\nhost = "10.0.0.1"\nregion = "file"\nauth_timeout_secs = 3\n')
    const env = { ...AUTH, RELAY_PORT: '1002', RELAY_HOST: '', RELAY_AUTH_TIMEOUT_SECS: '4' }
    const { out } = await relay('config print', env)
    expect(out).toContain('port = 1002 # RELAY_PORT\n')
    expect(out).toContain('host = "10.0.0.1" # relay.toml\n')
    expect(out).toContain('region = "file" # relay.toml\n')
    expect(out).toContain('auth_timeout_secs = 4 # RELAY_AUTH_TIMEOUT_SECS\n')
    expect(out).toContain('commit_delay_ms = 4 # default\n')
    const refused = await relay('serve --port 99999 --tenancy=both', env)
    expect([refused.code, lines(refused.err).map((line) => line.split(' (')[0])]).toEqual([
      2,
      ['--port: [server].port: out of range', '--tenancy: [tenancy].mode: not one of the choices'],
    ])
  })

  it('[CFG-3] a missing default configuration file is a warning, a missing named one an error', async () => {
    const checked = await relay('config check')
    expect([checked.code, checked.out]).toEqual([0, 'configuration ok\n'])
    expect(checked.err).toMatch(/^warning: relay\.toml: not found/)
    expect(await relay('config check --config other.toml')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^other\.toml: /),
    })
  })
})

describe('problems of a configuration', () => {
  it('[CFG-5] [CFG-6] all problems are reported at once, one line each with source, key, value and allowed values, and nothing is bound', async () => {
    file(
      'relay.toml',
      `[server]\nprot = 1\nport = "many"\n[auth]\nissuer = "x"\naudience = ""\n[tenancy]\nmode = "shared"\nworkspace_id = "w"\n[tenancy.limits]\nmax_blob_bytes = 0\n[serve]\nx = 1\n`,
    )
    const env = {
      RELAY_MAX_DOC_BYTES: '1e3',
      RELAY_COMMIT_DELAY_MS: '51',
      RELAY_MCP_ENABLED: 'perhaps',
      RELAY_METRICS_PORT: '9877',
    }
    for (const command of ['serve', 'config check', 'config print']) {
      const { code, out, err } = await relay(command, env)
      expect([command, code, out]).toEqual([command, 2, ''])
      const subjects = lines(err).map((line) =>
        /^([^\s:]+)(?::\d+)?: (\[[a-z._]+\](?:\.[a-z_]+)?): .+ \(got .+, allowed .+\)$/.exec(line)?.slice(1, 3).join(' '),
      )
      expect(subjects.toSorted()).toEqual(
        [
          'RELAY_COMMIT_DELAY_MS [storage].commit_delay_ms',
          'RELAY_MAX_DOC_BYTES [tenancy.limits].max_doc_bytes',
          'RELAY_MCP_ENABLED [mcp].enabled',
          'default [auth].jwks_url',
          'relay.toml [auth].audience',
          'relay.toml [serve]',
          'relay.toml [server].port',
          'relay.toml [server].prot',
          'relay.toml [tenancy.limits].max_blob_bytes',
          'relay.toml [tenancy].workspace_id',
        ].toSorted(),
      )
      expect(err).toMatch(/\[server\]\.prot: unknown key, the nearest known one is \[server\]\.port/)
    }
    expect(readdirSync(cwd)).toEqual(['relay.toml'])
  })

  it('[CFG-12] a usage error exits with 2 and one line on stderr', { timeout: patience(40_000) }, async () => {
    for (const args of [
      'config',
      'frobnicate',
      'serve extra',
      'serve --nope',
      'serve --port',
      'config print --yaml',
      'init --config',
      'help nothing',
    ]) {
      const { code, out, err } = await relay(args)
      expect([args, code, out, lines(err).length]).toEqual([args, 2, '', 1])
    }
    expect(await relay('')).toMatchObject({ code: 2, out: '' })
    expect(readdirSync(cwd)).toEqual([])
  })
})

describe('secrets in a configuration', () => {
  it('[CFG-4] secrets are read from files, never printed, and refused when given twice', async () => {
    file('secret', `${SECRET}\n`)
    file('url', `postgres://user:${SECRET}@127.0.0.1:1/db`)
    const files = { RELAY_REVOCATION_BEARER_FILE: 'secret', RELAY_STORAGE_URL_FILE: 'url', RELAY_CLUSTER_SINGLE_NODE: 'true' }
    const printed = await relay('config print', { ...AUTH, ...files, RELAY_DOCS_URL: `https://user:${SECRET}@h/` })
    expect(printed.code).toBe(0)
    expect(printed.out).toContain('revocation_push_bearer = "<redacted>" # RELAY_REVOCATION_BEARER_FILE\n')
    expect(printed.out).toContain('url = "<redacted>" # RELAY_STORAGE_URL_FILE\n')
    const both = await relay('config check', { ...AUTH, ...files, RELAY_REVOCATION_BEARER: `other-${SECRET}` })
    expect([both.code, lines(both.err).length >= 1]).toEqual([2, true])
    const wrong = await relay('serve', {
      ...AUTH,
      RELAY_STORAGE_URL: `mysql://u:${SECRET}@h`,
      RELAY_JWT_JWKS_URL: `http://u:${SECRET}@h/`,
    })
    expect([wrong.code, lines(wrong.err).filter((line) => !line.startsWith('warning')).length]).toEqual([2, 2])
    const short = await relay('config check', { ...AUTH, RELAY_REVOCATION_BEARER: SECRET.slice(0, 15) })
    expect([short.code, short.err]).toEqual([2, expect.stringContaining('[auth].revocation_push_bearer: ')])
    expect(JSON.stringify([printed, both, wrong, short])).not.toContain(SECRET.slice(0, 15))
  })

  it('[CFG-7] allowed but probably unintended settings are reported as warnings', async () => {
    file(
      'relay.toml',
      `[auth]\nrevocation_push_bearer = "${SECRET}"\n[server]\ncors_origins = []\n[compat]\neditor_client = true\n`,
    )
    chmodSync(join(cwd, 'relay.toml'), 0o644)
    const checked = await relay('config check', { ...AUTH, RELAY_MAX_WS_PAYLOAD_BYTES: '1000' })
    expect([checked.code, checked.out, lines(checked.err).length]).toEqual([0, 'configuration ok\n', 3])
    for (const line of lines(checked.err)) expect(line).toMatch(/^warning: /)
  })
})

describe('relay serve', () => {
  const env = {
    ...AUTH,
    RELAY_HOST: '127.0.0.1',
    RELAY_PORT: '0',
    RELAY_METRICS_PORT: '0',
    RELAY_MCP_PORT: '0',
    RELAY_REVOCATION_BEARER: SECRET,
    RELAY_JWT_JWKS_URL: '',
  }

  it.each([
    { signal: 'SIGTERM', program: LAUNCHER },
    { signal: 'SIGINT', program: RELAY_PROGRAM },
  ] as const)(
    '[CFG-12] [CFG-13] [MCP-19] [LIFE-28] serve prints only its listeners on stdout, logs only JSON, and exits with 0 at $signal',
    async ({ signal, program }) => {
      await using issuer = await startTestIssuer()
      const { code, out, err } = await relay(
        'serve --data-dir store --region eu --tenancy=dedicated --tenancy-workspace=w',
        { ...env, RELAY_JWT_JWKS_URL: issuer.jwksUrl },
        signal,
        undefined,
        program,
      )
      expect(code).toBe(0)
      expect(lines(out)).toEqual([
        expect.stringMatching(/^main http:\/\/127\.0\.0\.1:\d+$/),
        expect.stringMatching(/^metrics http:\/\/127\.0\.0\.1:\d+\/metrics$/),
        expect.stringMatching(/^mcp http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      ])
      for (const line of lines(err))
        expect(JSON.parse(line)).toMatchObject({ ts: expect.any(String), level: expect.any(String), event: expect.any(String) })
      expect(out + err).not.toContain(SECRET)
      expect(readdirSync(cwd)).toEqual(['store'])
      const token = readFileSync(join(cwd, 'store', 'mcp_token'), 'utf8').trim()
      expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/)
      expect(out + err).not.toContain(token)
      expect(statSync(join(cwd, 'store', 'mcp_token')).mode & 0o777).toBe(0o600)
      expect(statSync(join(cwd, 'store')).mode & 0o777).toBe(0o700)
    },
  )

  it('[OPS-3] [REST-11] local metrics are served on their own loopback listener, without CORS headers, and not on the main one', async () => {
    await using issuer = await startTestIssuer()
    const answers: unknown[] = []
    await relay(
      'serve',
      { ...env, RELAY_HOST: '0.0.0.0', RELAY_JWT_JWKS_URL: issuer.jwksUrl },
      'SIGTERM',
      async ({ main, metrics }) => {
        const status = async (url: string) => (await fetch(url)).status
        const [there, here] = [String(metrics), String(main).replace('0.0.0.0', '127.0.0.1')]
        answers.push(
          await status(there),
          await status(there.replace('/metrics', '/api/docs')),
          await status(there.replace('/metrics', '/health')),
        )
        answers.push(await status(`${here}/metrics`), await status(`${here}/health`), new URL(there).hostname)
        const page = { headers: { origin: 'https://page.example' } }
        for (const url of [there, there.replace('/metrics', '/nowhere')])
          answers.push((await fetch(url, page)).headers.get('access-control-allow-origin'))
      },
    )
    expect(answers).toEqual([200, 404, 404, 404, 200, '127.0.0.1', null, null])
  })

  it('[AUTH-12] [LIFE-28] a signal while serve still waits for keys exits with 0, with nothing bound', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/jwks`
    const asked = new Promise<void>((resolve) => silent.once('request', () => resolve()))
    const { child, ended } = start('serve', { ...env, RELAY_JWT_JWKS_URL: url })
    await asked
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, out: '' })
    silent.closeAllConnections()
    silent.close()
  })

  it('[OPS-13] the log says which program started where, when it begins to stop, and when it has stopped', async () => {
    await using issuer = await startTestIssuer()
    const env = {
      RELAY_JWT_ISSUER: issuer.issuer,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
      RELAY_PORT: '0',
      RELAY_METRICS_PORT: '0',
      RELAY_MCP_ENABLED: 'false',
    }
    const run = await relay('serve', env, 'SIGTERM')
    const log = lines(run.err).map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(log.filter(({ event }) => String(event).startsWith('relay.'))).toEqual([
      expect.objectContaining({
        level: 'info',
        event: 'relay.started',
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        storage: 'sqlite',
        blobs: 'file',
        listeners: lines(run.out),
      }),
      expect.objectContaining({ level: 'info', event: 'relay.stopping' }),
      expect.objectContaining({ level: 'info', event: 'relay.stopped' }),
    ])
  })

  it.each(['serve --data-dir /proc/relay-test', 'restore /proc/relay-test'])(
    '[CFG-12] `relay %s` exits at once with 1 when its data folder cannot be created',
    async (args) => {
      const run = await relay(args, { ...AUTH, RELAY_PORT: '0', RELAY_METRICS_PORT: '0' })
      expect(run).toMatchObject({ code: 1, out: '' })
      expect(run.err).toContain('/proc/relay-test')
    },
  )

  it('[CFG-12] `relay backup` exits at once with 1 when its folder cannot be created', async () => {
    await using issuer = await startTestIssuer()
    const served = await relay('serve', { ...env, RELAY_JWT_JWKS_URL: issuer.jwksUrl }, 'SIGTERM')
    expect(served.code).toBe(0)
    expect(await relay('backup /proc/relay-test')).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining('the folder /proc/relay-test cannot be made: ENOENT'),
    })
  })

  it('[CFG-12] serve with a port in use exits with 1 and prints its message on stderr, nothing on stdout', async () => {
    await using issuer = await startTestIssuer()
    const taken = new URL(issuer.jwksUrl).port
    const { code, out, err } = await relay(`serve --port ${taken}`, { ...env, RELAY_JWT_JWKS_URL: issuer.jwksUrl })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('EADDRINUSE')
  })
})
