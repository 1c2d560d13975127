import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../packages/server/src/config/load.ts'
import { CONFIG_KEYS } from '../packages/server/src/config/schema.ts'

const DEPLOY = join(import.meta.dirname, '../deploy')
const K8S = join(DEPLOY, 'k8s')
const read = (...path: readonly string[]) => readFileSync(join(DEPLOY, ...path), 'utf8')

interface Manifest {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: { readonly name?: string }
  readonly [member: string]: unknown
}

/** Returns the documents of a YAML file. Throws with file and line when one is not YAML. */
function manifestsIn(file: string): readonly Manifest[] {
  return parseAllDocuments(read('k8s', file)).map((document) => {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`)
    return document.toJS() as Manifest
  })
}

const files = readdirSync(K8S).filter((name) => name.endsWith('.yaml'))
const manifests = files.flatMap((file) => manifestsIn(file))
const manifest = (kind: string) => manifests.find((each) => each.kind === kind) as Manifest

/** Returns the first value at a path of member names and array positions. */
function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value)
}

const NAMES = new Set(CONFIG_KEYS.flatMap(({ key }) => [key.env, `${key.env}_FILE`]))
const unknownNames = (names: readonly string[]) => names.filter((name) => name.startsWith('RELAY_') && !NAMES.has(name))

/** Returns `[section].key` of each problem that a relay would report at its start. */
function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const loaded = loadConfig({ options: {}, env, configPath: undefined, cwd: '/nowhere' })
  return loaded.kind === 'loaded' ? [] : loaded.problems.map(({ subject }) => subject)
}

describe('the Kubernetes manifests', () => {
  it('each is YAML with apiVersion, kind and name, and kustomization.yaml names them all', () => {
    expect(manifests.length).toBeGreaterThan(4)
    for (const { apiVersion, kind, metadata } of manifests) {
      expect([typeof apiVersion, typeof kind]).toEqual(['string', 'string'])
      if (kind !== 'Kustomization') expect(metadata?.name).toBe('docrelay')
    }
    const listed = valueAt(manifest('Kustomization'), 'resources') as readonly string[]
    expect(listed.toSorted()).toEqual(files.filter((file) => file !== 'kustomization.yaml').toSorted())
  })

  it('service, disruption budget, network policy and anti-affinity select the pods of the deployment', () => {
    const labels = valueAt(manifest('Deployment'), 'spec.template.metadata.labels')
    const rule = 'spec.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.0'
    const selectors = [
      valueAt(manifest('Deployment'), 'spec.selector.matchLabels'),
      valueAt(manifest('Deployment'), `${rule}.podAffinityTerm.labelSelector.matchLabels`),
      valueAt(manifest('Service'), 'spec.selector'),
      valueAt(manifest('PodDisruptionBudget'), 'spec.selector.matchLabels'),
      valueAt(manifest('NetworkPolicy'), 'spec.podSelector.matchLabels'),
      valueAt(manifest('NetworkPolicy'), 'spec.ingress.1.from.0.podSelector.matchLabels'),
    ]
    expect(selectors).toEqual(selectors.map(() => labels))
  })

  it('[CFG-6] a relay starts with the configuration of the pods', () => {
    const container = 'spec.template.spec.containers.0'
    const own = valueAt(manifest('Deployment'), `${container}.env`) as readonly {
      readonly name: string
      readonly value?: string
    }[]
    const shared = valueAt(manifest('ConfigMap'), 'data') as Readonly<Record<string, string>>
    expect(unknownNames([...own.map(({ name }) => name), ...Object.keys(shared)])).toEqual([])
    const secrets = {
      RELAY_STORAGE_URL: 'postgres://relay@db.example/relay',
      RELAY_BUS_URL: 'rediss://cache.example',
      RELAY_CLUSTER_SECRET: 's'.repeat(32),
      RELAY_S3_ACCESS_KEY_ID: 'id',
      RELAY_S3_SECRET_ACCESS_KEY: 'key',
    }
    expect(own.flatMap(({ name }) => (name.endsWith('_FILE') ? [name.slice(0, -'_FILE'.length)] : [])).toSorted()).toEqual(
      Object.keys(secrets).toSorted(),
    )
    const link = own.find(({ name }) => name === 'RELAY_CLUSTER_LINK_URL')?.value?.replace('$(POD_IP)', '10.1.2.3')
    expect(problemsOf({ ...shared, ...secrets, RELAY_CLUSTER_LINK_URL: String(link) })).toEqual([])
    expect(problemsOf({ ...shared, ...secrets, RELAY_CLUSTER_SECRET: '' })).toEqual(['[cluster].secret'])
  })

  it('[LIFE-28] a pod may take longer to end than the relay needs to hand its documents over', () => {
    const graceKey = CONFIG_KEYS.find(({ name }) => name === 'shutdown_grace_secs')?.key
    const grace = graceKey?.kind === 'integer' ? Number(graceKey.default) : Number.NaN
    expect(valueAt(manifest('Deployment'), 'spec.template.spec.terminationGracePeriodSeconds')).toBeGreaterThan(2 + grace)
  })
})

describe('compose.cluster.yaml and haproxy.cfg', () => {
  interface Service {
    readonly environment?: Readonly<Record<string, string>>
    readonly networks?: Readonly<Record<string, { readonly aliases?: readonly string[] }>>
  }
  const compose = parse(read('compose.cluster.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>
    readonly networks: { readonly editors: { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } } }
  }
  const relays = Object.entries(compose.services).filter(([name]) => name.startsWith('relay-'))
  const haproxy = read('haproxy.cfg')
  /** Fills in variables as compose does; each must have a value. */
  const filled = (environment: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{(\w+)(?::[-?][^}]*)?\}/g, (_, variable: string) => VALUES[variable] ?? ''),
      ]),
    )
  const VALUES: Readonly<Record<string, string>> = {
    RELAY_JWT_ISSUER: 'https://id.example',
    RELAY_JWT_JWKS_URL: 'https://id.example/jwks',
    RELAY_JWT_AUDIENCE: 'service-relay',
    RELAY_REVOCATION_BEARER: 'r'.repeat(16),
    POSTGRES_PASSWORD: 'password',
    RELAY_BLOBS_URL: 's3://bucket?endpoint=https://objects.example&region=eu',
    RELAY_S3_ACCESS_KEY_ID: 'id',
    RELAY_S3_SECRET_ACCESS_KEY: 'key',
    RELAY_CLUSTER_SECRET: 's'.repeat(32),
  }

  it('[CFG-6] each node starts with its configuration, under a name and an address of its own', () => {
    expect(relays.length).toBe(2)
    for (const [, { environment = {} }] of relays) {
      expect(unknownNames(Object.keys(environment))).toEqual([])
      expect(problemsOf(filled(environment))).toEqual([])
    }
    const own = (name: string) => new Set(relays.map(([, { environment }]) => environment?.[name]))
    expect([own('RELAY_CLUSTER_NODE_ID').size, own('RELAY_CLUSTER_LINK_URL').size]).toEqual([2, 2])
  })

  it('[LIFE-25] the address of each node for links is a name on the network of the nodes alone', () => {
    for (const [, { environment, networks }] of relays) {
      const { hostname, port } = new URL(String(environment?.['RELAY_CLUSTER_LINK_URL']))
      expect([networks?.['nodes']?.aliases, port]).toEqual([[hostname], '9879'])
    }
  })

  it('[WS-6] the balancer is a trusted proxy of each node', () => {
    const [{ subnet } = { subnet: '' }] = compose.networks.editors.ipam.config
    for (const [, { environment }] of relays) expect(environment?.['RELAY_TRUSTED_PROXIES']).toBe(subnet)
  })

  it('the balancer knows every node by the name of its service', () => {
    const servers = [...haproxy.matchAll(/^ {2}server \w+ ([\w-]+):9876$/gm)].map(([, host]) => host)
    expect(servers).toEqual(relays.map(([name]) => name))
  })

  it('[OPS-1] the balancer asks /readyz, passes no metrics on, and does not close sockets of a node that is red', () => {
    const settings = haproxy.replaceAll(/^ *#.*$/gm, '')
    expect(settings).toMatch(/http-check send meth GET uri \/readyz/)
    expect(settings).toMatch(/deny deny_status 404 if \{ path \/metrics \}/)
    expect(settings).not.toContain('shutdown-sessions')
  })
})
