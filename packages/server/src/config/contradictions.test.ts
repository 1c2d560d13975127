import { describe, expect, it } from 'vitest'
import { loadConfig } from './load.ts'
import { problemLine } from './problem.ts'

const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks' }
const SECRET = 'x'.repeat(16)

/** `[section].key: problem` of each problem. */
function refused(env: Record<string, string>): readonly string[] {
  const result = loadConfig({ options: {}, env: { ...AUTH, ...env }, configPath: undefined, cwd: '/nowhere' })
  return result.kind === 'loaded' ? [] : result.problems.map(({ subject }) => subject)
}

describe('what is refused', () => {
  it.each([
    ['no issuer', { RELAY_JWT_ISSUER: '' }, ['[auth].issuer']],
    ['no key set', { RELAY_JWT_JWKS_URL: '' }, ['[auth].jwks_url']],
    ['neither', { RELAY_JWT_ISSUER: '', RELAY_JWT_JWKS_URL: '' }, ['[auth].issuer', '[auth].jwks_url']],
    ['http keys elsewhere', { RELAY_JWT_JWKS_URL: 'http://issuer.example/jwks' }, ['[auth].jwks_url']],
    ['http keys on a name like localhost', { RELAY_JWT_JWKS_URL: 'http://localhost.example/jwks' }, ['[auth].jwks_url']],
    ['http keys on a host with localhost as user', { RELAY_JWT_JWKS_URL: 'http://localhost@evil.example/' }, ['[auth].jwks_url']],
    ['polling without bearer', { RELAY_REVOCATION_POLLING_URL: 'https://p.example' }, ['[auth].revocation_polling_bearer']],
    ['a push bearer of 15 characters', { RELAY_REVOCATION_BEARER: 'x'.repeat(15) }, ['[auth].revocation_push_bearer']],
    ['bearer without polling', { RELAY_REVOCATION_POLLING_BEARER: SECRET }, ['[auth].revocation_polling_url']],
    [
      'http polling elsewhere',
      { RELAY_REVOCATION_POLLING_URL: 'http://p.example', RELAY_REVOCATION_POLLING_BEARER: SECRET },
      ['[auth].revocation_polling_url'],
    ],
    ['[REF-10] http DOIs elsewhere', { RELAY_CITATIONS_DOI_RESOLVER: 'http://resolver.example' }, ['[citations].doi_resolver']],
    ['postgres with memory', { RELAY_STORAGE_URL: 'postgres://h/d' }, ['[bus].url']],
    ['sqlite with redis', { RELAY_BUS_URL: 'redis://h' }, ['[bus].url']],
    ['shared with a workspace', { RELAY_TENANCY_MODE: 'shared', RELAY_TENANCY_WORKSPACE: 'w' }, ['[tenancy].workspace_id']],
    ['MCP on the main port', { RELAY_MCP_PORT: '9876' }, ['[mcp].port']],
    ['metrics on the main port', { RELAY_METRICS_PORT: '9876' }, ['[metrics].port']],
    ['metrics on the MCP port', { RELAY_METRICS_PORT: '9877' }, ['[metrics].port']],
    [
      '[LOCAL-1] local documents in public',
      { RELAY_MCP_LOCAL_DOCUMENTS_DIR: '/d', RELAY_MCP_EXPOSE: 'public' },
      ['[mcp].local_documents_dir'],
    ],
    [
      '[LOCAL-1] local documents for everybody',
      { RELAY_MCP_LOCAL_DOCUMENTS_DIR: '/d', RELAY_TENANCY_MODE: 'shared' },
      ['[mcp].local_documents_dir'],
    ],
    ['writes without burst', { RELAY_WRITES_BURST: '0' }, ['[tenancy.limits].writes_burst']],
    ['reads without burst', { RELAY_READS_BURST: '0' }, ['[tenancy.limits].reads_burst']],
  ])('[CFG-6] %s', (_, env, subjects) => {
    expect(refused(env)).toEqual(subjects)
  })

  it.each([
    ['http keys on localhost', { RELAY_JWT_JWKS_URL: 'http://localhost:1/j' }],
    ['http keys on 127.0.0.1', { RELAY_JWT_JWKS_URL: 'http://127.0.0.1:1/j' }],
    ['http keys on [::1]', { RELAY_JWT_JWKS_URL: 'http://[::1]:1/j' }],
    ['[REF-10] http DOIs on 127.0.0.1', { RELAY_CITATIONS_DOI_RESOLVER: 'http://127.0.0.1:1/csl' }],
    ['[REF-10] https DOIs on a private address', { RELAY_CITATIONS_DOI_RESOLVER: 'https://10.0.0.1/csl' }],
    ['polling with bearer', { RELAY_REVOCATION_POLLING_URL: 'https://p.example', RELAY_REVOCATION_POLLING_BEARER: SECRET }],
    ['postgres with memory alone', { RELAY_STORAGE_URL: 'postgres://h/d', RELAY_CLUSTER_SINGLE_NODE: 'yes' }],
    ['postgres with redis', { RELAY_STORAGE_URL: 'postgres://h/d', RELAY_BUS_URL: 'redis://h' }],
    ['sqlite with redis alone', { RELAY_BUS_URL: 'redis://h', RELAY_CLUSTER_SINGLE_NODE: 'yes' }],
    ['a public MCP ignores its port', { RELAY_MCP_PORT: '9876', RELAY_MCP_EXPOSE: 'public' }],
    ['no MCP needs no port', { RELAY_MCP_PORT: '9876', RELAY_MCP_ENABLED: '0' }],
    ['public metrics ignore their port', { RELAY_METRICS_PORT: '9876', RELAY_METRICS_EXPOSE: 'public' }],
    ['free ports do not collide', { RELAY_PORT: '0', RELAY_MCP_PORT: '0', RELAY_METRICS_PORT: '0' }],
    ['local documents on a local relay', { RELAY_MCP_LOCAL_DOCUMENTS_DIR: '/d' }],
    ['no burst where the rate is unlimited', { RELAY_WRITES_PER_SEC: '0', RELAY_WRITES_BURST: '0' }],
  ])('[CFG-6] allowed: %s', (_, env) => {
    expect(refused(env)).toEqual([])
  })

  it('[CFG-6] a contradiction is not reported over a value that is already wrong', () => {
    expect(refused({ RELAY_STORAGE_URL: 'mysql://h/d', RELAY_BUS_URL: 'redis://h' })).toEqual(['[storage].url'])
  })

  it('[CFG-6] contradictions come together with other problems and name the value at fault', () => {
    const result = loadConfig({
      options: { '--port': 'x' },
      env: { ...AUTH, RELAY_WRITES_BURST: '0' },
      configPath: undefined,
      cwd: '/nowhere',
    })
    expect(result.kind === 'refused' && result.problems.map(problemLine)).toEqual([
      '--port: [server].port: not an integer (got x, allowed 1 to 65535, 0 = free port)',
      'RELAY_WRITES_BURST: [tenancy.limits].writes_burst: a bucket of no size admits nothing (got 0, allowed 1 or more, or [tenancy.limits].writes_per_sec = 0)',
    ])
  })
})

