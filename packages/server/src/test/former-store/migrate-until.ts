/** Migrates each store up to its step, and kills itself once all stores have reached theirs. The only argument is a list of `StopAt`, as JSON. */
import { type KyselyPlugin, type QueryId, sql } from 'kysely'
import { silentLogger } from '../../kernel/log.ts'
import { connect } from '../../drivers/sql/database.ts'
import { migrateStore } from '../../drivers/sql/migrations/migrate.ts'
import type { StopAt } from './kill-migrations.ts'

const stops = JSON.parse(process.argv[2] ?? '') as readonly StopAt[]
/** A query without rows, so that an insert of two columns adds nothing. */
const NOTHING = sql`select '', '' where 1 = 0`.toOperationNode()
let left = stops.length

/** Never resolves, so that the transaction of the store stays open until the kill. The last store to get here kills the process. */
function stay(): Promise<never> {
  left--
  if (left === 0) process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

/** Stops at the insert that records the step as done. For `before` this insert adds no row, because a plugin can wait only after a query. */
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
