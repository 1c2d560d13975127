/** Migrates a store and is killed at a step. Arguments: storage URL, number of the step, `before` or `after` the step is recorded as done. */
import type { KyselyPlugin } from 'kysely'
import { silentLogger } from '../../kernel/log.ts'
import { connect } from '../../drivers/sql/database.ts'
import { migrateStore } from '../../drivers/sql/migrations/migrate.ts'

const [url = '', step = '', moment = ''] = process.argv.slice(2)
const database = await connect(url, { synchronous: 'FULL' }, silentLogger)
let recorded = 0
const kill = () => process.kill(process.pid, 'SIGKILL')
const killing: KyselyPlugin = {
  transformQuery({ node }) {
    if (moment === 'after' && recorded === Number(step)) kill()
    if (node.kind === 'InsertQueryNode' && JSON.stringify(node).includes('"kysely_migration"')) recorded++
    if (moment === 'before' && recorded === Number(step)) kill()
    return node
  },
  transformResult: async ({ result }) => result,
}
const { engine } = database
await migrateStore(
  database.writer.withPlugin(killing),
  engine.columnTypes,
  (writer) => engine.lockStore(writer),
  undefined,
  'all steps',
)
await database.close()
