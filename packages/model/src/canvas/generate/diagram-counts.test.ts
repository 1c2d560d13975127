import { describe, expect, it } from 'vitest'
import type { CanvasPage, DocumentBody } from '../../body.ts'
import { type Edited, isRefusal } from '../../edit.ts'
import { runEdit } from '../../edits.ts'
import type { JsonObject } from '../../json.ts'
import { body, canvasPage } from '../../testing/builders.ts'
import { certified } from '../diagram/certificate.ts'
import { pageGeometry, shapeValues } from '../page-geometry.ts'
import { countsOfPage } from '../page-lint.ts'
import { now } from '../testing/shape-editing.ts'
import type { GenerateDiagram } from './diagram-input.ts'
import { drawDiagram } from './draw-diagram.ts'
import type { GeneratedDiagram } from './generate-diagram.ts'

function done(given: DocumentBody, call: Omit<GenerateDiagram, 'pageId'>): Edited<GeneratedDiagram> {
  let minted = 0
  const environment = { nowMs: now, random: (count: number) => String(minted++).padStart(count, '0') }
  const answer = runEdit('generate_diagram', given, { pageId: 'c', ...call }, environment)
  if (isRefusal(answer)) throw new Error(`${answer.code} ${answer.message}`)
  return answer as Edited<GeneratedDiagram>
}

const page = (...shapes: readonly JsonObject[]): DocumentBody => body({ pages: [canvasPage('c', ...shapes)] })
const rectangle = (id: string, x: number, y: number): JsonObject => ({ id, type: 'rectangle', x, y, width: 100, height: 80 })
const joint = (id: string, x: number, y: number, x2: number, y2: number): JsonObject => ({ id, type: 'connector', x, y, x2, y2 })
const nodes = (...ids: readonly string[]) => ids.map((id) => ({ id }))
const edges = (...pairs: readonly (readonly [string, string])[]) => pairs.map(([from, to]) => ({ from, to }))

describe('counts of a diagram drawn below everything', () => {
  const call = {
    nodes: nodes('a', 'b', 'c', 'd'),
    edges: edges(['a', 'b'], ['b', 'c'], ['c', 'a'], ['a', 'd'], ['d', 'b'], ['a', 'c']),
  }
  const drawn = drawDiagram(null, { pageId: 'c', ...call })
  if (isRefusal(drawn)) throw new Error(drawn.code)

  it.each([
    ['an empty page', []],
    [
      'shapes that overlap and a connector through one',
      [rectangle('s1', 0, 0), rectangle('s2', 30, 10), joint('k', -100, 0, 500, 30)],
    ],
    ['coordinates that are not integers', [rectangle('s1', 0.1, 0.2), joint('k', -100.3, 0.7, 500.9, 30.1)]],
    [
      'a shape so far below that the drawing cannot stand under it',
      [rectangle('s1', 999_000, 3_000_000), rectangle('s2', 1_000_020, 1_000_030)],
    ],
  ])('[AG-108] [DIAG-10] the counts cover the whole page, with and without a layout made before the write: %s', (_, shapes) => {
    for (const given of [call, { ...call, drawn }]) {
      const { body: edited, result } = done(page(...shapes), given)
      const { name, ...counted } = result.layout
      const stored = edited.canvas.pages[0] as CanvasPage
      expect([name, counted]).toEqual(['layered', certified(countsOfPage(pageGeometry(shapeValues(stored))))])
    }
  })

  it('[DIAG-17] a layout made before the write has the counts of its drawing, so that the write need not count them', () => {
    expect(drawn.counts).toMatchObject({ overlaps: 0, throughNodes: 0, bounds: drawn.layout.bounds })
  })

  it('[TOOL-12] new shapes get ids that no page of the document has, however many there are', () => {
    const [own] = done(page(), call).result.edges
    const taken = body({ pages: [canvasPage('c'), canvasPage('c2', rectangle(own as string, 0, 0))] })
    const { body: edited } = done(taken, call)
    const ids = edited.canvas.pages.flatMap(({ shapes }) => shapes.map(({ id }) => id))
    expect([ids.length, new Set(ids).size]).toEqual([11, 11])
  })
})
