import { generator } from '../mixed-load.ts'
import { anyLost, type Losses } from '../losses.ts'
import { converge, findMissing } from './checks.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { faultNamed } from './fault-table.ts'
import { openFormerProgram } from './former-program.ts'
import type { NodesFault } from './nodes-fault.ts'
import { hasCallers, type LoadName, type NodesLoad, startNodesLoad } from './nodes-load.ts'
import { type Close, Recorder } from './recorder.ts'
import { pause } from './requests.ts'
import { latestEventMs, wrongEvents } from './told-events.ts'
import { until } from '../../relay-under-test.ts'

/** A sequence of faults on one cluster. */
export interface NodesRun {
  readonly faults: readonly string[]
  readonly seed: number
  readonly sabotaged: boolean
  /** The commit whose program the nodes run before an upgrade. */
  readonly former?: string
}

/** The results of one fault of a run. Times in milliseconds. */
export interface FaultPlayed {
  readonly fault: string
  /** Closed sockets of clients of nodes that the fault did not hit. */
  readonly closesElsewhere: readonly string[]
  readonly pauseElsewhereMs: number
  readonly reconnectP99Ms: number | null
  readonly latestEventMs: number
  readonly equalAfterMs: number
  readonly differences: readonly string[]
  readonly badAnswers: readonly string[]
  /** Counts of the fault itself for the report, and in `wrong` what it found wrong. */
  readonly told: readonly string[]
  readonly wrong: readonly string[]
}

/** The results of a run. Times in milliseconds. */
export interface NodesPlayed {
  readonly faults: readonly FaultPlayed[]
  readonly losses: Losses
  readonly missing: readonly string[]
  /** Marks acknowledged while a database server wrote commits that it lost later, and lost with these. */
  readonly lostWithTail: number
  /** Appends of a node to the log of a document that another node owned. */
  readonly foreignAppends: readonly string[]
  readonly appends: number
  readonly staleReads: readonly string[]
  /** Events that did not come, or came more than once. */
  readonly wrongEvents: readonly string[]
  readonly closes: readonly string[]
  readonly editsPerSec: number
  /** Number of documents that went from one node to another. */
  readonly takeovers: number
  /** Error lines of the nodes' logs, counted by event. */
  readonly errors: ReadonlyMap<string, number>
}

const SETTLED_MS = 3_000
const ALL_BACK_WITHIN_MS = 30_000
const EVENTS_WITHIN_MS = 3_000
/** Pause between the recovery from a fault and the next fault. */
const BETWEEN_MS = 1_500

/**
 * Plays faults under load on a new cluster, each after the recovery from the one before. Then checks that everything acknowledged is there.
 *
 * @param tell called at the beginning of each phase
 */
export async function playNodes(run: NodesRun, tell: (phase: string) => void = () => undefined): Promise<NodesPlayed> {
  const faults = run.faults.map((name) => ({ name, ...faultNamed(name) }))
  using former = faults.some(({ startsFormer }) => startsFormer === true) ? openFormerProgram(run.former ?? 'HEAD~1') : null
  await using cluster = await startCluster({
    nodes: Math.max(...faults.map(({ nodes }) => nodes)),
    ownPostgres: faults.some(({ ownPostgres }) => ownPostgres === true),
    sabotaged: run.sabotaged,
    ...(former !== null && { program: former.path }),
    env: Object.assign({}, ...faults.map(({ env }) => env ?? {})) as Readonly<Record<string, string>>,
  })
  const random = generator(run.seed)
  const recorder = new Recorder()
  tell('people join')
  const load = await startNodesLoad(cluster, recorder, { random, kind: loadOf(run) })
  try {
    const stage = { cluster, load, recorder, random, isOneOfSeveral: faults.length > 1 }
    const played: FaultPlayed[] = []
    let worksMs = 0
    for (const fault of faults) {
      const startedMs = performance.now()
      played.push(await playOne(stage, fault, (phase) => tell(`${fault.name}: ${phase}`)))
      worksMs += performance.now() - startedMs
      if (!(await cluster.areReady())) break
    }
    await pause(EVENTS_WITHIN_MS)
    // Counted before the nodes stop, because a stop hands documents over as well.
    const takeovers = await cluster.audit.takeovers()
    load.close()
    for (const node of cluster.nodes) if (node.isUp) await node.stop()
    tell('a fresh relay is asked')
    const foreign = await cluster.audit.foreignAppends()
    const appends = await cluster.audit.appends()
    const fresh = await cluster.startFresh()
    const found = await findMissing(cluster, fresh, load, recorder)
    return {
      faults: played,
      ...found,
      foreignAppends: foreign.map(
        ({ document, seq, owner, writer }) => `${seq} of ${document}, owned by ${owner}, written by ${writer}`,
      ),
      appends,
      staleReads: recorder.staleReads.map(({ what, atMs }) => `${what}, at ${Math.round(atMs)} ms`),
      wrongEvents: wrongEvents(recorder, load),
      closes: recorder.closes.map((close) => told(recorder, close, 0)),
      editsPerSec: recorder.acknowledged.length / (worksMs / 1_000),
      takeovers,
      errors: errorsOf(cluster),
    }
  } finally {
    load.close()
  }
}

