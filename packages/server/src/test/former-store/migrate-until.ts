/** Migrates stores, each up to a step, and is killed when all have come there. The only argument is a list of `StopAt`, as JSON. */
import { type KyselyPlugin, type QueryId, sql } from 'kysely'
import { silentLogger } from '../../kernel/log.ts'
import { connect } from '../../drivers/sql/database.ts'
import { migrateStore } from '../../drivers/sql/migrations/migrate.ts'
import type { StopAt } from './kill-migrations.ts'

const stops = JSON.parse(process.argv[2] ?? '') as readonly StopAt[]
/** What an insert of two columns takes its rows from. */
const NOTHING = sql`select '', '' where 1 = 0`.toOperationNode()
let left = stops.length

/** Nothing of a store goes on from here: its transaction stays open until the kill. */
function stay(): Promise<never> {
  left--
  if (left === 0) process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

/** Stays after the insert that records the step, which records nothing for `before`: a plugin cannot wait before a query. */
function stayingAt({ step, moment }: StopAt): KyselyPlugin {
  let recorded = 0
  let last: QueryId | null = null
  return {
    transformQuery({ node, queryId }) {
      if (node.kind !== 'InsertQueryNode' || !JSON.stringify(node).includes('"kysely_migration"')) return node
      recorded++
      if (recorded !== step) return node
      last = queryId
      return moment === 'before' ? { ...node, values: NOTHING } : node
    },
    transformResult: async ({ result, queryId }) => (queryId === last ? stay() : result),
  }
}

async function migrate(stop: StopAt): Promise<void> {
  const { engine, writer } = await connect(stop.url, { synchronous: 'FULL' }, silentLogger)
  await migrateStore(
    writer.withPlugin(stayingAt(stop)),
    engine.columnTypes,
    (transaction) => engine.lockStore(transaction),
    undefined,
    'all steps',
  )
}

await Promise.all(stops.map(migrate))
