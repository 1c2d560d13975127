import type { DiagramRequest } from '../diagram.ts'

/** Makes a request. `nodes`: how many nodes of 160 × 72, or the size of each node. `edges`: the indexes of the nodes at both ends. */
export function requestOf(
  nodes: number | readonly (readonly [width: number, height: number])[],
  edges: readonly (readonly [from: number, to: number])[],
  more: Partial<DiagramRequest> = {},
): DiagramRequest {
  const sizes = typeof nodes === 'number' ? Array.from({ length: nodes }, () => [160, 72] as const) : nodes
  return {
    nodes: sizes.map(([width, height], i) => ({ name: `n${i}`, width, height, at: null })),
    edges: edges.map(([from, to]) => ({ from, to, label: null })),
    layout: 'layered',
    direction: 'TB',
    routing: 'orthogonal',
    obstacles: [],
    taken: [],
    near: null,
    ...more,
  }
}
