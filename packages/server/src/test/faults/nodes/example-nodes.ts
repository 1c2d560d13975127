// `npm run example:nodes`: two relay processes on the PostgreSQL and Redis of this machine, behind HAProxy with deploy/haproxy.cfg where that
// is installed, else behind a small balancer. Three people type into one document, one at each node and one through the balancer; then the
// node that owns it is killed with kill -9, and the other one takes over. Prints what they notice. Leaves nothing behind.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../relay-under-test.ts'
import { generator } from '../mixed-load.ts'
import { type ClusterNode, freePort, startCluster } from './cluster.ts'
import { Recorder } from './recorder.ts'
import { pause, request } from './requests.ts'
import { openTypist, TYPED_PAGE } from './typist.ts'

const DOCUMENT = 'meeting-minutes'
const CONFIGURATION = join(import.meta.dirname, '../../../../../../deploy/haproxy.cfg')
const EDITS_PER_SEC = 4
const NAMES: Readonly<Record<string, string>> = { ann: 'Ann', ben: 'Ben', cleo: 'Cleo' }

async function main(): Promise<void> {
  console.log('Starting two nodes on a fresh database …')
  await using cluster = await startCluster({ nodes: 2, ownPostgres: false, sabotaged: false })
  const [a, b] = cluster.nodes as readonly [ClusterNode, ClusterNode]
  for (const { name, relay } of cluster.nodes) console.log(`  node ${name}   ${relay.baseUrl}`)
  await using balancer = await startHaproxy(cluster.nodes)
  const baseUrl = balancer?.baseUrl ?? a.front.baseUrl
  console.log(
    `  balancer ${baseUrl}   ${balancer === null ? 'of this script, as HAProxy is not installed' : 'HAProxy with deploy/haproxy.cfg'}`,
  )

  const recorder = new Recorder()
  const caller = { baseUrl, issuer: cluster.issuer, as: { sub: 'ann', role: 'owner' }, recorder }
  const body = { name: 'Minutes', pages: [], richTextPages: [{ id: TYPED_PAGE, name: 'Text', content: '<p></p>' }] }
  const made = await request(caller, 'PUT', `/api/docs/${DOCUMENT}`, body)
  console.log(`\nPUT of «${DOCUMENT}» through the balancer: ${made.status}`)
  if (made.status !== 200) throw new Error('the balancer reaches no node')

  const shared = { document: DOCUMENT, issuer: cluster.issuer, recorder, random: generator(1), editsPerSec: EDITS_PER_SEC }
  const ann = openTypist({ ...shared, name: 'ann', front: a.front })
  const ben = openTypist({ ...shared, name: 'ben', front: b.front })
  const cleo = openTypist({
    ...shared,
    name: 'cleo',
    front: { ...a.front, baseUrl, wsUrl: `${baseUrl.replace('http', 'ws')}/ws` },
  })
  const people = [ann, ben, cleo]
  await until('all to join', () => people.every(({ client }) => client.state.synced))
  let isRunning = true
  const typing = people.map((one) => one.type(() => isRunning))
  await pause(2_000)

  const name = await cluster.audit.ownerOf(DOCUMENT)
  const owner = name === b.name ? b : a
  const stays = owner === a ? ben : ann
  console.log(
    `Ann types at node a, Ben at node b, and Cleo through the balancer. Node ${owner.name} owns the document; the other one forwards.`,
  )
  const killedMs = performance.now()
  await owner.kill()
  console.log(`\nkill -9 of node ${owner.name}.`)
  const other = owner === a ? b : a
  await until('the other node to own the document', async () => (await cluster.audit.ownerOf(DOCUMENT)) === other.name)
  console.log(`Node ${other.name} owns the document after ${secs(performance.now() - killedMs)}.`)
  await until('all to be connected', () => people.every(({ client }) => client.state.synced))
  await owner.start()
  console.log(`Node ${owner.name} is started again, and is ready.`)
  await pause(2_000)
  isRunning = false
  await Promise.all(typing)
  await until('everything to be saved', () => people.every(({ client }) => client.state.saved === 'saved'))
  const text = () => people.map(({ client }) => client.doc.getXmlFragment(`prose:${TYPED_PAGE}`).toString())
  await until('all to see the same', () => new Set(text()).size === 1)

  const { longestPauseMs, closes } = recorder.elsewhere({
    hit: [owner.name, 'the balancer'],
    sinceMs: killedMs,
    nodeOf: new Map([
      ['ann', 'a'],
      ['ben', 'b'],
      ['cleo', 'the balancer'],
    ]),
  })
  const stayed = stays === ann ? 'Ann' : 'Ben'
  console.log(
    `\n${stayed}, at the node that stayed: ${closes.length} sockets closed, the longest wait for "saved" was ${secs(longestPauseMs)}.`,
  )
  for (const { client, fromMs, toMs } of recorder.reconnects)
    console.log(`${NAMES[client]} was connected again after ${secs(toMs - fromMs)}.`)
  const missing = recorder.acknowledged.filter(({ mark }) => !(text()[0] ?? '').includes(mark))
  console.log(
    `${recorder.acknowledged.length} edits were acknowledged, ${missing.length} of them are missing. All three see the same.`,
  )
  for (const { client } of people) client.destroy()
  if (missing.length > 0) process.exitCode = 1
}

/** Runs HAProxy with the configuration of deploy/ on other addresses; `null` where HAProxy is not installed. */
async function startHaproxy(nodes: readonly ClusterNode[]): Promise<(AsyncDisposable & { readonly baseUrl: string }) | null> {
  if (spawnSync('haproxy', ['-v']).status !== 0) return null
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-haproxy-'))
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  let configuration = readFileSync(CONFIGURATION, 'utf8').replace('bind :9876', `bind 127.0.0.1:${port}`)
  for (const { name, relay } of nodes) configuration = configuration.replace(`relay-${name}:9876`, new URL(relay.baseUrl).host)
  writeFileSync(file, configuration)
  const child: ChildProcess = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'ignore' })
  const baseUrl = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${baseUrl}/readyz`).then(
      async (answer) => (await answer.arrayBuffer(), answer.status === 200),
      () => false,
    )
  await until('HAProxy to pass requests on', isReady)
  return {
    baseUrl,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function secs(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

await main()