interface Stage {
  readonly cluster: Cluster
  readonly load: NodesLoad
  readonly recorder: Recorder
  readonly random: () => number
  readonly isOneOfSeveral: boolean
}

async function playOne(
  { cluster, load, recorder, random, isOneOfSeveral }: Stage,
  fault: NodesFault & { readonly name: string },
  tell: (phase: string) => void,
): Promise<FaultPlayed> {
  load.begin()
  await pause(isOneOfSeveral ? BETWEEN_MS : SETTLED_MS)
  const nodeOf = load.nodeOfClients()
  const sinceMs = performance.now()
  const badBefore = recorder.badAnswers.length
  const toldBefore = recorder.told.length
  const wrongBefore = recorder.wrong.length
  tell('begins')
  const hit = await fault.play({ cluster, recorder, random }).catch((error: unknown) => {
    recorder.wrong.push(error instanceof Error ? error.message : String(error))
    return cluster.nodes.map(({ name }) => name)
  })
  tell('has ended')
  const areBack = (): boolean => load.typists.every(({ client }) => client.state.synced)
  // A client that has not reconnected by then is reported as different from the others.
  if (isOneOfSeveral) await until('all to be back', areBack, ALL_BACK_WITHIN_MS).catch(() => undefined)
  await pause(isOneOfSeveral ? BETWEEN_MS : fault.tailMs)
  await load.rest()
  const { tookMs, differences } = await converge(load)
  const elsewhere = recorder.elsewhere({ hit, sinceMs, nodeOf })
  const ready = until('all nodes to be ready', () => cluster.areReady(), ALL_BACK_WITHIN_MS)
  await ready.catch(({ message }: Error) => recorder.wrong.push(message))
  return {
    fault: fault.name,
    closesElsewhere: elsewhere.closes.map((close) => told(recorder, close, sinceMs)),
    pauseElsewhereMs: elsewhere.longestPauseMs,
    reconnectP99Ms: recorder.reconnectMs(0.99, sinceMs),
    latestEventMs: latestEventMs(recorder, load, sinceMs),
    equalAfterMs: tookMs,
    differences,
    badAnswers: recorder.badAnswers
      .slice(badBefore)
      .map(({ what, atMs }) => `${what}, ${Math.round(atMs - sinceMs)} ms after the fault began`),
    told: recorder.told.slice(toldBefore),
    wrong: recorder.wrong.slice(wrongBefore),
  }
}

function told(recorder: Recorder, { client, node, code, reason, atMs }: Close, sinceMs: number): string {
  const back = recorder.reconnects.find((one) => one.client === client && one.fromMs === atMs)
  const after = back === undefined ? 'never back' : `back after ${Math.round(back.toMs - back.fromMs)} ms`
  return `${client} at ${node}: ${code} ${reason}, at ${Math.round(atMs - sinceMs)} ms, ${after}`
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

/** Returns the load of a run: that of its first fault that names one. Faults with different loads are not played in one run. */
function loadOf({ faults }: Pick<NodesRun, 'faults'>): LoadName {
  return faults.map((name) => faultNamed(name).load).find((load) => load !== undefined) ?? 'usual'
}

/** Whether a run kept all promises: nothing lost, no stale answer, all replicas equal, and no append by a node that was not the owner. */
export function isKept(run: Pick<NodesRun, 'faults'>, played: NodesPlayed): boolean {
  const { losses, foreignAppends, appends, staleReads } = played
  const isAlone = !hasCallers(loadOf(run))
  const isComplete =
    losses.typed.checked > 0 && appends > 0 && (isAlone || (losses.saved.checked > 0 && losses.tools.checked > 0))
  const found = [
    foreignAppends,
    staleReads,
    played.wrongEvents,
    ...played.faults.flatMap(({ differences, wrong }) => [differences, wrong]),
  ]
  return isComplete && !anyLost(losses) && found.every(({ length }) => length === 0)
}

/** Returns the bounds that a fault missed; empty when all were kept. A slow machine may miss bounds of time. */
export function missedBounds(played: FaultPlayed): readonly string[] {
  const { bounds } = faultNamed(played.fault)
  const missed: string[] = []
  if (bounds.closes === 0 && played.closesElsewhere.length > 0) missed.push('closes elsewhere')
  if (bounds.pauseMs !== null && played.pauseElsewhereMs > bounds.pauseMs) missed.push('pause')
  if (bounds.reconnectP99Ms !== null && (played.reconnectP99Ms ?? 0) > bounds.reconnectP99Ms) missed.push('reconnect')
  if (bounds.eventsMs !== null && played.latestEventMs > bounds.eventsMs) missed.push('events')
  if (played.badAnswers.length > 0) missed.push('5xx')
  return missed
}
