import type { CanvasPage } from '../body.ts'
import { memberOf } from '../json.ts'
import {
  type CertifiedBox,
  type CertifiedLine,
  type Counts,
  countsOf,
  crossingsOf,
  overlapsOf,
  throughNodesOf,
  withoutNeedlessPoints,
} from './diagram/certificate.ts'
import { connectorLine } from './geometry/connector-line.ts'
import { labelOverflows } from './label-fit.ts'
import { boundsOfShape, courseOf, type PageGeometry, pageGeometry, shapeValues } from './page-geometry.ts'
import { kindOf } from './shape-kinds.ts'

/** The kinds of faults that a drawing may have. [AG-109] */
export const lintKinds = ['overlap', 'through-node', 'crossing', 'text-overflow', 'loose-end'] as const
export type LintKind = (typeof lintKinds)[number]

/** One fault of a page. */
export interface LintEntry {
  readonly kind: LintKind
  /** The ids of the shapes concerned. In an overlap the shape behind comes first; in a `through-node` the connector comes first. */
  readonly shapes: readonly string[]
}

/** The members of an answer that list the faults of a page. `lintTotal`, the number of all faults, is present only when `lint` leaves some out. [AG-109] */
export interface PageLint {
  readonly lint: readonly LintEntry[]
  readonly lintTotal?: number
  /** Present when at least one kind has more than 10,000 faults. Only 10,000 of these are counted, so `lintTotal` is too low. */
  readonly lintPartial?: true
}

/** A connector or line of a page. */
export interface PageLine extends CertifiedLine {
  readonly id: string
  /** How many ends of a connector are attached to no shape of the page. Always 0 for a shape of the type `line`, which needs no shapes. */
  readonly looseEnds: number
}

/** The visible boxes and lines of a page, back to front, as certificate and lint judge them. [AG-108, AG-109] */
export interface PageDrawing {
  readonly boxes: readonly CertifiedBox[]
  readonly lines: readonly PageLine[]
}

const maxEntries = 50
/**
 * The search for faults of one kind ends after this many. There may be far more: all boxes of a heap overlap in pairs, and two connectors with 500
 * waypoints each may cross in 250,000 places. [CONC-13]
 */
const maxOfKind = 10_000

/** Returns the visible boxes, connectors and lines of a page. [AG-108, AG-109] */
export function pageDrawing(geometry: PageGeometry): PageDrawing {
  const boxes: CertifiedBox[] = []
  const lines: PageLine[] = []
  for (const [id, value] of geometry.shapes) {
    if (memberOf(value, 'visible') === false) continue
    const { form, type } = kindOf(value)
    const bounds = form === 'box' ? boundsOfShape(id, geometry) : null
    if (bounds !== null) boxes.push({ id, bounds, overflows: labelOverflows(value) })
    if (form !== 'line') continue
    const course = courseOf(value)
    const attached = ({ shapeId }: typeof course.start): string | null =>
      shapeId !== null && geometry.boxes.has(shapeId) ? shapeId : null
    const [startId, endId] = [attached(course.start), attached(course.end)]
    const looseEnds = type === 'connector' ? [startId, endId].filter((end) => end === null).length : 0
    lines.push({ id, points: connectorLine(course, geometry.boxes).outline, startId, endId, looseEnds })
  }
  return { boxes, lines }
}

/** Counts the same faults and bends on a page that the certificate of a diagram counts. [AG-108] */
export function countsOfPage(geometry: PageGeometry): Counts {
  const { boxes, lines } = pageDrawing(geometry)
  return countsOf(boxes, lines)
}

/**
 * Lists the faults of a page, at most 50. Overlaps, connectors through boxes, crossings and labels without room are the same ones that the certificate of
 * a diagram counts. [AG-108, AG-109]
 */
export function lintPage(page: CanvasPage): PageLint {
  const { boxes, lines } = pageDrawing(pageGeometry(shapeValues(page)))
  const lint: LintEntry[] = []
  let total = 0
  let isPartial = false
  for (const faults of faultsOf(boxes, lines.map(withoutNeedlessPoints))) {
    let ofKind = 0
    for (const entry of faults) {
      if (ofKind === maxOfKind) {
        isPartial = true
        break
      }
      ofKind++
      if (lint.length < maxEntries) lint.push(entry)
    }
    total += ofKind
  }
  return { lint, ...(total > lint.length && { lintTotal: total }), ...(isPartial && { lintPartial: true }) }
}

/** Returns one sequence of faults for each kind. A fault is looked for only when it is taken from its sequence. */
function faultsOf(boxes: readonly CertifiedBox[], lines: readonly PageLine[]): readonly Iterable<LintEntry>[] {
  const entry = (kind: LintKind, shapes: readonly { readonly id: string }[]): LintEntry => ({
    kind,
    shapes: shapes.map(({ id }) => id),
  })
  return [
    each(overlapsOf(boxes), (pair) => entry('overlap', pair)),
    each(throughNodesOf(boxes, lines), (pair) => entry('through-node', pair)),
    each(crossingsOf(lines), (pair) => entry('crossing', pair)),
    each(boxes, (box) => (box.overflows ? entry('text-overflow', [box]) : null)),
    each(lines, (line) => (line.looseEnds > 0 ? entry('loose-end', [line]) : null)),
  ]
}

function* each<T>(found: Iterable<T>, entryOf: (found: T) => LintEntry | null): Generator<LintEntry> {
  for (const one of found) {
    const entry = entryOf(one)
    if (entry !== null) yield entry
  }
}
