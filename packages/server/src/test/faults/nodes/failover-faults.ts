import { metric } from '../../wire-client.ts'
import { until } from '../../relay-under-test.ts'
import type { Cluster, ClusterNode } from './cluster.ts'
import { EVERYBODY_RECONNECTS, type NodesFault, type Scene } from './nodes-fault.ts'
import type { OwnPostgres } from './own-postgres.ts'
import { pause, request } from './requests.ts'
import { openTypist, TYPED_PAGE, type Typist } from './typist.ts'

const MOST_LOST_APPENDS = 50
/** Id of the document whose owner is frozen after a failover. */
const FORKED = 'forked'
/** Number of the owner's edits that the failover loses. The other person writes as many, so that the log ends where the owner believes. */
const FORKED_EDITS = 3
/** The report for a machine so busy that the nodes gave their documents up in the meantime. */
const NOT_FORKED = 'the log does not end where the owner believes, so the run shows nothing'
const BACK_WITHIN_MS = 30_000
/** A heartbeat under way at the end of the server may have been stored without an answer. */
const UNANSWERED_BEATS = 1

/** A standby replaces the database server, and lacks its last commits. */
export const FAILOVER_FAULTS: Readonly<Record<string, NodesFault>> = {
  'database-fails-over': {
    nodes: 2,
    ownPostgres: true,
    share: 2,
    tailMs: 12_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ cluster, recorder, random }) {
      const { audit, nodes } = cluster
      const postgres = serverOf(cluster)
      const toldBefore = await tailsTold(nodes)
      const fromMs = performance.now()
      await postgres.copy()
      const copiedBeats = await audit.beats()
      const due = (await audit.appends()) + 1 + Math.floor(MOST_LOST_APPENDS * random())
      await until('the commits that get lost', async () => (await audit.appends()) >= due, BACK_WITHIN_MS)
      const beats = await audit.beats()
      await postgres.failOver()
      recorder.lostTails.push({ fromMs, toMs: performance.now() })
      await until('all nodes to be ready', () => cluster.areReady(), BACK_WITHIN_MS)
      await pause(2_000)
      const told = await tailsTold(nodes)
      for (const { name } of nodes) {
        const lost = (beats.get(name) ?? 0) - (copiedBeats.get(name) ?? 0)
        const times = (told.get(name) ?? 0) - (toldBefore.get(name) ?? 0)
        if (times > 1 || (lost > UNANSWERED_BEATS && times === 0))
          recorder.wrong.push(`node ${name} told ${times} losses of a tail with ${lost} of its heartbeats`)
      }
      return nodes.map(({ name }) => name)
    },
  },
  'database-fails-over-then-freeze': forking({ leaves: true }),
  'database-fails-over-then-freeze-all-stay': forking({ leaves: false }),
}

/**
 * A failover loses the last edits of a document, which its owner has acknowledged. Then the owner is frozen. Another node takes the document over
 * and stores as many edits as were lost, so the log ends where the owner believes, but with other edits. An edit that waited for the owner would
 * then follow an edit that the log lacks. Its person is told that it is saved and leaves, and nobody would see the edit.
 */
function forking({ leaves }: { readonly leaves: boolean }): NodesFault {
  return {
    nodes: 2,
    ownPostgres: true,
    share: 0,
    load: 'writers alone',
    tailMs: 3_000,
    bounds: EVERYBODY_RECONNECTS,
    async play(scene) {
      const { cluster, recorder } = scene
      const { audit } = cluster
      const [owner, other] = cluster.nodes as readonly [ClusterNode, ClusterNode]
      const postgres = serverOf(cluster)
      await makeForked(scene, owner)
      const stays = await joinedAt(scene, owner, 'stays')
      await writeOneByOne(stays, 1)
      const fromMs = performance.now()
      await postgres.copy()
      const lastBefore = await audit.lastSeqOf(FORKED)
      await writeOneByOne(stays, FORKED_EDITS)
      const lastSeq = await audit.lastSeqOf(FORKED)
      // From here on the owner has nothing to write for the document.
      await until('the body to be stored', async () => (await audit.coveredSeqOf(FORKED)) === lastSeq, BACK_WITHIN_MS)
      await postgres.failOver()
      recorder.lostTails.push({ fromMs, toMs: performance.now() })
      await until('all nodes to be ready', () => cluster.areReady(), BACK_WITHIN_MS)
      owner.freeze()
      // This edit waits in the socket of the frozen node.
      stays.write()
      const comes = await joinedAt(scene, other, 'comes')
      await writeOneByOne(comes, lastSeq - lastBefore)
      if ((await audit.lastSeqOf(FORKED)) !== lastSeq) recorder.wrong.push(NOT_FORKED)
      owner.thaw()
      await until('everything to be saved', () => stays.client.state.saved === 'saved', BACK_WITHIN_MS)
      if (!leaves) {
        const text = ({ client }: Typist): string => client.doc.getXmlFragment(`prose:${TYPED_PAGE}`).toString()
        const isSame = (): boolean => text(stays) === text(comes)
        await until('both to see the same', isSame).catch(() =>
          recorder.wrong.push('two people of one document see different texts'),
        )
      }
      // The person leaves, because everything is reported as saved.
      stays.client.destroy()
      await pause(3_000)
      comes.client.destroy()
      return cluster.nodes.map(({ name }) => name)
    },
  }
}

async function makeForked({ cluster, recorder }: Scene, { front }: ClusterNode): Promise<void> {
  const caller = { baseUrl: front.baseUrl, issuer: cluster.issuer, as: { sub: 'maker', role: 'owner' }, recorder }
  const body = { name: FORKED, pages: [], richTextPages: [{ id: TYPED_PAGE, name: 'Text', content: '<p></p>' }] }
  const isMade = async (): Promise<boolean> => (await request(caller, 'PUT', `/api/docs/${FORKED}`, body)).status === 200
  await until('the document to be made', isMade, BACK_WITHIN_MS)
}

function serverOf({ postgres }: Cluster): OwnPostgres {
  if (postgres === null) throw new Error('the fault needs a database server of its own')
  return postgres
}

/** Returns how many lost tails of the database each node has reported. */
async function tailsTold(nodes: readonly ClusterNode[]): Promise<ReadonlyMap<string, number>> {
  const counts = nodes.map(
    async ({ name, relay }): Promise<[string, number]> => [
      name,
      await metric(relay, 'relay_store_losses_total', { kind: 'tail' }),
    ],
  )
  return new Map(await Promise.all(counts))
}

async function joinedAt({ cluster, recorder, random }: Scene, node: ClusterNode, name: string): Promise<Typist> {
  const { issuer } = cluster
  const typist = openTypist({ name, document: FORKED, front: node.front, issuer, recorder, random, editsPerSec: 0 })
  await until(`${name} to join`, () => typist.client.state.synced, BACK_WITHIN_MS)
  return typist
}

/** Writes edits, each after the one before is saved, so that each is an append of its own. */
async function writeOneByOne(typist: Typist, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    typist.write()
    await until('the edit to be saved', () => typist.client.state.saved === 'saved', BACK_WITHIN_MS)
  }
}
