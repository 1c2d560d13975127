import { alongPolyline } from '../../geometry/polyline.ts'
import { at } from '../at.ts'
import type { Run } from './channel.ts'
import type { ChannelLabels, LabelAcross, LabelOnRun } from './lanes.ts'
import type { Levels, Piece } from './levels.ts'
import { type Channel, piecesOf, type Rows } from './rows.ts'

/**
 * Finds the labels in each channel of a drawing: on a run, or on a stretch across the channel. On a piece with one run, a label may lie before or behind
 * that run. With `isFirst` it gets the side where fewer pieces have the same pin; otherwise it keeps the side on which it lies now. [DIAG-12]
 */
export function labelsIn(
  levels: Levels,
  columns: Int32Array,
  channels: readonly Channel[],
  { routes, rooms, heightOf }: Rows,
  isFirst: boolean,
): readonly ChannelLabels[] {
  const found = channels.map(() => ({ onRuns: new Map<Run, LabelOnRun>(), across: [] as LabelAcross[] }))
  const yOf = (run: Run) => heightOf.get(run) as number
  const runsOf = new Map<number, Run[]>()
  channels.forEach(({ pieces, runs }) => {
    for (const piece of pieces) runsOf.set(piece, [])
    for (const run of runs.toSorted((a, b) => yOf(a) - yOf(b))) (runsOf.get(at(pieces, run.piece)) as Run[]).push(run)
  })
  const pinned = pinCounts(levels)
  const isBetterBehind = ({ upper, lower }: Piece) => (pinned.upper.get(upper) ?? 0) > (pinned.lower.get(lower) ?? 0)
  levels.part.edges.forEach(({ labelAcross, labelAlong, labelAt }, edge) => {
    if (labelAcross === 0) return
    const { x, y } = alongPolyline(at(routes, edge), labelAt)
    for (const place of piecesOf(levels, edge)) {
      const piece = at(levels.pieces, place)
      const layer = at(levels.layerOf, piece.upper)
      const { top, height } = at(rooms, layer)
      const runs = runsOf.get(place) as Run[]
      // The label of a detour belongs on the outer stretch of the detour, wherever the label lies now.
      const isAround = runs.length === 2 && at(runs, 0).upperX === at(runs, 1).lowerX
      if (!isAround && (y < top || y > top + height)) continue
      const { onRuns, across } = at(found, layer)
      const on = isAround ? undefined : runs.find((run) => Math.abs(yOf(run) - y) < 1)
      // A run that is shorter than its label cannot carry it.
      const isShort = on !== undefined && runs.length === 1 && on.right - on.left < labelAcross
      if (on !== undefined && !isShort) {
        onRuns.set(on, { left: x - labelAcross / 2, right: x + labelAcross / 2, along: labelAlong })
        continue
      }
      const isBehindFirst = isAround || (isFirst && runs.length === 1 && isBetterBehind(piece))
      const isBeforeAll = isFirst && runs.length === 1
      const before = isBehindFirst ? runs.slice(0, 1) : isBeforeAll ? [] : runs.filter((run) => yOf(run) < y)
      across.push(labelAcrossOf(levels, columns, edge, piece, before, runs.slice(before.length)))
    }
  })
  return found
}

/** The label of an edge on a stretch across the channel, between the runs `before` and `behind` of its piece. */
function labelAcrossOf(
  { part, kind }: Levels,
  columns: Int32Array,
  edge: number,
  { upper, lower }: Piece,
  before: readonly Run[],
  behind: readonly Run[],
): LabelAcross {
  const { labelAcross, labelAlong, labelAt } = at(part.edges, edge)
  const x = before.at(-1)?.lowerX ?? at(columns, upper)
  const length = (runs: readonly Run[]) => runs.reduce((sum, run) => sum + run.right - run.left, 0)
  const isWhole = kind[upper] === 'node' && kind[lower] === 'node'
  return {
    upperPin: before.length > 0 ? NONE : upper,
    lowerPin: behind.length > 0 ? NONE : lower,
    left: x - labelAcross / 2,
    right: x + labelAcross / 2,
    before: new Set(before),
    behind: new Set(behind),
    way: isWhole ? { share: labelAt, before: length(before), behind: length(behind), along: labelAlong, upper, lower } : null,
  }
}

/** How many pieces begin and end at each item. */
function pinCounts({ pieces }: Levels): {
  readonly upper: ReadonlyMap<number, number>
  readonly lower: ReadonlyMap<number, number>
} {
  const [uppers, lowers] = [new Map<number, number>(), new Map<number, number>()]
  for (const { upper, lower } of pieces) {
    uppers.set(upper, (uppers.get(upper) ?? 0) + 1)
    lowers.set(lower, (lowers.get(lower) ?? 0) + 1)
  }
  return { upper: uppers, lower: lowers }
}

/** Stands for a pin that the stretch of the label does not reach. NaN equals no pin. */
const NONE = Number.NaN

/** Records in `levels.labelHalf` how much room the labels of long edges need at the items beside which they lie. */
export function makeRoomAtLabels(levels: Levels, columns: Int32Array, { routes, rooms }: Rows): void {
  levels.part.edges.forEach(({ labelAcross, labelAlong, labelAt }, edge) => {
    if (labelAcross === 0) return
    const { x, y } = alongPolyline(at(routes, edge), labelAt)
    for (const item of at(levels.chains, edge)) {
      if (levels.kind[item] === 'node') continue
      const layer = at(levels.layerOf, item)
      // A label in the column of the item may also lie in the channel above or below the layer.
      const isOnItsColumn = Math.abs(at(columns, item) - x) < 1
      const [above, below] = [rooms[layer - 1], at(rooms, layer)]
      const top = above === undefined ? 0 : isOnItsColumn ? above.top : above.top + above.height
      const bottom = isOnItsColumn ? below.top + below.height : below.top
      if (y + labelAlong / 2 > top && y - labelAlong / 2 < bottom)
        levels.labelHalf[item] = Math.max(at(levels.labelHalf, item), labelAcross / 2)
    }
  })
}
