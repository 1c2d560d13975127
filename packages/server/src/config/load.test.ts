import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Loaded, loadConfig } from './load.ts'
import { problemLine } from './problem.ts'
import { initialFile, printedSettings, settingsJson } from './render.ts'
import { CONFIG_KEYS } from './schema.ts'

const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks' }
const SECRET = 'planted-secret-value-long-enough-for-nodes'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'relay-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

interface Given {
  file?: string
  mode?: number
  env?: Record<string, string>
  options?: Record<string, string>
  configPath?: string
}

/** Loads with the auth triple set, so that only what a test is about can be wrong. */
function load({ file, mode, env, options, configPath }: Given): Loaded {
  if (file !== undefined) writeFileSync(join(cwd, 'relay.toml'), file, { mode: mode ?? 0o600 })
  return loadConfig({ options: options ?? {}, env: { ...AUTH, ...env }, configPath, cwd })
}

function loaded(given: Given) {
  const result = load(given)
  if (result.kind === 'refused') throw new Error(result.problems.map(problemLine).join('\n'))
  return result
}

function lines(given: Given): readonly string[] {
  const result = load(given)
  return result.kind === 'refused' ? result.problems.map(problemLine) : []
}

describe('precedence of sources', () => {
  it('[CFG-3] the command line overrides the environment, the environment the file, the file the default', () => {
    const file = '[server]\nport = 1111\nhost = "from-file"\nregion = "file"\n'
    const { config, settings } = loaded({
      file,
      env: { RELAY_PORT: '2222', RELAY_HOST: 'from-env' },
      options: { '--port': '3333' },
    })
    expect([config.server.port, config.server.host, config.server.region, config.server.authTimeoutSecs]).toEqual([
      3333,
      'from-env',
      'file',
      10,
    ])
    const sources = Object.fromEntries(
      settings.filter(({ entry }) => entry.section === 'server').map(({ entry, source }) => [entry.name, source]),
    )
    expect(sources).toMatchObject({ port: '--port', host: 'RELAY_HOST', region: 'relay.toml', auth_timeout_secs: 'default' })
  })

  it('[CFG-3] a missing default file is a warning, a missing named file an error', () => {
    expect(loaded({}).warnings).toEqual([expect.stringMatching(/^relay\.toml: not found/)])
    expect(lines({ configPath: 'other.toml' })).toEqual(['other.toml: file not found (got nothing, allowed a readable file)'])
  })

  it('[CFG-3] an empty environment variable counts as unset', () =>
    expect(loaded({ env: { RELAY_PORT: '', RELAY_REGION: '', RELAY_BUS_URL_FILE: '' } }).config.server.port).toBe(9876))

  it.each([
    ['1', true],
    ['true', true],
    ['yes', true],
    ['on', true],
    ['ON', true],
    ['0', false],
    ['false', false],
    ['no', false],
    ['off', false],
  ])('[CFG-3] the boolean %s is read as %s', (word, value) => {
    expect(loaded({ env: { RELAY_ENFORCE_PRIVATE_BLOBS: word } }).config.permissions.enforcePrivateBlobs).toBe(value)
  })

  it('[CFG-3] any other word is refused as a boolean', () => {
    expect(lines({ env: { RELAY_MCP_ENABLED: 'maybe' } })).toEqual([
      'RELAY_MCP_ENABLED: [mcp].enabled: not a boolean (got maybe, allowed 1, true, yes, on, 0, false, no, off)',
    ])
  })

  it('[CFG-3] lists are comma-separated in the environment and arrays in the file', () => {
    const env = loaded({ env: { RELAY_BLOB_INGEST_ALLOWED_HOSTS: 'a.example, *.b.example,' } })
    expect(env.config.tenancy.limits.blobIngestAllowedHosts).toEqual(['a.example', '*.b.example'])
    expect(loaded({ file: '[server]\ncors_origins = ["https://a.example"]' }).config.server.corsOrigins).toEqual([
      'https://a.example',
    ])
    expect(loaded({ file: '[server]\ncors_origins = []' }).config.server.corsOrigins).toEqual([])
  })

  it('[CFG-1] the file is relay.toml, variables start with RELAY_, and the audience is service-relay', () => {
    expect(CONFIG_KEYS.every(({ key }) => key.env.startsWith('RELAY_'))).toBe(true)
    expect(loaded({ file: '[server]\nport = 1' }).settings.find(({ entry }) => entry.name === 'port')?.source).toBe('relay.toml')
    expect(loaded({}).config.auth.audience).toBe('service-relay')
  })
})

