import type { Point } from '../../geometry/bounds.ts'
import { simplified } from '../../geometry/polyline.ts'
import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import { orderedRuns, type Run } from './channel.ts'
import { BESIDE_LABEL, type ChannelLabels, type LabelAcross, type Lanes, lanesOf, meets } from './lanes.ts'
import type { Levels } from './levels.ts'
import { NODE_GAP, STUB } from './part.ts'

/** The room between a layer and the next one. */
export interface Channel {
  /** The pieces of edges in the channel, as indexes into `levels.pieces`. */
  readonly pieces: readonly number[]
  /** The runs of these pieces, from top to bottom; `piece` is an index into `pieces`. */
  readonly runs: readonly Run[]
}

/** The whole part, with its layers and channels one below the other. */
export interface Rows {
  readonly centres: readonly Point[]
  /** By edge, all points of its way, without points on straight stretches. */
  readonly routes: readonly (readonly Point[])[]
  /** By channel, where it begins and how high it is. */
  readonly rooms: readonly Room[]
  readonly heightOf: ReadonlyMap<Run, number>
}

interface Room {
  readonly top: number
  readonly height: number
}

const NO_LABELS: ChannelLabels = { onRuns: new Map(), across: [] }

/** The channels below the layers with the runs of their pieces. */
export function channelsOf(levels: Levels, columns: Int32Array, effort: Effort): readonly Channel[] {
  const pieces: number[][] = levels.layers.map(() => [])
  levels.pieces.forEach(({ upper }, i) => at(pieces, at(levels.layerOf, upper)).push(i))
  return pieces.map((own) => ({
    pieces: own,
    runs: orderedRuns(
      own.map((i) => {
        const { upper, lower, edges } = at(levels.pieces, i)
        const own = edges.map((edge) => at(levels.part.edges, edge))
        return {
          ...{ upperX: at(columns, upper), lowerX: at(columns, lower), upperPin: upper, lowerPin: lower, edges: edges.length },
          label: Math.max(...own.map(({ labelAcross }) => labelAcross)),
          share: Math.min(...own.map(({ labelAt }) => Math.min(labelAt, 1 - labelAt))),
        }
      }),
      effort,
    ),
  }))
}

/** Gives all runs their lanes, and all layers and channels their heights. The labels in the channels cover as little as possible. */
export function drawRows(
  levels: Levels,
  columns: Int32Array,
  channels: readonly Channel[],
  labels: readonly ChannelLabels[] = channels.map(() => NO_LABELS),
): Rows {
  const lanes = channels.map(({ runs }, layer) => lanesOf(runs, at(labels, layer)))
  const { middles, rooms } = stacked(levels, lanes, labels)
  const heightOf = new Map<Run, number>()
  const jogsOf = new Map<number, readonly Point[]>()
  channels.forEach(({ pieces, runs }, layer) => {
    const { upper, lower, height } = at(lanes, layer)
    const room = at(rooms, layer)
    const spare = lower.size > 0 || at(labels, layer).across.length > 0 ? 0 : Math.floor((room.height - height) / 2)
    for (const run of runs) {
      const offset = upper.get(run)
      heightOf.set(run, offset === undefined ? room.top + room.height - (lower.get(run) as number) : room.top + spare + offset)
    }
    const jogs: Point[][] = pieces.map(() => [])
    for (const run of runs) at(jogs, run.piece).push({ x: run.lowerX, y: heightOf.get(run) as number })
    pieces.forEach((piece, k) =>
      jogsOf.set(
        piece,
        at(jogs, k).sort((a, b) => a.y - b.y),
      ),
    )
  })
  const centres = levels.part.boxes.map((_, v) => ({ x: at(columns, v), y: at(middles, at(levels.layerOf, v)) }))
  const routes = levels.part.edges.map((_, edge) => routeOf(levels, edge, columns, centres, jogsOf))
  return { centres, routes, rooms, heightOf }
}

/** The y of the middle line of each layer, and the room of the channel below it. */
function stacked(
  levels: Levels,
  lanes: readonly Lanes[],
  labels: readonly ChannelLabels[],
): { middles: number[]; rooms: Room[] } {
  const middles: number[] = []
  const rooms: Room[] = []
  const wanted = levels.layers.map(() => 0)
  for (const { upper, lower, edges } of levels.pieces)
    if (levels.kind[upper] === 'node' && levels.kind[lower] === 'node')
      for (const edge of edges) {
        const layer = at(levels.layerOf, upper)
        wanted[layer] = Math.max(at(wanted, layer), at(levels.part.edges, edge).labelAlong)
      }
  const reaches = levels.layers.map((items) => {
    const boxes = items.filter((item) => levels.kind[item] === 'node').map((item) => at(levels.part.boxes, item))
    return { up: Math.max(0, ...boxes.map((box) => box.up)), down: Math.max(0, ...boxes.map((box) => box.down)) }
  })
  let y = 0
  levels.layers.forEach((_, layer) => {
    const middle = y + at(reaches, layer).up
    const top = middle + at(reaches, layer).down
    const lane = at(lanes, layer)
    const forLabels = at(labels, layer).across.map((label) => {
      const beyond = {
        above: label.way === null ? 0 : at(reaches, layer).down - at(levels.part.boxes, label.way.upper).halfHeight,
        below: label.way === null ? 0 : (reaches[layer + 1]?.up ?? 0) - at(levels.part.boxes, label.way.lower).halfHeight,
      }
      return heightFor(label, at(labels, layer), lane, beyond)
    })
    const height = Math.max(NODE_GAP, lane.height, 2 * STUB + at(wanted, layer), ...forLabels)
    middles.push(middle)
    rooms.push({ top, height })
    y = top + height
  })
  return { middles, rooms }
}

/**
 * How high a channel must be, so that the label of an edge across it lies between the upper and the lower runs. The label lies at a fixed share of the way,
 * so a higher channel moves it away from both.
 */
function heightFor(
  label: LabelAcross,
  { onRuns }: ChannelLabels,
  { upper, lower }: Lanes,
  beyond: { readonly above: number; readonly below: number },
): number {
  const { way } = label
  if (way === null) return 0
  const deepest = (lanes: ReadonlyMap<Run, number>) =>
    [...lanes].reduce((most, [run, offset]) => {
      const other = onRuns.get(run)
      const beyond = other !== undefined && meets(other, label) ? other.along / 2 : 0
      return meets(run, label) ? Math.max(most, offset + beyond) : most
    }, 0)
  const room = way.along / 2 + BESIDE_LABEL
  const above = (beyond.above + deepest(upper) + room + way.before) / way.share - way.before - way.behind
  const below = (beyond.below + deepest(lower) + room + way.behind) / (1 - way.share) - way.before - way.behind
  return Math.ceil(Math.max(above, below) - beyond.above - beyond.below)
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
export function piecesOf(levels: Levels, edge: number): readonly number[] {
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
