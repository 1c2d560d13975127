import { generator } from '../mixed-load.ts'
import { anyLost, type Losses } from '../losses.ts'
import { converge, findMissing } from './checks.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { NODES_FAULTS, type NodesFault } from './fault-table.ts'
import { startNodesLoad } from './nodes-load.ts'
import { type Close, Recorder } from './recorder.ts'
import { pause } from './requests.ts'

export interface NodesRun {
  readonly fault: string
  readonly seed: number
  readonly sabotaged: boolean
}

/** What a run has shown. Times in milliseconds. */
export interface NodesPlayed {
  readonly losses: Losses
  readonly missing: readonly string[]
  /** Appends of a node to the log of a document that another node owned. */
  readonly foreignAppends: readonly string[]
  readonly appends: number
  readonly differences: readonly string[]
  readonly equalAfterMs: number
  readonly staleReads: readonly string[]
  readonly badAnswers: readonly string[]
  /** Of clients of nodes that the fault did not hit. */
  readonly closesElsewhere: readonly string[]
  readonly pauseElsewhereMs: number
  readonly closes: readonly string[]
  readonly reconnectP99Ms: number | null
  readonly editsPerSec: number
  /** Documents that went from one node to another. */
  readonly takeovers: number
  /** Error lines of the nodes' logs by event, counted. */
  readonly errors: ReadonlyMap<string, number>
}

const SETTLED_MS = 3_000

/**
 * Plays one fault on a cluster of its own under load, and looks at what became of everything acknowledged.
 *
 * @param tell called with what begins now
 */
export async function playNodes(run: NodesRun, tell: (phase: string) => void = () => undefined): Promise<NodesPlayed> {
  const fault = NODES_FAULTS[run.fault]
  if (fault === undefined) throw new Error(`no fault ${run.fault}, only ${Object.keys(NODES_FAULTS).join(', ')}`)
  await using cluster = await startCluster({
    nodes: fault.nodes,
    ownPostgres: fault.ownPostgres === true,
    sabotaged: run.sabotaged,
  })
  return await playOn(cluster, fault, run.seed, tell)
}

async function playOn(cluster: Cluster, fault: NodesFault, seed: number, tell: (phase: string) => void): Promise<NodesPlayed> {
  const random = generator(seed)
  const recorder = new Recorder()
  tell('people join')
  const load = await startNodesLoad(cluster, recorder, { random, areWritersAlone: fault.load === 'writers alone' })
  try {
    const startedMs = performance.now()
    await pause(SETTLED_MS)
    const nodeOf = load.nodeOfClients()
    const sinceMs = performance.now()
    tell('the fault begins')
    const hit = await fault.play(cluster, random)
    tell('the fault has ended')
    await pause(fault.tailMs)
    await load.stop()
    tell('all replicas become equal')
    const secs = (performance.now() - startedMs) / 1_000
    const { tookMs, differences } = await converge(load)
    // Before the nodes end, which hands documents over as well.
    const takeovers = await cluster.audit.takeovers()
    load.close()
    for (const node of cluster.nodes) if (node.isUp) await node.stop()
    tell('a fresh relay is asked')
    const foreign = await cluster.audit.foreignAppends()
    const appends = await cluster.audit.appends()
    const fresh = await cluster.startFresh()
    const { losses, missing } = await findMissing(cluster, fresh, load, recorder)
    const elsewhere = recorder.elsewhere({ hit, sinceMs, nodeOf })
    const at = (ms: number): string => `${Math.round(ms - sinceMs)} ms after the fault began`
    const told = ({ client, node, code, reason, atMs }: Close): string => {
      const back = recorder.reconnects.find((one) => one.client === client && one.fromMs === atMs)
      const after = back === undefined ? 'never back' : `back after ${Math.round(back.toMs - back.fromMs)} ms`
      return `${client} at ${node}: ${code} ${reason}, ${at(atMs)}, ${after}`
    }
    return {
      losses,
      missing,
      foreignAppends: foreign.map(
        ({ document, seq, owner, writer }) => `${seq} of ${document}, owned by ${owner}, written by ${writer}`,
      ),
      appends,
      differences,
      equalAfterMs: tookMs,
      staleReads: recorder.staleReads.map(({ what, atMs }) => `${what}, ${at(atMs)}`),
      badAnswers: recorder.badAnswers.map(({ what, atMs }) => `${what}, ${at(atMs)}`),
      closesElsewhere: elsewhere.closes.map(told),
      pauseElsewhereMs: elsewhere.longestPauseMs,
      closes: recorder.closes.map(told),
      reconnectP99Ms: recorder.reconnectMs(0.99, sinceMs),
      editsPerSec: recorder.acknowledged.length / secs,
      takeovers,
      errors: errorsOf(cluster),
    }
  } finally {
    load.close()
  }
}

function errorsOf({ nodes }: Cluster): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { relay } of nodes) {
    for (const line of relay.logLines) {
      const event = /"level":"error".*?"event":"([^"]+)"|"event":"([^"]+)".*?"level":"error"/.exec(line)
      const name = event?.[1] ?? event?.[2]
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}

/** Whether everything promised was kept: nothing lost, no stale answer, all equal, and no write of a node that did not own. */
export function isKept({ fault }: Pick<NodesRun, 'fault'>, played: NodesPlayed): boolean {
  const { losses, foreignAppends, appends, differences, staleReads } = played
  const isAlone = NODES_FAULTS[fault]?.load === 'writers alone'
  const isComplete =
    losses.typed.checked > 0 && appends > 0 && (isAlone || (losses.saved.checked > 0 && losses.tools.checked > 0))
  return isComplete && !anyLost(losses) && [foreignAppends, differences, staleReads].every(({ length }) => length === 0)
}

/** Why the bounds of the fault were missed; empty when they were kept. A slow machine may miss those of time. */
export function missedBounds({ fault: name }: Pick<NodesRun, 'fault'>, played: NodesPlayed): readonly string[] {
  const { bounds } = NODES_FAULTS[name] as NodesFault
  const missed: string[] = []
  if (bounds.closes === 0 && played.closesElsewhere.length > 0) missed.push('closes elsewhere')
  if (bounds.pauseMs !== null && played.pauseElsewhereMs > bounds.pauseMs) missed.push('pause')
  if (bounds.reconnectP99Ms !== null && (played.reconnectP99Ms ?? 0) > bounds.reconnectP99Ms) missed.push('reconnect')
  if (played.badAnswers.length > 0) missed.push('5xx')
  return missed
}
