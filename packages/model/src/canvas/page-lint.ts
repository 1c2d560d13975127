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
  for (const entry of faultsOf(boxes, lines.map(withoutNeedlessPoints))) {
    total++
    if (lint.length < maxEntries) lint.push(entry)
  }
  return { lint, ...(total > lint.length && { lintTotal: total }) }
}

function* faultsOf(boxes: readonly CertifiedBox[], lines: readonly PageLine[]): Generator<LintEntry> {
  for (const [behind, before] of overlapsOf(boxes)) yield { kind: 'overlap', shapes: [behind.id, before.id] }
  for (const [line, box] of throughNodesOf(boxes, lines)) yield { kind: 'through-node', shapes: [line.id, box.id] }
  for (const [one, other] of crossingsOf(lines)) yield { kind: 'crossing', shapes: [one.id, other.id] }
  for (const { id, overflows } of boxes) if (overflows) yield { kind: 'text-overflow', shapes: [id] }
  for (const { id, looseEnds } of lines) if (looseEnds > 0) yield { kind: 'loose-end', shapes: [id] }
}
