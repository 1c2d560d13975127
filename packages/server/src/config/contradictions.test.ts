import { describe, expect, it } from 'vitest'
import { loadConfig } from './load.ts'
import { problemLine } from './problem.ts'

const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks' }
const SECRET = 'x'.repeat(16)
const S3_KEYS = { RELAY_S3_ACCESS_KEY_ID: 'key', RELAY_S3_SECRET_ACCESS_KEY: 'secret' }
const S3_URL = 's3://b?endpoint=https://e.example&region=r'
/** A complete configuration for one of several nodes. */
const NODES = {
  RELAY_STORAGE_URL: 'postgres://h/d',
  RELAY_CLUSTER_SECRET: 'n'.repeat(32),
  RELAY_BUS_URL: 'redis://h',
  RELAY_BLOBS_URL: S3_URL,
  ...S3_KEYS,
}

/** `[section].key: problem` of each problem. */
function refused(env: Record<string, string>): readonly string[] {
  const result = loadConfig({ options: {}, env: { ...AUTH, ...env }, configPath: undefined, cwd: '/nowhere' })
  return result.kind === 'loaded' ? [] : result.problems.map(({ subject }) => subject)
}

describe('contradictions in a configuration', () => {
  it.each([
    ['no issuer', { RELAY_JWT_ISSUER: '' }, ['[auth].issuer']],
    ['no key set', { RELAY_JWT_JWKS_URL: '' }, ['[auth].jwks_url']],
    ['neither issuer nor key set', { RELAY_JWT_ISSUER: '', RELAY_JWT_JWKS_URL: '' }, ['[auth].issuer', '[auth].jwks_url']],
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
    [
      'several relays without all that they need',
      { RELAY_STORAGE_URL: 'postgres://h/d' },
      ['[cluster].secret', '[bus].url', '[blobs].url'],
    ],
    ['several relays without a secret', { ...NODES, RELAY_CLUSTER_SECRET: '' }, ['[cluster].secret']],
    ['several relays without a bus', { ...NODES, RELAY_BUS_URL: 'memory:' }, ['[bus].url']],
    ['several relays with blobs on a disk', { ...NODES, RELAY_BLOBS_URL: 'file:/b' }, ['[blobs].url']],
    ['links of nodes on the main port', { ...NODES, RELAY_CLUSTER_LINK_PORT: '9876' }, ['[cluster].link_port']],
    ['links of nodes on the MCP port', { ...NODES, RELAY_CLUSTER_LINK_PORT: '9877' }, ['[cluster].link_port']],
    ['links of nodes on the metrics port', { ...NODES, RELAY_CLUSTER_LINK_PORT: '9878' }, ['[cluster].link_port']],
    [
      'a third secret of the cluster',
      { RELAY_CLUSTER_SECRET: ['a', 'b', 'c'].map((x) => x.repeat(32)).join(',') },
      ['[cluster].secret'],
    ],
    ['a redis bus beside sqlite', { RELAY_BUS_URL: 'redis://h' }, ['[bus].url']],
    [
      'shared tenancy with a pinned workspace',
      { RELAY_TENANCY_MODE: 'shared', RELAY_TENANCY_WORKSPACE: 'w' },
      ['[tenancy].workspace_id'],
    ],
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
    [
      'blobs in an object store without its keys',
      { RELAY_BLOBS_URL: S3_URL },
      ['[blobs].access_key_id', '[blobs].secret_access_key'],
    ],
    [
      'blobs in an object store without the secret key',
      { RELAY_BLOBS_URL: S3_URL, RELAY_S3_ACCESS_KEY_ID: 'key' },
      ['[blobs].secret_access_key'],
    ],
    ['[CON-2] a console without a client id', { RELAY_CONSOLE_ENABLED: 'yes' }, ['[console].client_id']],
  ])('[CFG-6] %s is refused', (_, env, subjects) => {
    expect(refused(env)).toEqual(subjects)
  })

  it.each([
    ['http keys on localhost', { RELAY_JWT_JWKS_URL: 'http://localhost:1/j' }],
    ['http keys on 127.0.0.1', { RELAY_JWT_JWKS_URL: 'http://127.0.0.1:1/j' }],
    ['http keys on [::1]', { RELAY_JWT_JWKS_URL: 'http://[::1]:1/j' }],
    ['[REF-10] http DOIs on 127.0.0.1', { RELAY_CITATIONS_DOI_RESOLVER: 'http://127.0.0.1:1/csl' }],
    ['[REF-10] https DOIs on a private address', { RELAY_CITATIONS_DOI_RESOLVER: 'https://10.0.0.1/csl' }],
    ['polling with bearer', { RELAY_REVOCATION_POLLING_URL: 'https://p.example', RELAY_REVOCATION_POLLING_BEARER: SECRET }],
    [
      'what nodes need beside a relay that is alone',
      { ...NODES, RELAY_CLUSTER_SINGLE_NODE: 'yes', RELAY_BUS_URL: 'memory:', RELAY_CLUSTER_LINK_PORT: '9876' },
    ],
    ['several relays on postgres', NODES],
    ['two secrets of the cluster', { RELAY_CLUSTER_SECRET: `${'a'.repeat(32)}, ${'b'.repeat(32)}` }],
    ['one relay on postgres', { RELAY_STORAGE_URL: 'postgres://h/d', RELAY_CLUSTER_SINGLE_NODE: 'yes' }],
    ['a redis bus of one relay', { RELAY_BUS_URL: 'redis://h', RELAY_CLUSTER_SINGLE_NODE: 'yes' }],
    ['an encrypted bus', { RELAY_BUS_URL: 'rediss://u:p@h:6380/1', RELAY_CLUSTER_SINGLE_NODE: 'yes' }],
    ['blobs in an object store with its keys', { RELAY_BLOBS_URL: S3_URL, ...S3_KEYS }],
    ['keys of an object store beside blobs on the disk', S3_KEYS],
    ['a public MCP beside any MCP port', { RELAY_MCP_PORT: '9876', RELAY_MCP_EXPOSE: 'public' }],
    ['MCP switched off beside any MCP port', { RELAY_MCP_PORT: '9876', RELAY_MCP_ENABLED: '0' }],
    ['public metrics beside any metrics port', { RELAY_METRICS_PORT: '9876', RELAY_METRICS_EXPOSE: 'public' }],
    ['port 0 on several listeners', { RELAY_PORT: '0', RELAY_MCP_PORT: '0', RELAY_METRICS_PORT: '0' }],
    ['local documents on a local relay', { RELAY_MCP_LOCAL_DOCUMENTS_DIR: '/d' }],
    ['no burst where the rate is unlimited', { RELAY_WRITES_PER_SEC: '0', RELAY_WRITES_BURST: '0' }],
    ['[CFG-8] an unlimited burst of reads', { RELAY_READS_BURST: '0' }],
    [
      '[AUTH-13] http keys in a private network',
      { RELAY_JWT_JWKS_URL: 'http://auth:8080/jwks', RELAY_JWT_ALLOW_HTTP_JWKS: 'yes' },
    ],
  ])('[CFG-6] %s is allowed', (_, env) => {
    expect(refused(env)).toEqual([])
  })

  it('[CFG-6] a contradiction with a value that is already invalid is not reported', () => {
    expect(refused({ RELAY_STORAGE_URL: 'mysql://h/d', RELAY_BUS_URL: 'redis:' })).toEqual(['[storage].url', '[bus].url'])
  })

  it('[CFG-6] contradictions are reported together with other problems and name the value at fault', () => {
    const result = loadConfig({
      options: { '--port': 'x' },
      env: { ...AUTH, RELAY_REVOCATION_POLLING_URL: 'https://p.example' },
      configPath: undefined,
      cwd: '/nowhere',
    })
    expect(result.kind === 'refused' && result.problems.map(problemLine)).toEqual([
      '--port: [server].port: not an integer (got x, allowed 1 to 65535, 0 = free port)',
      'default: [auth].revocation_polling_bearer: needed by [auth].revocation_polling_url (got nothing, allowed both or none)',
    ])
  })
})

