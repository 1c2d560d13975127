import { parseArgs } from 'node:util'
import { type Run, RUNS, SHAPES } from './scale-plan.ts'

export interface ScaleOptions {
  readonly rounds: number
  /** Seconds for which each run is measured; `warmUpSec` is the time before that. */
  readonly seconds: number
  readonly warmUpSec: number
  /** Factor by which the rates of the shapes are multiplied. */
  readonly rate: number
  readonly runs: readonly Run[]
  /** `append` adds rounds to the results file, `resume` adds only the runs that are missing there, `no` writes nothing. */
  readonly record: 'no' | 'append' | 'resume'
  /** A folder for a CPU profile of each thread of each relay; `null`: none. */
  readonly profile: string | null
}

/** Reads the arguments of the command. Throws an `Error` whose text is for the user of the command. */
export function readOptions(args: readonly string[]): ScaleOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '10' },
      'warm-up': { type: 'string', default: '20' },
      rate: { type: 'string', default: '1' },
      record: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  })
  if (values.profile === '') throw new Error('--profile needs a folder')
  const isRecorded = values.record || values.resume
  if (values.profile !== undefined && isRecorded)
    throw new Error('--profile goes without --record and --resume: a profiled relay costs more')
  return {
    rounds: numberIn('--rounds', values.rounds, { least: 1, most: 1_000, isWhole: true }),
    seconds: numberIn('--seconds', values.seconds, { least: 1, most: 600, isWhole: false }),
    warmUpSec: numberIn('--warm-up', values['warm-up'], { least: 0, most: 600, isWhole: false }),
    // Above 4, the clients of one document would come near the default rate of a workspace.
    rate: numberIn('--rate', values.rate, { least: 0.1, most: 4, isWhole: false }),
    runs: runsOf(positionals),
    record: values.resume ? 'resume' : values.record ? 'append' : 'no',
    profile: values.profile ?? null,
  }
}

function numberIn(
  name: string,
  text: string,
  { least, most, isWhole }: { readonly least: number; readonly most: number; readonly isWhole: boolean },
): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value
  throw new Error(`${name} is a ${isWhole ? 'whole number' : 'number'} from ${least} to ${most}, not "${text}"`)
}

/** Returns the runs with these names. A name is that of a shape or of a run; without names all runs are returned. */
function runsOf(names: readonly string[]): readonly Run[] {
  const shapes = Object.keys(SHAPES)
  const unknown = names.filter((name) => !shapes.includes(name) && !RUNS.some((run) => run.name === name))
  if (unknown.length > 0)
    throw new Error(
      `no load or run is named ${unknown.join(' or ')}; there are ${[...shapes, ...RUNS.map(({ name }) => name)].join(', ')}`,
    )
  return names.length === 0 ? RUNS : RUNS.filter(({ name, shape }) => names.includes(name) || names.includes(shape))
}
