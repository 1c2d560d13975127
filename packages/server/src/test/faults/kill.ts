// `npm run faults:kill [-- --rounds 30 --seed 1 --store PostgreSQL --sabotage ack-before-commit]`: kill -9 under mixed load; nothing acknowledged
// may be missing.
// With `--sabotage` the relay acknowledges before it commits, and the run succeeds only when that is found out.
import { parseArgs } from 'node:util'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import {
  addLosses,
  createDocuments,
  describeLosses,
  exitCodeOf,
  findLosses,
  generator,
  type Losses,
  NO_LOSSES,
  OPEN_LIMITS,
  startMixedLoad,
} from './mixed-load.ts'

const OTHER_DOCUMENTS = 1_000
/** The commit is late, so that a kill often falls between the acknowledgement and it. */
const SABOTAGE = {
  RELAY_TEST_HOOKS: '1',
  RELAY_TEST_ACK_BEFORE_COMMIT: '1',
  RELAY_TEST_COMMIT_HOLD_MS: '40',
}

interface Round extends Losses {
  readonly restartMs: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      store: { type: 'string', default: 'SQLite' },
      sabotage: { type: 'string' },
    },
  })
  const random = generator(Number(values.seed))
  const sabotaged = values.sabotage !== undefined
  console.log(
    `kill -9 on ${values.store}, ${values.rounds} rounds, seed ${values.seed}${sabotaged ? `, sabotage ${values.sabotage}` : ''}`,
  )
  const stores = await storesUnderTest()
  await using store = new AsyncDisposableStack()
  for (const one of stores) store.defer(one.remove)
  const found = stores.find(({ name }) => name === values.store)
  if (found === undefined) throw new Error(`no store ${values.store} here, only ${stores.map(({ name }) => name).join(', ')}`)
  const env = { ...OPEN_LIMITS, ...found.env }
  await using relay = await startRelayUnderTest({ env })
  await createDocuments(relay, OTHER_DOCUMENTS)
  let total = NO_LOSSES
  let slowestMs = 0
  for (let round = 1; round <= Number(values.rounds); round++) {
    const played = await playRound(relay, round, { env, sabotaged, untilKillMs: 300 + random() * 1_700 })
    total = addLosses(total, played)
    slowestMs = Math.max(slowestMs, played.restartMs)
    if (played.missing + played.unloadable > 0 || round % 5 === 0) console.log(`round ${round}: ${describeLosses(played)}`)
  }
  console.log(`total: ${describeLosses(total)}; bound again after ${Math.round(slowestMs)} ms at most`)
  process.exitCode = exitCodeOf(total, sabotaged)
}

interface Plan {
  readonly env: Readonly<Record<string, string>>
  readonly sabotaged: boolean
  readonly untilKillMs: number
}

async function playRound(relay: RelayUnderTest, round: number, { env, sabotaged, untilKillMs }: Plan): Promise<Round> {
  if (sabotaged) {
    await relay.stop()
    await relay.restart({ ...env, ...SABOTAGE })
  }
  const load = await startMixedLoad(relay, round)
  await new Promise((resolve) => setTimeout(resolve, untilKillMs))
  await relay.kill()
  const acknowledged = load.acknowledged()
  await load.stop()
  const startedAt = performance.now()
  // Looked at without sabotage: what is on disk is what counts.
  await relay.restart(env)
  const restartMs = performance.now() - startedAt
  return { ...(await findLosses(relay, acknowledged)), restartMs }
}

await main()