describe('forms of addresses', () => {
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
        's3://b?endpoint=https://e&region=r&public_endpoint=',
        's3://b?endpoint=https://e&region=r&public_endpoint=objects.example',
        's3://b?endpoint=https://e&region=r&public_endpoint=https://o.example?a=b',
      ],
    ],
    ['RELAY_BUS_URL', ['memory', 'redis:', 'redis://', 'rediss:h', 'amqp://h']],
    [
      'RELAY_CLUSTER_LINK_URL',
      [
        '10.0.0.1:9879',
        'ws://10.0.0.1',
        'ws://h:9879/link',
        'ws://h:9879?x',
        'ws://u@h:9879',
        'wss://h:9879',
        'http://h:1',
        'ws://:1',
      ],
    ],
    ['RELAY_CLUSTER_SECRET', ['x'.repeat(31), `${'x'.repeat(32)},${'y'.repeat(31)}`]],
    ['RELAY_DOCS_URL', ['docs', 'ftp://h', 'https:', 'javascript:alert(1)']],
    ['RELAY_SHARE_LINK_BASE', ['https://h/#x', '/share']],
    ['RELAY_CONSOLE_PATH', ['/', 'console', '/console/', '/a//b', '/a/../b', '/:file', '/api/x', '/ws', '/share', '/a b']],
    [
      'RELAY_CONSOLE_AUTHORIZE_PARAMS',
      ['client_id=x', 'a=1&redirect_uri=https://evil.example', 'state=1', 'scope=all', '=x', 'a=1&a=2', 'a b=c', '"=1'],
    ],
    [
      'RELAY_CONSOLE_CONNECT_ORIGINS',
      ['*', 'https://*.example', 'https://a/', 'https://a;script-src', "https://a'", 'ws://a', 'javascript://a', 'https://u@a'],
    ],
    ['RELAY_CORS_ORIGINS', ['example.org', 'https://a/', 'https://a/path', 'https://u@a']],
    ['RELAY_BLOB_INGEST_ALLOWED_HOSTS', ['https://a', '*', 'a.*.b', 'a/b', 'a:1', '..']],
  ])('[CFG-10] %s refuses values of another form', (name, values) => {
    for (const value of values) expect([value, refused({ ...S3_KEYS, [name]: value }).length]).toEqual([value, 1])
  })

  it.each([
    ['RELAY_STORAGE_URL', ['sqlite:x', 'sqlite:/a b/c.db', 'sqlite::memory:']],
    [
      'RELAY_BLOBS_URL',
      [
        'file:x',
        's3://b?endpoint=https://e&region=r',
        's3://b/p?endpoint=http://e:9000&region=r&path_style=true',
        's3://b?endpoint=http://minio:9000&public_endpoint=https://objects.example&region=r',
      ],
    ],
    ['RELAY_CLUSTER_LINK_URL', ['ws://10.0.0.1:9879', 'ws://relay-a:9879/', 'ws://[fd00::1]:9879']],
    ['RELAY_CONSOLE_PATH', ['/console', '/documents/write', '/Write_2']],
    ['RELAY_CONSOLE_AUTHORIZE_PARAMS', ['audience=service-relay', 'audience=https%3A%2F%2Fapi&prompt=login']],
    ['RELAY_CONSOLE_CONNECT_ORIGINS', ['https://a.example', 'http://127.0.0.1:9000,https://b.example:8443']],
    ['RELAY_CORS_ORIGINS', ['*', 'https://a.example,http://localhost:3000', 'tauri://localhost']],
    ['RELAY_BLOB_INGEST_ALLOWED_HOSTS', ['a.example', '*.a.example', 'localhost']],
  ])('[CFG-10] %s accepts values of its form', (name, values) => {
    for (const value of values) expect([value, refused({ ...S3_KEYS, [name]: value })]).toEqual([value, []])
  })
})