describe('addresses', () => {
  it.each([
    ['RELAY_STORAGE_URL', ['sqlite:', 'sqlite', 'postgres:', 'mysql://h/d', 'relay.db', 'http://h']],
    [
      'RELAY_BLOBS_URL',
      [
        'file:',
        's3://',
        's3://b',
        's3://b?endpoint=x&region=r',
        's3://b?endpoint=https://e',
        's3://b?endpoint=https://e&region=r&acl=x',
      ],
    ],
    ['RELAY_BUS_URL', ['memory', 'redis:', 'redis://', 'amqp://h']],
    ['RELAY_DOCS_URL', ['docs', 'ftp://h', 'https:', 'javascript:alert(1)']],
    ['RELAY_SHARE_LINK_BASE', ['https://h/#x', '/share']],
    ['RELAY_CORS_ORIGINS', ['example.org', 'https://a/', 'https://a/path', 'https://u@a']],
    ['RELAY_BLOB_INGEST_ALLOWED_HOSTS', ['https://a', '*', 'a.*.b', 'a/b', 'a:1', '..']],
  ])('[CFG-10] %s refuses what has another form', (name, values) => {
    for (const value of values) expect([value, refused({ [name]: value }).length]).toEqual([value, 1])
  })

  it.each([
    ['RELAY_STORAGE_URL', ['sqlite:x', 'sqlite:/a b/c.db', 'sqlite::memory:']],
    [
      'RELAY_BLOBS_URL',
      ['file:x', 's3://b?endpoint=https://e&region=r', 's3://b/p?endpoint=http://e:9000&region=r&path_style=true'],
    ],
    ['RELAY_CORS_ORIGINS', ['*', 'https://a.example,http://localhost:3000', 'tauri://localhost']],
    ['RELAY_BLOB_INGEST_ALLOWED_HOSTS', ['a.example', '*.a.example', 'localhost']],
  ])('[CFG-10] %s takes what it should', (name, values) => {
    for (const value of values) expect([value, refused({ [name]: value })]).toEqual([value, []])
  })
})
