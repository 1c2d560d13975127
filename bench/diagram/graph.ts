/** A graph in the form that `generate_diagram` accepts. */
export interface Graph {
  readonly name: string
  readonly direction: 'TB' | 'LR'
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

export interface GraphNode {
  readonly id: string
  readonly label: string
  readonly kind?: 'ellipse'
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly label?: string
}

/** Returns numbers from 0 (inclusive) to 1 (exclusive), always the same for the same seed. */
export type Random = () => number

/** A small generator with 32 bits of state (a Weyl sequence with mixed terms). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

/** A whole number from 0 (inclusive) to `below` (exclusive). */
export function whole(random: Random, below: number): number {
  return Math.floor(random() * below)
}

/** The same values in random order. */
export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const result = [...values]
  for (let i = result.length - 1; i > 0; i--) {
    const j = whole(random, i + 1)
    ;[result[i], result[j]] = [result[j] as T, result[i] as T]
  }
  return result
}
