import { simplified } from '../../geometry/polyline.ts'
import { at } from '../at.ts'
import { Effort } from '../effort.ts'
import type { Point } from '../../geometry/bounds.ts'
import { backEdges } from './back-edges.ts'
import { bundle } from './bundle.ts'
import { type Channel, routeChannel } from './channel.ts'
import { columnsOf } from './columns.ts'
import { type Levels, levelsOf, makeRoomForLabels } from './levels.ts'
import { LANE, NODE_GAP, type Part, STUB } from './part.ts'
import { rankNodes } from './ranks.ts'
import { untangle } from './untangle.ts'

export interface PartDrawing {
  readonly centres: readonly Point[]
  /** By edge its way from end to end, without points on straight stretches. */
  readonly routes: readonly (readonly Point[])[]
  /** Edges that lead back: they leave and arrive at the right side of their nodes. */
  readonly back: readonly boolean[]
}

/** Draws one connected part in layers from the top down. [DIAG-6, DIAG-7, DIAG-11, DIAG-14, DIAG-15] */
export function drawPart(part: Part, effort: Effort): PartDrawing {
  const count = part.boxes.length
  const back = backEdges(count, part.edges)
  const ranks = rankNodes(count, part.edges, back, effort)
  const levels = levelsOf(part, back, ranks)
  const order = untangle(levels, effort.share(0.6))
  bundle(levels, order)
  makeRoomForLabels(levels)
  const columns = columnsOf(levels, order, effort)
  const channels = channelsOf(levels, columns)
  const { middles, tops } = rows(levels, channels)
  const jogs = channels.flatMap(({ pieces, channel }, layer) =>
    pieces.map((piece, k) => {
      const { height, top } = at(tops, layer)
      const first = top + Math.floor((height - (channel.lanes - 1) * LANE) / 2)
      const places = at(channel.jogs, k).map(({ lane, x }) => ({ x, y: first + lane * LANE }))
      return [piece, places] as const
    }),
  )
  const jogsOf = new Map(jogs)
  const centres = part.boxes.map((_, v) => ({ x: at(columns, v), y: at(middles, at(levels.layerOf, v)) }))
  const routes = part.edges.map((_, edge) => routeOf(levels, edge, columns, centres, jogsOf))
  return { centres, routes, back }
}

/** The pieces below each layer, as places in `levels.pieces`, and their lanes. */
function channelsOf(levels: Levels, columns: Int32Array): readonly { pieces: readonly number[]; channel: Channel }[] {
  const pieces: number[][] = levels.layers.map(() => [])
  levels.pieces.forEach(({ upper }, i) => at(pieces, at(levels.layerOf, upper)).push(i))
  return pieces.map((own) => ({
    pieces: own,
    channel: routeChannel(
      own.map((i) => {
        const { upper, lower, edges } = at(levels.pieces, i)
        const label = Math.max(...edges.map((edge) => at(levels.part.edges, edge).labelAcross))
        const [upperX, lowerX] = [at(columns, upper), at(columns, lower)]
        return { upperX, lowerX, upperPin: upper, lowerPin: lower, edges: edges.length, label }
      }),
    ),
  }))
}

/** The middle line of each layer, and where the channel below it is. */
function rows(
  levels: Levels,
  channels: readonly { channel: Channel }[],
): { middles: number[]; tops: { top: number; height: number }[] } {
  const middles: number[] = []
  const tops: { top: number; height: number }[] = []
  const labels = levels.layers.map(() => 0)
  for (const { upper, lower, edges } of levels.pieces)
    if (levels.kind[upper] !== 'way' && levels.kind[lower] !== 'way')
      for (const edge of edges) {
        const layer = at(levels.layerOf, upper)
        labels[layer] = Math.max(at(labels, layer), at(levels.part.edges, edge).labelAlong)
      }
  let y = 0
  levels.layers.forEach((items, layer) => {
    const boxes = items.filter((item) => levels.kind[item] === 'node').map((item) => at(levels.part.boxes, item))
    const middle = y + Math.max(0, ...boxes.map((box) => box.up))
    const top = middle + Math.max(0, ...boxes.map((box) => box.down))
    const lanes = 2 * STUB + (at(channels, layer).channel.lanes - 1) * LANE
    const height = Math.max(NODE_GAP, lanes, 2 * STUB + at(labels, layer))
    middles.push(middle)
    tops.push({ top, height })
    y = top + height
  })
  return { middles, tops }
}

function routeOf(
  levels: Levels,
  edge: number,
  columns: Int32Array,
  centres: readonly Point[],
  jogsOf: ReadonlyMap<number, readonly Point[]>,
): readonly Point[] {
  const { from, to } = at(levels.part.edges, edge)
  const isBack = levels.back[edge] === true
  const [top, bottom] = isBack ? [to, from] : [from, to]
  const chain = at(levels.chains, edge)
  const points: Point[] = [anchor(levels, centres, top, isBack ? 'right' : 'bottom')]
  if (isBack) points.push({ x: at(columns, at(chain, 0)), y: at(centres, top).y })
  for (const piece of piecesOf(levels, edge)) {
    let x = at(columns, at(levels.pieces, piece).upper)
    for (const jog of jogsOf.get(piece) ?? []) {
      points.push({ x, y: jog.y }, jog)
      x = jog.x
    }
  }
  if (isBack) points.push({ x: at(columns, at(chain, chain.length - 1)), y: at(centres, bottom).y })
  points.push(anchor(levels, centres, bottom, isBack ? 'right' : 'top'))
  const route = simplified(points)
  return isBack ? route.toReversed() : route
}

function anchor({ part }: Levels, centres: readonly Point[], node: number, side: 'top' | 'right' | 'bottom'): Point {
  const [{ x, y }, { halfWidth, halfHeight }] = [at(centres, node), at(part.boxes, node)]
  if (side === 'right') return { x: x + halfWidth, y }
  return { x, y: side === 'top' ? y - halfHeight : y + halfHeight }
}

const pieceTables = new WeakMap<Levels, number[][]>()

/** The pieces of an edge from the top down. */
function piecesOf(levels: Levels, edge: number): readonly number[] {
  let table = pieceTables.get(levels)
  if (table === undefined) {
    table = levels.part.edges.map(() => [])
    const sorted = levels.pieces.map((_, i) => i).sort((a, b) => upperLayer(levels, a) - upperLayer(levels, b))
    for (const piece of sorted) for (const own of at(levels.pieces, piece).edges) at(table, own).push(piece)
    pieceTables.set(levels, table)
  }
  return at(table, edge)
}

function upperLayer(levels: Levels, piece: number): number {
  return at(levels.layerOf, at(levels.pieces, piece).upper)
}
