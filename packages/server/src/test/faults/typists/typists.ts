// `npm run faults:typists [-- --seed 1 --seeds 5 --secs 60 --typists 20 --agents 5 --keystrokes 1.5 --calls careful --store PostgreSQL
// --kill-every 20 --unlimited --resume]`: people type letters into a page on which agents write. With `--calls careful` no acknowledged
// letter may be missing at the end [AG-97]; with `--calls any` a call must have told of each missing letter or named the block that it
// stood in, and undoing the calls of the last 15 s must bring it back unless the block was kept as others changed it [AG-98]. At the
// end all editors, REST, a tool and a fresh load after a restart must show the same [AG-103]. With `--kill-every` the relay is killed
// so often with kill -9. `--seeds` plays so many seeds, the first of which is `--seed`. `--resume` appends a row for each seed to
// bench/results and leaves out those that have one. The exit code is 0 only when nothing was lost.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRelayUnderTest } from '../../relay-under-test.ts'
import { type StoreUnderTest, storesUnderTest } from '../../stores-under-test.ts'
import { play, type TypistsPlan } from './play-typists.ts'
import { isKept, type Played } from './played.ts'
import { append, isDone, rowOf, type Run } from './results.ts'

const UNLIMITED = { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' }
const RESULTS = join(import.meta.dirname, '../../../../../../bench/results/faults-typists.md')

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seeds: { type: 'string', default: '1' },
      secs: { type: 'string', default: '60' },
      typists: { type: 'string', default: '20' },
      agents: { type: 'string', default: '5' },
      keystrokes: { type: 'string', default: '1.5' },
      calls: { type: 'string', default: 'careful' },
      store: { type: 'string', default: 'SQLite' },
      'kill-every': { type: 'string' },
      unlimited: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
    },
  })
  const killEvery = values['kill-every']
  const stores = await storesUnderTest()
  await using removal = new AsyncDisposableStack()
  for (const one of stores) removal.defer(one.remove)
  const store = stores.find(({ name }) => name === values.store)
  if (store === undefined) throw new Error(`no store ${values.store} here, only ${stores.map(({ name }) => name).join(', ')}`)
  for (let i = 0; i < Number(values.seeds); i++) {
    const plan: TypistsPlan = {
      seed: Number(values.seed) + i,
      secs: Number(values.secs),
      typists: Number(values.typists),
      agents: Number(values.agents),
      keystrokesPerSec: Number(values.keystrokes),
      calls: values.calls === 'any' ? 'any' : 'careful',
      killEverySecs: killEvery === undefined ? null : Number(killEvery),
    }
    const run: Run = { store: store.name, plan, isUnlimited: values.unlimited }
    if (values.resume && isDone(RESULTS, run)) continue
    const played = await playOn(store, run)
    print(run, played)
    if (values.resume) append(RESULTS, rowOf(run, played))
    if (!isKept(played)) process.exitCode = 1
  }
}

async function playOn(store: StoreUnderTest, { plan, isUnlimited }: Run): Promise<Played> {
  const env = { RELAY_LOG_LEVEL: 'error', ...(isUnlimited && UNLIMITED), ...store.env }
  await using relay = await startRelayUnderTest({ env, mcp: 'local' })
  return await play(relay, plan, env)
}

function print(run: Run, played: Played): void {
  const { untold, notBack, different, kills, unanswered, refusals } = played
  for (const { text, typist } of untold) console.log(`MISSING ${text} of ${typist}`)
  for (const { text, typist } of notBack) console.log(`NOT BACK ${text} of ${typist}`)
  for (const difference of different) console.log(`DIFFERENT: ${difference}`)
  console.log(rowOf(run, played))
  if (kills > 0) console.log(`killed ${kills} times, under ${unanswered} calls`)
  console.log(`refusals: ${[...refusals].map(([code, n]) => `${code} ${n}`).join(', ') || 'none'}`)
}

await main()
