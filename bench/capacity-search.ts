import type { Measured } from './generator.ts'

/** The numbers of documents that a search may try; each is about a fifth larger than the one before. */
export const SIZES: readonly number[] = Array.from({ length: 29 }, (_, i) => Math.round(25 * 2 ** (i / 4)))
/** A server carries a load when 99 of 100 deliveries take at most this many milliseconds. */
const LONGEST_P99_MS = 100
/** The share of the planned edits that the generator must send, and of the deliveries that must arrive within the window. */
const LEAST_PART = 0.95

/** Whether all edits were sent in time and were delivered in time. */
export function isCarried(
  {
    edits,
    deliveries,
    deliveryMs,
    missing,
    seconds,
  }: Pick<Measured, 'edits' | 'deliveries' | 'deliveryMs' | 'missing' | 'seconds'>,
  { docs, clientsPerDoc, rate }: { readonly docs: number; readonly clientsPerDoc: number; readonly rate: number },
): boolean {
  const wanted = docs * clientsPerDoc * rate * seconds * LEAST_PART
  return edits >= wanted && deliveries >= wanted * (clientsPerDoc - 1) && missing === 0 && deliveryMs.p99 <= LONGEST_P99_MS
}

/**
 * Returns the next size to try, as an index, or the result of the search. The search hops up or down, each hop longer than the one before, until one
 * size was carried and a larger one was not. Then it halves the range between these two sizes.
 */
export function nextStep(
  carried: ReadonlyMap<number, boolean>,
  { start, hop }: { readonly start: number; readonly hop: number },
  sizes = SIZES.length,
): { readonly kind: 'try'; readonly index: number } | { readonly kind: 'found'; readonly index: number | null } {
  if (carried.size === 0) return { kind: 'try', index: start }
  const indexes = (was: boolean) => [...carried].filter(([, each]) => each === was).map(([index]) => index)
  const best = Math.max(-1, ...indexes(true))
  const worst = Math.min(sizes, ...indexes(false))
  if (worst - best <= 1) return { kind: 'found', index: best < 0 ? null : best }
  if (worst === sizes) return { kind: 'try', index: Math.min(best + hop * carried.size, sizes - 1) }
  if (best < 0) return { kind: 'try', index: Math.max(worst - hop * carried.size, 0) }
  return { kind: 'try', index: Math.floor((best + worst) / 2) }
}
