/** Where on its way the label of each edge is: edges between the same two nodes get different places in turn; `null` is the middle. [DIAG-12] */
export function labelPositions(edges: readonly { readonly from: number; readonly to: number }[]): readonly (number | null)[] {
  const seen = new Map<string, number>()
  return edges.map(({ from, to }) => {
    const key = from < to ? `${from} ${to}` : `${to} ${from}`
    const turn = seen.get(key) ?? 0
    seen.set(key, turn + 1)
    return TURNS[turn % TURNS.length] ?? null
  })
}

const TURNS: readonly (number | null)[] = [null, 0.35, 0.65, 0.25, 0.75]
