import { chosen, EVERYBODY_RECONNECTS, type NodesFault, ownerOf, UNNOTICED } from './nodes-fault.ts'
import { liveDocument } from './nodes-load.ts'
import { pause } from './requests.ts'
import { until } from '../../relay-under-test.ts'

/** Faults of PostgreSQL, and of the network between PostgreSQL and one node. */
export const DATABASE_FAULTS: Readonly<Record<string, NodesFault>> = {
  'database-silent-5': { ...databaseSilent(5), share: 2 },
  'database-silent-20': databaseSilent(20),
  'database-silent-60': databaseSilent(60),
  'database-resets': {
    nodes: 2,
    share: 2,
    tailMs: 6_000,
    bounds: { ...UNNOTICED, pauseMs: null },
    async play({ cluster, random }) {
      const node = chosen(cluster, random)
      for (let i = 0; i < 40; i++) {
        node.database.reset()
        await pause(50 + 300 * random())
      }
      return [node.name]
    },
  },
  'database-cut-in-answer': {
    nodes: 2,
    share: 2,
    tailMs: 5_000,
    bounds: { ...UNNOTICED, pauseMs: null },
    async play({ cluster, random }) {
      const node = chosen(cluster, random)
      for (let bytes = 1; bytes <= 40; bytes++) {
        node.database.cutAnswerAfter(bytes)
        await pause(150 + 200 * random())
      }
      node.database.heal()
      return [node.name]
    },
  },
  // The answer to COMMIT has 18 bytes; the fault cuts before each of them and after the last. The answer to an append has a hundred or more.
  'database-cut-in-commit': {
    nodes: 2,
    share: 2,
    tailMs: 5_000,
    bounds: { ...UNNOTICED, pauseMs: null },
    async play({ cluster, random }) {
      const node = await ownerOf(cluster, liveDocument(0))
      for (const bytes of [...Array(19).keys(), 30, 60, 90, 120]) {
        node.database.cutCommitAnswerAfter(bytes)
        await until('a COMMIT to be answered', () => !node.database.isCutDue()).catch(() => undefined)
        await pause(100 + 200 * random())
      }
      node.database.heal()
      return [node.name]
    },
  },
  'database-restarts': {
    nodes: 3,
    share: 2,
    ownPostgres: true,
    tailMs: 12_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ cluster: { nodes, postgres } }) {
      await postgres?.restartImmediately()
      return nodes.map(({ name }) => name)
    },
  },
}

function databaseSilent(seconds: number): NodesFault {
  return {
    nodes: 2,
    share: 1,
    tailMs: 10_000,
    bounds: { ...UNNOTICED, pauseMs: 20_000 },
    async play({ cluster }) {
      const owner = await ownerOf(cluster, liveDocument(0))
      owner.database.silence('both')
      await pause(1_000 * seconds)
      owner.database.heal()
      return [owner.name]
    },
  }
}