describe('secrets', () => {
  it('[CFG-4] every secret can also be read from the file that its variable names', () => {
    for (const { key, section, name } of CONFIG_KEYS.filter(({ key }) => key.secret === true)) {
      const value = name === 'url' ? (section === 'bus' ? 'memory:' : 'sqlite:x.db') : SECRET
      writeFileSync(join(cwd, 'secret'), `${value}\n`, { mode: 0o600 })
      const polling: Record<string, string> =
        name === 'revocation_polling_bearer' ? { RELAY_REVOCATION_POLLING_URL: 'https://p.example' } : {}
      const { settings } = loaded({ env: { [`${key.env}_FILE`]: 'secret', ...polling } })
      const setting = settings.find(({ entry }) => entry.key === key)
      expect([setting?.value, setting?.source]).toEqual([key.kind === 'list' ? [value] : value, `${key.env}_FILE`])
    }
  })

  it('[CFG-4] a variable and its file variable together are an error, and the value of neither is shown', () => {
    writeFileSync(join(cwd, 'secret'), SECRET)
    const [line, ...rest] = lines({ env: { RELAY_REVOCATION_BEARER: SECRET, RELAY_REVOCATION_BEARER_FILE: 'secret' } })
    expect(rest).toEqual([])
    expect(line).toMatch(/^RELAY_REVOCATION_BEARER: \[auth\]\.revocation_push_bearer: both .* are set/)
    expect(line).not.toContain(SECRET)
  })

  it.each([
    ['missing', undefined, 'file not found'],
    ['empty', '', 'file is empty'],
    ['huge', 'x'.repeat(70_000), 'file above 65536 bytes'],
  ])('[CFG-4] a %s secret file is an error', (_, content, problem) => {
    if (content !== undefined) writeFileSync(join(cwd, 'secret'), content)
    expect(lines({ env: { RELAY_REVOCATION_BEARER_FILE: 'secret' } })).toEqual([expect.stringContaining(problem)])
  })

  it('[CFG-4] no secret appears in an error text, wherever and however wrong it was given', () => {
    const files = [
      `[auth]\nrevocation_push_bearer = ["${SECRET}"]`,
      `[auth]\nrevocation_push_bearr = "${SECRET}"`,
      `[storage]\nurl = "mysql://u:${SECRET}@h/d"`,
      `[bus]\nurl = "redis//${SECRET}"`,
      `[auth]\nrevocation_push_bearer = ${SECRET}`,
      `[auth]\nrevocation_push_bearer = "${SECRET}`,
      `[auth]\njwks_url = "ftp://u:${SECRET}@h/"`,
      `[auth]\nrevocation_polling_bearer = "${SECRET}"`,
    ]
    for (const file of files) {
      const found = lines({ file })
      expect(found.length).toBeGreaterThan(0)
      expect(found.join('\n')).not.toContain(SECRET)
    }
  })

  it('[CFG-4] printed settings show secrets as <redacted>, and URLs without credentials', () => {
    const { settings } = loaded({
      env: {
        RELAY_REVOCATION_BEARER: SECRET,
        RELAY_STORAGE_URL: `postgres://u:${SECRET}@h/d`,
        RELAY_CLUSTER_SINGLE_NODE: 'true',
        RELAY_S3_SECRET_ACCESS_KEY: SECRET,
        RELAY_DOCS_URL: `https://u:${SECRET}@docs.example/`,
      },
    })
    const text = printedSettings(settings)
    expect(text + settingsJson(settings)).not.toContain(SECRET)
    expect(text).toContain('revocation_push_bearer = "<redacted>" # RELAY_REVOCATION_BEARER')
    expect(text).toContain('docs_url = "https://<redacted>@docs.example/"')
  })
})

