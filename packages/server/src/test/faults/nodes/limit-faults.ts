import { TAG } from '@docrelay/protocol/frames'
import { openWire, type WireClient } from '../../wire-client.ts'
import type { ClusterNode } from './cluster.ts'
import { EVERYBODY_RECONNECTS, chosen, type NodesFault, type Scene } from './nodes-fault.ts'
import { askTool, pause, resultOf } from './requests.ts'

const SIGN_INS = 60
const CONNECTIONS = 25
const EDITORS = 2
const READS = { perSec: 20, burst: 40 } as const
/** A refused reader pauses for up to a second, so it takes many readers to empty the bucket. [AG-87] */
const READERS_PER_NODE = 20
const STORM_MS = 12_000
const LIMIT_CODES: ReadonlySet<unknown> = new Set(['ERR_WORKSPACE_CONNECTION_LIMIT', 'ERR_EDITOR_LIMIT'])
const RATE_LIMITED = 429

/**
 * A fault during which the limits of a workspace must hold for all nodes together: many clients ask for more at every node, and one node is
 * killed. [WS-17]
 */
export const LIMIT_FAULTS: Readonly<Record<string, NodesFault>> = {
  'limits-under-kill': {
    nodes: 3,
    share: 0,
    load: 'few people',
    env: {
      RELAY_TENANCY_MODE: 'shared',
      RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: String(CONNECTIONS),
      RELAY_READS_PER_SEC: String(READS.perSec),
      RELAY_READS_BURST: String(READS.burst),
    },
    tailMs: 20_000,
    bounds: EVERYBODY_RECONNECTS,
    async play(scene) {
      const { cluster, random } = scene
      const killed = chosen(cluster, random)
      const storms = [
        storm(scene, { workspace: 'full-of-viewers', role: 'viewer', limit: CONNECTIONS }),
        storm(scene, { workspace: 'full-of-editors', role: 'member', limit: EDITORS }),
        drain(scene),
      ]
      await pause(2_000 + 3_000 * random())
      await killed.kill()
      await pause(2_000)
      await killed.start()
      await Promise.all(storms)
      return cluster.nodes.map(({ name }) => name)
    },
  },
}

interface Storm {
  readonly workspace: string
  readonly role: 'viewer' | 'member'
  readonly limit: number
}

/** Signs in repeatedly at all nodes. Each client with a seat keeps it for a while. There may never be more seats than the limit. */
async function storm({ cluster: { nodes, issuer }, recorder, random }: Scene, { workspace, role, limit }: Storm): Promise<void> {
  const untilMs = performance.now() + STORM_MS
  let [inside, most, refused] = [0, 0, 0]
  const person = async (i: number): Promise<void> => {
    const node = nodes[i % nodes.length] as ClusterNode
    while (performance.now() < untilMs) {
      await pause(300 * random())
      const client = await openWire(node.relay, { query: `?workspace=${workspace}` }).catch(() => null)
      if (client === null) continue
      client.auth(issuer.token({ sub: `${workspace}-${i}`, wsp: [{ id: workspace, role, editor_limit: EDITORS }] }))
      const answer = await answerOf(client)
      if (answer?.['success'] === true) {
        most = Math.max(most, ++inside)
        await Promise.race([client.closed, pause(500 + 2_000 * random())])
        inside--
      } else if (LIMIT_CODES.has(answer?.['error'])) refused++
      client.socket.close()
    }
  }
  await Promise.all(Array.from({ length: SIGN_INS }, (_, i) => person(i)))
  recorder.told.push(`at most ${most} of ${limit} in ${workspace}, ${refused} refused`)
  if (most > limit) recorder.wrong.push(`${most} were in ${workspace} at a time, where ${limit} may be`)
  if (refused === 0) recorder.wrong.push(`nobody was refused in ${workspace}, so its limit of ${limit} was not tried`)
}

/** Returns the answer to AUTH, or `null` when the connection ended without one. */
async function answerOf(client: WireClient): Promise<Readonly<Record<string, unknown>> | null> {
  const answer = client.nextJson(TAG.authResponse).catch(() => null)
  return Promise.race([answer, client.closed.then(() => null)])
}

/** Reads with tools at all nodes as fast as they answer. All nodes together may admit only what one bucket holds and gains. */
async function drain({ cluster: { nodes, issuer }, recorder, random }: Scene): Promise<void> {
  const startedMs = performance.now()
  const untilMs = startedMs + STORM_MS
  let [taken, refused] = [0, 0]
  const read = async (node: ClusterNode): Promise<void> => {
    const as = { sub: `drains-${node.name}`, role: 'owner', workspace: 'drained' }
    const caller = { baseUrl: node.relay.baseUrl, issuer, as, recorder }
    while (performance.now() < untilMs) {
      const answer = await askTool(caller, 'list_documents', {})
      if (resultOf(answer) !== null) {
        taken++
        continue
      }
      if (answer.status === RATE_LIMITED) refused++
      await pause(50 * random())
    }
  }
  await Promise.all(nodes.flatMap((node) => Array.from({ length: READERS_PER_NODE }, () => read(node))))
  const allowed = READS.burst + (READS.perSec * (performance.now() - startedMs)) / 1_000
  recorder.told.push(`${taken} of ${Math.floor(allowed)} reads of one bucket, ${refused} refused`)
  if (taken > allowed) recorder.wrong.push(`${taken} reads were let through, where ${Math.floor(allowed)} may be`)
  if (refused === 0) recorder.wrong.push(`no read was refused, so the limit of ${Math.floor(allowed)} was not tried`)
}
