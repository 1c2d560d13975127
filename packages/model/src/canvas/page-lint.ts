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

/** What may be wrong with a drawing. [AG-109] */
export const lintKinds = ['overlap', 'through-node', 'crossing', 'text-overflow', 'loose-end'] as const
export type LintKind = (typeof lintKinds)[number]

/** One fault of a page. */
export interface LintEntry {
  readonly kind: LintKind
  /** Ids of the shapes that it is about: of an overlap the one behind first, of a way through a box the connector first. */
  readonly shapes: readonly string[]
}

/** The members of an answer that say what is wrong with a page; `lintTotal` only where entries are left out. [AG-109] */
export interface PageLint {
  readonly lint: readonly LintEntry[]
  readonly lintTotal?: number
  /** There may be more than `lintTotal`: of some kind no more were looked for. */
  readonly lintPartial?: true
}

/** A connector or line of a page. */
export interface PageLine extends CertifiedLine {
  readonly id: string
  /** How many of its ends should be attached to a shape of the page and are not; lines without arrows need none. */
  readonly looseEnds: number
}

/** A page as it is judged: what is visible, back to front. [AG-108, AG-109] */
export interface PageDrawing {
  readonly boxes: readonly CertifiedBox[]
  readonly lines: readonly PageLine[]
}

const maxEntries = 50
/** Of each kind no more are looked for: boxes in a heap cover each other in pairs, and two connectors may cross in a quarter of a million places. [CONC-13] */
const maxOfKind = 10_000

/** The boxes and connectors of a page that can be seen. [AG-108, AG-109] */
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

/** What a certificate counts on a page. [AG-108] */
export function countsOfPage(geometry: PageGeometry): Counts {
  const { boxes, lines } = pageDrawing(geometry)
  return countsOf(boxes, lines)
}

/**
 * What is wrong with a page, at most 50 entries. Overlaps, ways through boxes, crossings and labels without room are those that the certificate of a
 * diagram counts. [AG-108, AG-109]
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

/** The faults of each kind, found one by one. */
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
