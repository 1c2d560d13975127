import type { DiagramLayout } from '@docrelay/model/canvas/diagram/diagram'
import { layoutDiagram } from '@docrelay/model/canvas/diagram/layout'
import { labelSize, nodeSize } from '@docrelay/model/canvas/diagram/node-size'
import { at } from '@docrelay/model/canvas/diagram/at'
import type { Drawing } from './drawing.ts'
import type { Graph } from './graph.ts'
import type { EdgeLabel } from './label-cover.ts'
import type { SizedGraph } from './peers.ts'

/** The node sizes by this repository's rules; every layout gets the same sizes. */
export function sized(graph: Graph): SizedGraph {
  const numbers = new Map(graph.nodes.map(({ id }, i) => [id, i]))
  return {
    graph,
    sizes: graph.nodes.map(({ label, kind }) => nodeSize(label, kind ?? 'rectangle')),
    ends: graph.edges.map(({ from, to }) => [numbers.get(from) as number, numbers.get(to) as number]),
  }
}

export function layOut(
  { graph, sizes, ends }: SizedGraph,
  layout: 'layered' | 'grid' = ends.length > 0 ? 'layered' : 'grid',
): DiagramLayout {
  return layoutDiagram({
    nodes: sizes.map((size, i) => ({ ...size, name: String(i), at: null })),
    edges: ends.map(([from, to], i) => {
      const { label } = at(graph.edges, i)
      return { from, to, label: label === undefined ? null : labelSize(label) }
    }),
    layout,
    direction: graph.direction,
    routing: 'orthogonal',
    obstacles: [],
    taken: [],
    near: null,
  })
}

export function drawingOf({ sizes, ends }: SizedGraph, layout: DiagramLayout): Drawing {
  return {
    boxes: layout.centres.map((centre, i) => ({ ...centre, ...at(sizes, i) })),
    lines: layout.edges.map(({ start, waypoints, end }, i) => {
      const [from, to] = at(ends, i)
      return { from, to, points: [start, ...(waypoints ?? []), end] }
    }),
  }
}

/** By edge its label, where the layout put it. */
export function labelsOf({ graph }: SizedGraph, layout: DiagramLayout): readonly (EdgeLabel | null)[] {
  return layout.edges.map(({ labelPosition }, i) => {
    const { label } = at(graph.edges, i)
    return label === undefined ? null : { ...labelSize(label), position: labelPosition ?? 0.5 }
  })
}

/** Whether the layout drew an edge at the side that is reserved for edges that lead back. */
export function leadsBack({ graph }: SizedGraph, layout: DiagramLayout): (edge: number) => boolean {
  const aside = graph.direction === 'LR' ? 'bottom' : 'right'
  return (edge) => at(layout.edges, edge).startAnchor === aside && at(layout.edges, edge).endAnchor === aside
}
