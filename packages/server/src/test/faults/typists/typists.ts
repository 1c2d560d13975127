// `npm run faults:typists [-- --seed 1 --secs 60 --typists 20 --agents 5 --keystrokes 1.5 --calls careful --store PostgreSQL]`: people type
// words into a page on which agents write. With `--calls careful` no acknowledged word may be missing at the end [AG-97]; with `--calls any`
// a missing word must stand in what a call answered or in a block that it named, and undoing all calls must bring it back unless the block
// was kept as others changed it [AG-98]. Prints how long people
// waited for acknowledgements, how late the relay's loop was, and how many tasks the agents finished within three tries.
import { parseArgs } from 'node:util'
import { startRelayUnderTest } from '../../relay-under-test.ts'
import { storesUnderTest } from '../../stores-under-test.ts'
import { createPlan, play, type TypistsPlan } from './play-typists.ts'

const UNLIMITED = { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' }

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      secs: { type: 'string', default: '60' },
      typists: { type: 'string', default: '20' },
      agents: { type: 'string', default: '5' },
      keystrokes: { type: 'string', default: '1.5' },
      calls: { type: 'string', default: 'careful' },
      store: { type: 'string', default: 'SQLite' },
      unlimited: { type: 'boolean', default: false },
    },
  })
  const plan: TypistsPlan = {
    seed: Number(values.seed),
    secs: Number(values.secs),
    typists: Number(values.typists),
    agents: Number(values.agents),
    keystrokesPerSec: Number(values.keystrokes),
    calls: values.calls === 'any' ? 'any' : 'careful',
  }
  console.log(
    `${plan.typists} typists at ${plan.keystrokesPerSec}/s and ${plan.agents} agents with ${plan.calls} calls on ${values.store}, ${plan.secs} s, seed ${plan.seed}${values.unlimited ? ', without limits' : ''}`,
  )
  const stores = await storesUnderTest()
  await using removal = new AsyncDisposableStack()
  for (const one of stores) removal.defer(one.remove)
  const store = stores.find(({ name }) => name === values.store)
  if (store === undefined) throw new Error(`no store ${values.store} here, only ${stores.map(({ name }) => name).join(', ')}`)
  const env = { RELAY_LOG_LEVEL: 'error', ...(values.unlimited && UNLIMITED), ...store.env }
  await using relay = await startRelayUnderTest({ env, mcp: 'local' })
  await createPlan(relay)
  process.exitCode = (await play(relay, plan, env)) ? 0 : 1
}

await main()
