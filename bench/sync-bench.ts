// `npm run bench:sync [-- light capacity --rounds 5 --rate 0.5,1,2 --seconds 8 --warm-up 20 --targets relay,hocuspocus]`: the relay (durable
// acks on) compared with its peers in interleaved rounds, at several times each rate. Prints the tables that bench/README.md publishes.
import { parseArgs } from 'node:util'
import { type Capacity, CAPACITY_TARGETS, findCapacity } from './capacity.ts'
import type { Measured } from './generator.ts'
import { describeTrial, printCapacity, printScenario } from './sync-report.ts'
import { measure, type Timing } from './sync-run.ts'
import { atRate, type Scenario, SCENARIOS, type Target } from './sync-scenarios.ts'

const CAPACITY = 'capacity'
/** Edits per second of each client in *capacity*, at rate 1. */
const CAPACITY_RATE = 1

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    /** Each run multiplies the rates of the scenarios by one of these factors. */
    rate: { type: 'string', default: '0.5,1,2' },
    seconds: { type: 'string', default: '8' },
    /** Seconds before measuring, so that the engines compile frequently executed code in every thread. */
    'warm-up': { type: 'string', default: '20' },
    /** Names of servers, separated by commas; all of a scenario when empty. */
    targets: { type: 'string', default: '' },
  },
})
const ROUNDS = Number(values.rounds)
const FACTORS = values.rate.split(',').map(Number)
const ASKED = values.targets === '' ? null : values.targets.split(',')
const TIMING: Timing = { warmUpSec: Number(values['warm-up']), measureSec: Number(values.seconds) }

/** Calls `run` for each server in turn, round after round, so that a slow minute of the machine affects all servers. */
async function interleaved<T>(
  targets: readonly Target[],
  run: (target: Target, before: readonly (T | null)[]) => Promise<T | null>,
): Promise<Map<Target, (T | null)[]>> {
  const results = new Map(targets.map((target) => [target, [] as (T | null)[]]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [target, runs] of results) runs.push(await run(target, runs))
  }
  return results
}

function asked(targets: readonly Target[]): readonly Target[] {
  return ASKED === null ? targets : targets.filter((target) => ASKED.includes(target))
}

async function compare(name: string, scenario: Scenario): Promise<void> {
  const targets = asked(scenario.targets)
  printScenario(
    name,
    { ...scenario, targets },
    await interleaved<Measured>(targets, (target) => measure(target, scenario, TIMING)),
  )
}

async function compareCapacity(rate: number): Promise<void> {
  const results = await interleaved<Capacity>(asked(CAPACITY_TARGETS), (target, before) =>
    findCapacity(target, {
      rate,
      near: before.at(-1)?.best?.documents ?? null,
      timing: TIMING,
      tried: (trial) => console.error(`round ${before.length + 1}: ${describeTrial(target, trial)}`),
    }),
  )
  printCapacity(rate, results)
}

async function main(): Promise<void> {
  const names = [...Object.keys(SCENARIOS), CAPACITY]
  const unknown = positionals.filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new Error(`no scenario is named ${unknown.join(' or ')}; there are ${names.join(', ')}`)
  for (const name of names) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    for (const factor of FACTORS) {
      if (name === CAPACITY) {
        await compareCapacity(CAPACITY_RATE * factor)
        continue
      }
      const scenario = atRate(SCENARIOS[name] as Scenario, factor)
      if (scenario !== null) await compare(name, scenario)
    }
  }
}

await main()
