/** How many acknowledged items were checked after a fault, and how many of them are missing. */
export interface Tally {
  readonly checked: number
  readonly missing: number
}

const SOURCES = { typed: 'typed edits', saved: 'saves over REST', tools: 'results of tools' } as const
type Source = keyof typeof SOURCES

/** One tally for each source of acknowledgements. */
export interface Losses extends Readonly<Record<Source, Tally>> {
  readonly unloadable: number
}

const NOTHING: Tally = { checked: 0, missing: 0 }
export const NO_LOSSES: Losses = { typed: NOTHING, saved: NOTHING, tools: NOTHING, unloadable: 0 }

export function addLosses(a: Losses, b: Losses): Losses {
  return {
    typed: addTallies(a.typed, b.typed),
    saved: addTallies(a.saved, b.saved),
    tools: addTallies(a.tools, b.tools),
    unloadable: a.unloadable + b.unloadable,
  }
}

function addTallies(a: Tally, b: Tally): Tally {
  return { checked: a.checked + b.checked, missing: a.missing + b.missing }
}

/** Returns one tally for a source, to be added to others. */
export function tally(source: Source, checked: number, missing: number): Losses {
  return { ...NO_LOSSES, [source]: { checked, missing } }
}

export function anyLost({ typed, saved, tools, unloadable }: Losses): boolean {
  return typed.missing + saved.missing + tools.missing + unloadable > 0
}

export function describeLosses(losses: Losses): string {
  const parts = (Object.keys(SOURCES) as Source[]).map((source) => {
    const { checked, missing } = losses[source]
    return `${checked} ${SOURCES[source]} checked, ${missing} missing`
  })
  return `${parts.join('; ')}; ${losses.unloadable} documents unloadable`
}

/**
 * Prints the result of a run and returns its exit code: 0 when nothing is lost or, with a sabotage, when each source in `foundBy` lost
 * something. A run that checked nothing of some source has failed.
 */
export function exitCodeOf(total: Losses, sabotage: { readonly foundBy: readonly Source[] } | null): 0 | 1 {
  const all = Object.keys(SOURCES) as Source[]
  const isComplete = all.every((source) => total[source].checked > 0)
  if (sabotage === null) return !anyLost(total) && isComplete ? 0 : 1
  const blind = sabotage.foundBy.filter((source) => total[source].missing === 0)
  console.log(
    blind.length === 0
      ? 'The sabotage was found out, so this check can fail.'
      : `The sabotage was NOT found out by ${blind.map((source) => SOURCES[source]).join(', ')}.`,
  )
  return blind.length === 0 && isComplete ? 0 : 1
}
