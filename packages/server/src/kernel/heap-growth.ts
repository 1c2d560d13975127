import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** From this heap limit on V8 lets the heap of old objects grow to four times of what is in use before it collects. */
const LAX_FROM_BYTES = 2 * 1024 ** 3
/** Percent of what is in use by which the heap may grow between two collections. */
const GROWTH_PERCENT = 100

/**
 * While documents are opened, nearly all objects that some places of the code make live long. V8 notices that, and from then on makes the objects of
 * these places among the old ones. Most of them are garbage after one edit, and old garbage keeps the new objects to which it refers alive.
 */
const ALL_START_YOUNG = '--no-allocation-site-pretenuring'

/**
 * Lets the heap of old objects of each thread grow to twice of what is in use, not to four times, and slower. Call it before the first thread starts.
 * With a lower heap limit, as in a small container, V8 lets it grow by less by itself. A later V8 that does not know a flag ignores it.
 */
export function boundHeapGrowth(): void {
  const flag = heapGrowthFlag(getHeapStatistics().heap_size_limit)
  if (flag !== null) setFlagsFromString(flag)
  setFlagsFromString(ALL_START_YOUNG)
}

/** `limitBytes`: the heap limit of the main thread. Returns `null` when V8 bounds the growth enough. */
export function heapGrowthFlag(limitBytes: number): string | null {
  return limitBytes < LAX_FROM_BYTES ? null : `--heap-growing-percent=${GROWTH_PERCENT}`
}
