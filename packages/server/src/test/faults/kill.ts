// `npm run faults:kill [-- --rounds 30 --seed 1 --store PostgreSQL --sabotage ack-before-commit]`: kills the relay with kill -9 under mixed
// load; nothing acknowledged may be missing. With `--faults 0.02` two of a hundred commits also fail; the seed chooses which, and whether
// by a full disk or a lost answer. With `--sabotage` the relay acknowledges before it commits, and the run succeeds only when both typists
// and tools detect the loss.
import { parseArgs } from 'node:util'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { addLosses, anyLost, describeLosses, exitCodeOf, type Losses, NO_LOSSES } from './losses.ts'
import { createDocuments, findLosses, generator, OPEN_LIMITS, startMixedLoad } from './mixed-load.ts'

const OTHER_DOCUMENTS = 1_000
const HOLD_MS = 120
/**
 * Pause between an agent's calls with sabotage: an agent must not notice missing writes while the relay runs, because only the restart is
 * supposed to reveal them.
 */
const SABOTAGED_PAUSE_MS = 200
/** Delays the commit, so that a kill often happens between the acknowledgement and the commit. */
const SABOTAGE = {
  RELAY_TEST_HOOKS: '1',
  RELAY_TEST_ACK_BEFORE_COMMIT: '1',
  RELAY_TEST_COMMIT_HOLD_MS: String(HOLD_MS),
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
      faults: { type: 'string' },
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
  const faults = values.faults === undefined ? null : { seed: Number(values.seed), share: values.faults }
  await using relay = await startRelayUnderTest({ env, mcp: 'local' })
  await createDocuments(relay, OTHER_DOCUMENTS)
  let total = NO_LOSSES
  let slowestMs = 0
  for (let round = 1; round <= Number(values.rounds); round++) {
    const played = await playRound(relay, round, { env, sabotaged, random, faults })
    total = addLosses(total, played)
    slowestMs = Math.max(slowestMs, played.restartMs)
    if (anyLost(played) || round % 5 === 0) console.log(`round ${round}: ${describeLosses(played)}`)
  }
  console.log(`total: ${describeLosses(total)}; bound again after ${Math.round(slowestMs)} ms at most`)
  process.exitCode = exitCodeOf(total, sabotaged ? { foundBy: ['typed', 'tools'] } : null)
}

interface Plan {
  readonly env: Readonly<Record<string, string>>
  readonly sabotaged: boolean
  readonly random: () => number
  /** Makes a share of the commits fail. */
  readonly faults: { readonly seed: number; readonly share: string } | null
}

async function playRound(relay: RelayUnderTest, round: number, { env, sabotaged, random, faults }: Plan): Promise<Round> {
  if (faults !== null) {
    await relay.stop()
    await relay.restart({ ...env, RELAY_TEST_HOOKS: '1', RELAY_TEST_COMMIT_FAULTS: `${faults.seed + round}:${faults.share}` })
  }
  if (sabotaged) {
    await relay.stop()
    await relay.restart({ ...env, ...SABOTAGE })
  }
  const load = await startMixedLoad(relay, { round, random, ...(sabotaged && { agentPauseMs: SABOTAGED_PAUSE_MS }) })
  await new Promise((resolve) => setTimeout(resolve, 300 + random() * 1_700))
  await relay.kill()
  const acknowledged = load.acknowledged()
  await load.stop()
  const startedAt = performance.now()
  // Restarted without sabotage, because only the data on disk count.
  await relay.restart(env)
  const restartMs = performance.now() - startedAt
  return { ...(await findLosses(relay, acknowledged)), restartMs }
}

await main()
