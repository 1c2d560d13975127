import type { Choices } from './schedule.ts'

/** As the `node` of a fault, `OWNER` means the node that owns the first document when the fault begins. */
export const OWNER = 'owner'

/** A fault that begins `atMs` after the clients have begun. `node` is the name of a node, or `OWNER`. */
export type Fault = { readonly atMs: number } & (
  | { readonly kind: 'pause'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'crash'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'drain'; readonly node: string; readonly forMs: number }
  /** With `isSilent`, the nodes notice the break of the link only by silence. Otherwise both nodes notice it at once. */
  | { readonly kind: 'part'; readonly a: string; readonly b: string; readonly forMs: number; readonly isSilent: boolean }
  /** A frame is lost or arrives twice, which ends the link. The nodes then open a new one. */
  | { readonly kind: 'reset'; readonly a: string; readonly b: string }
  | { readonly kind: 'slow-link'; readonly a: string; readonly b: string; readonly forMs: number; readonly mostMs: number }
  | { readonly kind: 'no-database'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'slow-database'; readonly node: string; readonly forMs: number; readonly wayMs: number }
  | { readonly kind: 'lost-answers'; readonly node: string; readonly count: number }
  | { readonly kind: 'rolled-back'; readonly node: string; readonly count: number }
  /**
   * The database fails over to a standby that lacks the last `records` records of each log, except records that a body or a snapshot
   * contains. It also lacks the acquisitions after which nothing was written. No node reaches it for `forMs`. `planFaults` never plans this
   * fault.
   */
  | { readonly kind: 'failover'; readonly records: number; readonly forMs: number }
  | { readonly kind: 'clock'; readonly node: string; readonly byMs: number }
)

const HOUR_MS = 3_600_000
/**
 * The ranges of pauses in ms. Another node may take a document over after a silence of 3 s, and the lease is 15 s. The first range is shorter
 * than this silence. The second and third are a little longer than it. The last one reaches from 6 s to longer than the lease.
 */
const PAUSES = [
  [200, 2_000],
  [3_200, 4_200],
  [3_200, 4_200],
  [6_000, 17_000],
] as const

/** Picks one to five faults for a run. The faults are in the order of their times. */
export function planFaults(choices: Choices, nodes: readonly string[], untilMs: number): readonly Fault[] {
  const named = (): string => choices.of(nodes) as string
  const node = (): string => (choices.percent(50) ? OWNER : named())
  const pair = (): { readonly a: string; readonly b: string } => {
    const a = named()
    return { a, b: choices.of(nodes.filter((other) => other !== a)) as string }
  }
  const one = (): Fault => {
    const atMs = choices.between(500, untilMs)
    switch (choices.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const [from, to] = choices.of([...PAUSES]) as (typeof PAUSES)[number]
        return { atMs, kind: 'pause', node: node(), forMs: choices.between(from, to) }
      }
      case 4:
      case 5:
        return { atMs, kind: 'crash', node: node(), forMs: choices.between(500, 5_000) }
      case 6:
        return { atMs, kind: 'drain', node: node(), forMs: choices.between(500, 2_000) }
      case 7:
      case 8:
        return { atMs, kind: 'part', ...pair(), forMs: choices.between(300, 7_000), isSilent: choices.percent(60) }
      case 9:
        return { atMs, kind: 'reset', ...pair() }
      case 10:
        return { atMs, kind: 'slow-link', ...pair(), forMs: choices.between(500, 4_000), mostMs: choices.between(20, 400) }
      case 11:
        return { atMs, kind: 'no-database', node: node(), forMs: choices.between(500, 12_000) }
      case 12:
        return { atMs, kind: 'slow-database', node: node(), forMs: choices.between(500, 4_000), wayMs: choices.between(20, 300) }
      case 13:
        return { atMs, kind: 'lost-answers', node: node(), count: choices.between(1, 3) }
      case 14:
        return { atMs, kind: 'rolled-back', node: node(), count: choices.between(1, 3) }
      default:
        return { atMs, kind: 'clock', node: node(), byMs: choices.percent(50) ? HOUR_MS : -HOUR_MS }
    }
  }
  return Array.from({ length: choices.between(1, 5) }, one).sort((a, b) => a.atMs - b.atMs)
}
