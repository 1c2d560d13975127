import type { Point } from '../../geometry/bounds.ts'
import type { Effort } from '../effort.ts'
import { backEdges } from './back-edges.ts'
import { bundle } from './bundle.ts'
import { columnsOf } from './columns.ts'
import { costOfLabels } from './cover.ts'
import { labelsIn, makeRoomAtLabels } from './label-spots.ts'
import { type Levels, levelsOf, makeRoomForLabels } from './levels.ts'
import type { Part } from './part.ts'
import { rankNodes } from './ranks.ts'
import { channelsOf, drawRows, type Rows } from './rows.ts'
import { untangle } from './untangle.ts'

export interface PartDrawing {
  readonly centres: readonly Point[]
  /** By edge, all points of its way, without points on straight stretches. */
  readonly routes: readonly (readonly Point[])[]
  /** By edge, whether it leads back. Such edges leave and arrive at the right side of their nodes. */
  readonly back: readonly boolean[]
}

/** How often, at most, the lanes are laid again around the labels. */
const ROUNDS = 3
/** In a part with more nodes than this, the lanes are laid again only once, and the columns stay as they are. */
const LARGE = 150

/** Draws one connected part in layers from the top down. [DIAG-6, DIAG-7, DIAG-11, DIAG-12, DIAG-14, DIAG-15] */
export function drawPart(part: Part, effort: Effort): PartDrawing {
  const count = part.boxes.length
  const back = backEdges(count, part.edges)
  const ranks = rankNodes(count, part.edges, back, effort)
  const levels = levelsOf(part, back, ranks)
  const order = untangle(levels, effort.share(0.6))
  bundle(levels, order, effort)
  makeRoomForLabels(levels)
  const columns = columnsOf(levels, order, effort)
  if (part.edges.every(({ labelAcross }) => labelAcross === 0))
    return ofRows(drawRows(levels, columns, channelsOf(levels, columns, effort)), back)
  const isLarge = count > LARGE
  const first = bestRows(levels, columns, isLarge, effort)
  if (isLarge || first.cost === 0) return ofRows(first.rows, back)
  makeRoomAtLabels(levels, columns, first.rows)
  const second = bestRows(levels, columnsOf(levels, order, effort), isLarge, effort)
  return ofRows(second.cost < first.cost ? second.rows : first.rows, back)
}

function ofRows({ centres, routes }: Rows, back: readonly boolean[]): PartDrawing {
  return { centres, routes, back }
}

/**
 * Lays the lanes and places the labels. Then lays the lanes again around the labels and places the labels anew. Returns the drawing whose labels cover
 * least. For a large part, returns the second drawing with cost 0, without counting what its labels cover.
 */
function bestRows(levels: Levels, columns: Int32Array, isLarge: boolean, effort: Effort): { rows: Rows; cost: number } {
  const channels = channelsOf(levels, columns, effort)
  /** The steps that laying the lanes once costs. */
  const steps = channels.reduce((sum, { runs }) => sum + runs.length ** 2, 0)
  const costOf = ({ centres, routes }: Rows) => costOfLabels(levels.part, centres, routes, effort)
  const again = (rows: Rows, isFirst: boolean) =>
    drawRows(levels, columns, channels, labelsIn(levels, columns, channels, rows, isFirst))
  let rows = drawRows(levels, columns, channels)
  if (isLarge) return { rows: again(rows, true), cost: 0 }
  let best = { rows, cost: costOf(rows) }
  for (let round = 0; round < ROUNDS && best.cost > 0 && effort.spend(steps); round++) {
    rows = again(rows, round === 0)
    const cost = costOf(rows)
    if (cost < best.cost) best = { rows, cost }
  }
  return best
}
