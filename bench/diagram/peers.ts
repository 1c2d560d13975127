import dagre from '@dagrejs/dagre'
import { Graphviz } from '@hpcc-js/wasm-graphviz'
import ElkConstructor, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js'
import type { Drawing, Line, Place } from './drawing.ts'
import type { Graph } from './graph.ts'

/** A graph with the node sizes that all layouts get. */
export interface SizedGraph {
  readonly graph: Graph
  readonly sizes: readonly { readonly width: number; readonly height: number }[]
  /** The ends of each edge, as indexes in `nodes`. */
  readonly ends: readonly (readonly [number, number])[]
}

export type Peer = (sized: SizedGraph) => Promise<Drawing>

/** The gap that the rules require; all layouts get the same. */
const GAP = 80
const LANE = 12
const CLEARANCE = 15

export const withDagre: Peer = async ({ graph, sizes, ends }) => {
  const drawn = new dagre.graphlib.Graph({ multigraph: true })
  drawn.setGraph({ rankdir: graph.direction, nodesep: GAP, ranksep: GAP, edgesep: LANE })
  drawn.setDefaultEdgeLabel(() => ({}))
  sizes.forEach((size, i) => drawn.setNode(String(i), { ...size }))
  ends.forEach(([from, to], i) => drawn.setEdge(String(from), String(to), {}, String(i)))
  dagre.layout(drawn)
  return {
    boxes: sizes
      .map((size, i) => ({ ...(drawn.node(String(i)) as unknown as Place), ...size }))
      .map(({ x, y, width, height }) => ({ x, y, width, height })),
    lines: ends.map(([from, to], i) => ({
      from,
      to,
      points: ((drawn.edge(String(from), String(to), String(i)) as unknown as { points?: Place[] }).points ?? []).map(
        ({ x, y }) => ({
          x,
          y,
        }),
      ),
    })),
  }
}

const elk = new ElkConstructor.default()

const elkOptions = (graph: Graph): { [option: string]: string } => ({
  'elk.algorithm': 'layered',
  'elk.direction': graph.direction === 'LR' ? 'RIGHT' : 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.spacing.nodeNode': String(GAP),
  'elk.spacing.componentComponent': String(GAP),
  'elk.spacing.edgeEdge': String(LANE),
  'elk.spacing.edgeNode': String(CLEARANCE),
  'elk.layered.spacing.nodeNodeBetweenLayers': String(GAP),
  'elk.layered.spacing.edgeEdgeBetweenLayers': String(LANE),
  'elk.layered.spacing.edgeNodeBetweenLayers': '20',
})

export const withElk: Peer = async ({ graph, sizes, ends }) => {
  const children = sizes.map((size, i): ElkNode => ({ id: `n${i}`, ...size }))
  const edges = ends.map(([from, to], i): ElkExtendedEdge => ({ id: `e${i}`, sources: [`n${from}`], targets: [`n${to}`] }))
  return elkDrawing(await elk.layout({ id: 'root', layoutOptions: elkOptions(graph), children, edges }), sizes, ends)
}

/** ELK with edge ends restricted to the middles of the four sides, as this repository's rules require. `back`: which edges lead back. */
export const withElkHeld =
  (back: (edge: number) => boolean): Peer =>
  async ({ graph, sizes, ends }) => {
    const children = sizes.map(
      ({ width, height }, i): ElkNode => ({
        id: `n${i}`,
        width,
        height,
        layoutOptions: { 'elk.portConstraints': 'FIXED_POS' },
        ports: [
          { id: `n${i}t`, x: width / 2, y: 0, width: 0, height: 0, layoutOptions: { 'elk.port.side': 'NORTH' } },
          { id: `n${i}b`, x: width / 2, y: height, width: 0, height: 0, layoutOptions: { 'elk.port.side': 'SOUTH' } },
          { id: `n${i}l`, x: 0, y: height / 2, width: 0, height: 0, layoutOptions: { 'elk.port.side': 'WEST' } },
          { id: `n${i}r`, x: width, y: height / 2, width: 0, height: 0, layoutOptions: { 'elk.port.side': 'EAST' } },
        ],
      }),
    )
    const [out, into, aside] = graph.direction === 'LR' ? ['r', 'l', 'b'] : ['b', 't', 'r']
    const edges = ends.map(([from, to], i): ElkExtendedEdge => {
      const [start, end] = from === to ? ['r', 'b'] : back(i) ? [aside, aside] : [out, into]
      return { id: `e${i}`, sources: [`n${from}${start}`], targets: [`n${to}${end}`] }
    })
    return elkDrawing(await elk.layout({ id: 'root', layoutOptions: elkOptions(graph), children, edges }), sizes, ends)
  }

function elkDrawing(drawn: ElkNode, sizes: SizedGraph['sizes'], ends: SizedGraph['ends']): Drawing {
  const placed = new Map((drawn.children ?? []).map((node) => [node.id, node]))
  const routed = new Map(((drawn.edges ?? []) as ElkExtendedEdge[]).map((edge) => [edge.id, edge]))
  return {
    boxes: sizes.map((size, i) => {
      const { x = 0, y = 0 } = placed.get(`n${i}`) ?? {}
      return { x: x + size.width / 2, y: y + size.height / 2, ...size }
    }),
    lines: ends.map(([from, to], i): Line => {
      const [section] = routed.get(`e${i}`)?.sections ?? []
      const points = section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]
      return { from, to, points }
    }),
  }
}

const POINTS_PER_INCH = 72

/** Graphviz dot. It returns right-angled edges as curve pieces whose control points are on the line. */
export async function dotPeer(): Promise<Peer> {
  const graphviz = await Graphviz.load()
  return async ({ graph, sizes, ends }) => {
    const inches = (units: number) => (units / POINTS_PER_INCH).toFixed(4)
    const source = [
      `digraph { rankdir=${graph.direction} splines=ortho nodesep=${inches(GAP)} ranksep=${inches(GAP)} node [shape=box fixedsize=true label=""] edge [dir=none]`,
      ...sizes.map(({ width, height }, i) => `n${i} [width=${inches(width)} height=${inches(height)}]`),
      ...ends.map(([from, to], i) => `n${from} -> n${to} [id=e${i}]`),
      '}',
    ].join('\n')
    const drawn = JSON.parse(graphviz.layout(source, 'json', 'dot')) as {
      objects: { name: string; pos: string }[]
      edges?: { id: string; pos: string }[]
    }
    const places = new Map(drawn.objects.map(({ name, pos }) => [name, placeOf(pos)]))
    const routes = new Map((drawn.edges ?? []).map(({ id, pos }) => [id, pos]))
    return {
      boxes: sizes.map((size, i) => ({ ...(places.get(`n${i}`) ?? { x: 0, y: 0 }), ...size })),
      lines: ends.map(([from, to], i) => ({ from, to, points: splinePoints(routes.get(`e${i}`) ?? '') })),
    }
  }
}

function placeOf(text: string): Place {
  const [x = 0, y = 0] = text.split(',').map(Number)
  return { x, y: -y }
}

function splinePoints(pos: string): Place[] {
  const points = pos
    .split(' ')
    .filter((part) => /^-?[0-9]/.test(part))
    .map(placeOf)
  return points.filter((_, i) => i % 3 === 0)
}