describe('problems of a configuration', () => {
  it('[CFG-5] all problems are reported at once, one line each, in the documented form', () => {
    const found = lines({
      file: '[server]\nport = "x"\nprot = 1\n\n[sever]\nhost = "h"\n\n[log]\nlevel = "loud"\n',
      env: { RELAY_COMMIT_DELAY_MS: '51', RELAY_JWT_ISSUER: '' },
      options: { '--tenancy': 'both' },
    })
    expect(found).toEqual([
      'relay.toml:3: [server].prot: unknown key, the nearest known one is [server].port (got prot, allowed [server].port)',
      'relay.toml:5: [sever]: unknown section, the nearest known one is [server] (got sever, allowed [server])',
      'relay.toml:2: [server].port: not an integer (got "x", allowed 1 to 65535, 0 = free port)',
      'RELAY_COMMIT_DELAY_MS: [storage].commit_delay_ms: out of range (got 51, allowed 1 to 50, 0 = at once)',
      'default: [auth].issuer: not set, and the relay needs a value (got nothing, allowed the `iss` of your tokens, e.g. https://id.example; in the file or in RELAY_JWT_ISSUER)',
      '--tenancy: [tenancy].mode: not one of the choices (got both, allowed dedicated, shared)',
      'relay.toml:9: [log].level: not one of the choices (got "loud", allowed debug, info, warn, error)',
    ])
  })

  it('[CFG-5] an empty value of a required key is reported differently from a missing key, with its line and the allowed values', () => {
    const env = { RELAY_JWT_ISSUER: '', RELAY_JWT_JWKS_URL: '' }
    expect(lines({ file: '[server]\nhost = ""\n\n[auth]\nissuer = ""\n', env })).toEqual([
      'relay.toml:2: [server].host: empty, and the relay needs a value (got "", allowed e.g. 0.0.0.0, 127.0.0.1, :: or localhost)',
      'relay.toml:5: [auth].issuer: empty, and the relay needs a value (got "", allowed the `iss` of your tokens, e.g. https://id.example)',
      'default: [auth].jwks_url: not set, and the relay needs a value (got nothing, allowed https://… or http://…; in the file or in RELAY_JWT_JWKS_URL)',
    ])
  })

  it('[CFG-5] text from the file is quoted in a problem, so that it differs from a number', () => {
    expect(lines({ file: '[mcp]\nport = "9877"\n' })[0]).toContain('[mcp].port: not an integer (got "9877", allowed')
    expect(lines({ env: { RELAY_MCP_PORT: 'many' } })[0]).toContain('not an integer (got many, allowed')
  })

  it.each([
    ['https://id.example/realms/a', true],
    ['http://localhost:8080/', true],
    ['accounts.example', true],
    ['urn:example:issuer', true],
    ['not a url', false],
    ['https://', false],
    ['/realms/a', false],
  ])('[CFG-6] the issuer %j is accepted: %s', (issuer, isTaken) => {
    const found = lines({ env: { RELAY_JWT_ISSUER: issuer } })
    expect(found).toEqual(isTaken ? [] : [expect.stringContaining('[auth].issuer: neither a URL nor a host name')])
  })

  it.each([
    ['postgres://relay@db.example:5432/relay?sslmode=require', true],
    ['postgres:///relay?host=/run/postgresql', true],
    ['postgres://relay:hunter2@db.example/relay', false],
    ['postgres://relay@db.example/relay?password=hunter2', false],
    ['postgres://relay:12/hunter2@db.example/relay', false],
  ])('[CFG-4] a storage URL is printed when it contains no password: %s, %s', (url, isShown) => {
    const { settings } = loaded({ env: { RELAY_STORAGE_URL: url, RELAY_CLUSTER_SINGLE_NODE: 'true' } })
    expect(printedSettings(settings).includes(url.replace('//relay@', '//<redacted>@'))).toBe(isShown)
    expect(printedSettings(settings)).not.toContain('hunter2')
  })

  it('[CFG-5] an unknown name similar to none is answered with the existing names, without a guess', () => {
    const found = lines({ file: '[auth]\nalgorithm = "RS256"\n\n[zzz]\nx = 1\n' })
    expect(found[0]).toMatch(/\[auth\]\.algorithm: unknown key \(got algorithm, allowed issuer, jwks_url, /)
    expect(found[1]).toMatch(/\[zzz\]: unknown section \(got zzz, allowed \[server\], \[storage\], /)
  })

  it('[CFG-5] a key in the wrong table is reported with the table where it belongs', () => {
    expect(lines({ file: '[tenancy]\nmax_doc_bytes = 1\n' })[0]).toContain(
      'the nearest known one is [tenancy.limits].max_doc_bytes',
    )
    expect(lines({ file: 'port = 1\n' })[0]).toMatch(
      /^relay\.toml:1: \[port\]: unknown section, the nearest known one is \[server\]\.port/,
    )
  })

  it('[CFG-5] a bad value is reported even when another source overrides it', () => {
    expect(lines({ file: '[server]\nport = 70000\n', env: { RELAY_PORT: '1' } })).toEqual([
      'relay.toml:2: [server].port: out of range (got 70000, allowed 1 to 65535, 0 = free port)',
    ])
  })

  it('[CFG-5] hostile names and values are printed on one short line', () => {
    const found = lines({ file: `[server]\n"a\\nb\\u001b[31m" = 1\nregion = "x\\r\\ny"\nhost = "${'h'.repeat(5000)}\\u0007"\n` })
    expect(found).toHaveLength(3)
    for (const line of found) {
      expect(line).not.toMatch(/\p{Cc}/u)
      expect(line.length).toBeLessThan(500)
    }
  })

  it('[CFG-5] keys that an unreadable file may have set are not reported as missing or contradictory', () => {
    const found = lines({
      file: '[auth]\nissuer = "https://i.example"\n[auth]\n',
      env: { RELAY_JWT_ISSUER: '', RELAY_TENANCY_MODE: 'shared', RELAY_TENANCY_WORKSPACE: 'w', RELAY_PORT: 'x' },
    })
    expect(found.map((line) => line.split(':')[0])).toEqual(['relay.toml', 'RELAY_PORT'])
  })

  it('[CFG-5] a similar name in the environment is a warning, other RELAY_ variables are ignored', () => {
    const { warnings } = loaded({ env: { RELAY_PROT: '1', RELAY_SERVICE_HOST_OF_ORCHESTRATOR: 'x' } })
    expect(warnings.filter((line) => line.startsWith('RELAY_'))).toEqual([
      'RELAY_PROT: unknown variable, the nearest known one is RELAY_PORT',
    ])
  })
})

describe('warnings', () => {
  it('[CFG-7] a world-readable file with secrets causes a warning', () => {
    writeFileSync(join(cwd, 'secret'), SECRET)
    chmodSync(join(cwd, 'secret'), 0o644)
    const file = `[auth]\nrevocation_push_bearer = "${SECRET}"\n`
    expect(loaded({ env: { RELAY_S3_SECRET_ACCESS_KEY_FILE: 'secret' } }).warnings).toContainEqual(
      expect.stringContaining('readable by everybody'),
    )
    expect(loaded({ file, mode: 0o644 }).warnings).toContainEqual(expect.stringMatching(/^relay\.toml: holds a secret/))
    chmodSync(join(cwd, 'relay.toml'), 0o600)
    expect(loaded({}).warnings).toEqual([])
  })

  it('[CFG-7] a world-readable file with empty or default secret keys causes no warning', () => {
    const file = '[auth]\nrevocation_push_bearer = ""\n[bus]\nurl = "memory:"\n[storage]\nurl = "sqlite:a.db"\n'
    expect(loaded({ file, mode: 0o644 }).warnings).toEqual([])
  })

  it('[CFG-7] allowed but probably unintended settings cause warnings', () => {
    const warned = (env: Record<string, string>, file = '') => loaded({ env, file }).warnings.map((line) => line.split(':')[0])
    expect(warned({ RELAY_TENANCY_MODE: 'shared' })).toEqual(['[tenancy].mode'])
    expect(warned({ RELAY_TENANCY_MODE: 'shared', RELAY_REVOCATION_BEARER: 'x'.repeat(16) })).toEqual([])
    expect(warned({ RELAY_MAX_WS_PAYLOAD_BYTES: '262143' })).toEqual(['[tenancy.limits].max_ws_payload_bytes'])
    expect(warned({ RELAY_STORAGE_URL: 'postgres://h/d', RELAY_CLUSTER_SINGLE_NODE: '1' })).toEqual([])
    expect(warned({ RELAY_COMPAT_EDITOR_CLIENT: '1' }, '[server]\ncors_origins = []')).toEqual(['[compat].editor_client'])
    expect(warned({ RELAY_COMPAT_EDITOR_CLIENT: '1' })).toEqual([])
  })
})

describe('the typed configuration', () => {
  it('[CFG-8] 0 means unlimited for rates, quota, editors, document size and cache, and is read as null', () => {
    const names = [
      'WRITES_PER_SEC',
      'READS_PER_SEC',
      'STORAGE_QUOTA_BYTES',
      'MAX_EDITORS_PER_WORKSPACE',
      'MAX_DOC_BYTES',
      'DOC_CACHE_MAX_BYTES',
    ]
    const { config } = loaded({ env: Object.fromEntries(names.map((name) => [`RELAY_${name}`, '0'])) })
    const { limits } = config.tenancy
    expect([
      limits.writesPerSec,
      limits.readsPerSec,
      limits.storageQuotaBytes,
      limits.maxEditorsPerWorkspace,
      limits.maxDocBytes,
    ]).toEqual(Array(5).fill(null))
    expect(config.storage.docCacheMaxBytes).toBeNull()
    expect(loaded({ env: { RELAY_MAX_DOC_BYTES: '7' } }).config.tenancy.limits.maxDocBytes).toBe(7)
  })

  it('[CFG-8] port 0 means a free port for four keys, which may all have it, and is refused elsewhere', () => {
    const zero = CONFIG_KEYS.filter(({ key }) => key.kind === 'integer').map((entry) => {
      const rates = { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' }
      return [entry.name, load({ env: { ...rates, [entry.key.env]: '0' } }).kind] as const
    })
    expect(zero.filter(([, kind]) => kind === 'refused').map(([name]) => name)).toEqual([
      'auth_timeout_secs',
      'max_connections',
      'max_unauthenticated_sockets',
      'ws_buffer_bytes',
      'presign_ttl_secs',
      'revocation_polling_interval_seconds',
      'undo_bytes',
      'blob_url_ttl_secs',
      'keep_days',
      'max_ws_connections_per_workspace',
      'max_ws_payload_bytes',
      'max_blob_bytes',
      'max_concurrent_blob_uploads',
      'max_config_bytes',
      'ring',
      'interval_secs',
    ])
  })

  it('[CFG-8] integers are decimal, not negative and at most 2^53-1', () => {
    for (const bad of ['-1', '1.5', '1e3', '0x10', ' ', '9007199254740992', '99999999999999999999', '१']) {
      expect(lines({ env: { RELAY_WS_BUFFER_BYTES: bad } })).toHaveLength(1)
    }
    expect(loaded({ env: { RELAY_WS_BUFFER_BYTES: '9007199254740991' } }).config.server.wsBufferBytes).toBe(9007199254740991)
    for (const bad of [
      '-1',
      '1.5',
      '1e400',
      'nan',
      'inf',
      '9007199254740992',
      '99999999999999999999',
      'true',
      '"1"',
      '[1]',
      '2026-01-01',
    ]) {
      expect(lines({ file: `[server]\nws_buffer_bytes = ${bad}\n` })).toHaveLength(1)
    }
  })

  it('[CFG-10] derived defaults follow data_dir and tenancy', () => {
    const dedicated = loaded({ env: { RELAY_DATA_DIR: '/var/relay' } }).config
    expect([dedicated.storage.url, dedicated.blobs.url, dedicated.tenancy.workspaceId]).toEqual([
      'sqlite:/var/relay/relay.db',
      'file:/var/relay/blobs',
      'default',
    ])
    expect(loaded({ env: { RELAY_TENANCY_MODE: 'shared' } }).config.tenancy.workspaceId).toBeNull()
    expect(loaded({ env: { RELAY_TENANCY_WORKSPACE: 'w1' } }).config.tenancy.workspaceId).toBe('w1')
  })

  it('[CFG-9] the file of relay init has every key with exactly the defaults', () => {
    const file = initialFile()
    const fromFile = loaded({ file })
    const fromDefaults = loadConfig({ options: {}, env: AUTH, configPath: undefined, cwd: join(cwd, 'nowhere') })
    expect(fromDefaults.kind === 'loaded' && fromFile.config).toEqual(fromDefaults.kind === 'loaded' && fromDefaults.config)
    const sections = file.split(/^\[/m).slice(1)
    expect(
      sections.flatMap((text) => [...text.matchAll(/^([a-z_]+) = /gm)].map((match) => `[${text.split(']')[0]}].${match[1]}`)),
    ).toEqual(CONFIG_KEYS.map(({ label }) => label))
  })

  it('[CFG-10] compat editor_client is off by default', () => expect(loaded({}).config.compat.editorClient).toBe(false))
})
