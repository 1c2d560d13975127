import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanvasPage, DocumentBody, Shape } from '../../body.ts'
import { bodyGrowth, growthLike } from '../../body-growth.ts'
import { changesBetween } from '../../changes/changes-between.ts'
import { type Edited, type EditEnvironment, isRefusal, type PlannedEdit } from '../../edit.ts'
import { editNames, canRefit, refitEdit, runEdit } from '../../edits.ts'
import { body, canvasPage, group, prosePage, rectangle } from '../../testing/builders.ts'
import { certified } from '../diagram/certificate.ts'
import { boundsOfPage, pageGeometry, shapeValues } from '../page-geometry.ts'
import { countsOfPage } from '../page-lint.ts'
import { now as nowMs } from '../testing/shape-editing.ts'
import type { GenerateDiagram } from './diagram-input.ts'
import { drawDiagram } from './draw-diagram.ts'
import type { GeneratedDiagram } from './generate-diagram.ts'

type Planned = PlannedEdit<GeneratedDiagram>

/** An environment that mints the same ids each time. */
function environment(): EditEnvironment {
  let minted = 0
  return { nowMs, random: (count) => String(minted++).padStart(count, '0') }
}

const edge = (from: string, to: string) => ({ from, to })
const free: GenerateDiagram = {
  pageId: 'c',
  nodes: [{ id: 'one' }, { id: 'two' }, { id: 'three' }],
  edges: [edge('one', 'two'), edge('two', 'three')],
}
const beside: GenerateDiagram = { ...free, near: 'a' }
const attached: GenerateDiagram = { ...free, nodes: [{ id: 'one', shapeId: 'b' }, { id: 'two' }, { id: 'three' }] }
const placed: GenerateDiagram = { ...free, nodes: [{ id: 'one', at: { x: 900, y: 40 } }, { id: 'two' }, { id: 'three' }] }
const CALLS: readonly GenerateDiagram[] = [free, beside, attached, placed]

const box = (id: string, x: number, y: number) => rectangle(id, { x, y, width: 100, height: 80 })
const START = body({
  pages: [
    canvasPage('c', box('a', 0, 0), box('b', 300, 0), box('m', 0, 300), group('g', 'm')),
    canvasPage('d', box('other', 0, 0)),
  ],
  richTextPages: [prosePage('p', '<p>words</p>')],
})

function drawnFor(args: GenerateDiagram, given: DocumentBody): GenerateDiagram {
  const drawn = drawDiagram(given, args)
  if (isRefusal(drawn)) throw new Error(drawn.message)
  return { ...args, drawn }
}

function plan(before: DocumentBody, args: GenerateDiagram): Planned {
  const edited = runEdit('generate_diagram', before, args, environment())
  if (isRefusal(edited)) throw new Error(edited.message)
  return { before, edited: edited as Edited<GeneratedDiagram> }
}

const refit = (planned: Planned, now: DocumentBody, args: GenerateDiagram) =>
  refitEdit('generate_diagram', planned, now, args, environment()) as Edited<GeneratedDiagram> | null

/** A change that people make to a document. */
type Doing = (given: DocumentBody) => DocumentBody

const onPage =
  (id: string, change: (shapes: readonly Shape[]) => readonly Shape[]): Doing =>
  (given) => ({
    ...given,
    canvas: {
      ...given.canvas,
      pages: given.canvas.pages.map((page) => (page.id === id ? { ...page, shapes: change(page.shapes) } : page)),
    },
  })
const shapeId = fc.constantFrom('a', 'b', 'm', 'g', 'new')
const near = fc.integer({ min: -400, max: 1_200 })
const doing: fc.Arbitrary<Doing> = fc.oneof(
  fc
    .tuple(shapeId, near, near)
    .map(([id, x, y]) =>
      onPage('c', (shapes) => shapes.map((shape) => (shape.id === id ? { id, value: { ...shape.value, x, y } } : shape))),
    ),
  shapeId.map((id) => onPage('c', (shapes) => shapes.filter((shape) => shape.id !== id))),
  fc.tuple(near, near, fc.nat(4)).map(([x, y, at]) =>
    onPage('c', (shapes) => {
      const others = shapes.filter(({ id }) => id !== 'new')
      return [...others.slice(0, at), { id: 'new', value: box('new', x, y) }, ...others.slice(at)]
    }),
  ),
  fc.constant(onPage('c', (shapes) => shapes.toReversed())),
  fc.constant(onPage('c', () => [])),
  fc.constant(onPage('d', () => [])),
  fc.string().map(
    (words): Doing =>
      (given) => ({
        ...given,
        prose: {
          ...given.prose,
          pages: given.prose.pages.map((page) => ({ ...page, content: `<p>${words.replaceAll(/[<&>]/g, '')}</p>` })),
        },
      }),
  ),
  fc.constantFrom('c', 'd').map(
    (gone): Doing =>
      (given) => ({
        ...given,
        canvas: { ...given.canvas, pages: given.canvas.pages.filter(({ id }) => id !== gone) },
      }),
  ),
)
const meanwhile = fc.array(doing, { maxLength: 4 })
const call = fc.constantFrom(...CALLS)
const after = (doings: readonly Doing[]) => doings.reduce((given, change) => change(given), START)
const pageOf = (given: DocumentBody) => given.canvas.pages.find(({ id }) => id === 'c') as CanvasPage
const added = ({ before, edited }: Planned) => pageOf(edited.body).shapes.slice(pageOf(before).shapes.length)
const countsOf = (given: DocumentBody) => certified(countsOfPage(pageGeometry(shapeValues(pageOf(given)))))

/** Plans a call on START, applies `doings`, and fits the plan to the result. Calls `holds` when the plan still fits; returns whether it does. */
function check(
  args: GenerateDiagram,
  doings: readonly Doing[],
  holds: (planned: Planned, now: DocumentBody, fitted: Edited<GeneratedDiagram>) => void,
) {
  const given = drawnFor(args, START)
  const planned = plan(START, given)
  const now = after(doings)
  const fitted = refit(planned, now, given)
  if (fitted !== null) holds(planned, now, fitted)
  return fitted !== null
}

const RUNS = { seed: 14, numRuns: 400 }

describe('a diagram that was planned before people changed the page', () => {
  it('[CONC-14] the newer body gets the planned shapes on top of its page, and all else in it stays as people left it', () => {
    let fits = 0
    fc.assert(
      fc.property(call, meanwhile, (args, doings) => {
        const isFit = check(args, doings, (planned, now, { body: made }) => {
          expect(pageOf(made)).toEqual({ ...pageOf(now), shapes: [...pageOf(now).shapes, ...added(planned)] })
          expect({ ...made, canvas: null }).toEqual({ ...now, canvas: null })
          expect(made.canvas.pages.map((page) => (page.id === 'c' ? 'c' : page))).toEqual(
            now.canvas.pages.map((page) => (page.id === 'c' ? 'c' : page)),
          )
        })
        if (isFit) fits++
      }),
      RUNS,
    )
    expect(fits).toBeGreaterThan(RUNS.numRuns / 10)
  })

  it('[CONC-14] [AG-108] the answer is that of a call on the newer body, except for the place of a drawing that depends on no shape of the page', () => {
    fc.assert(
      fc.property(call, meanwhile, (args, doings) => {
        check(args, doings, (planned, now, fitted) => {
          const anew = plan(now, drawnFor(args, START)).edited
          const bounds = (given: DocumentBody) => boundsOfPage(pageGeometry(shapeValues(pageOf(given))))
          const [was, is] = [bounds(START), bounds(now)]
          const isSamePlace = args !== free || (was?.left === is?.left && was?.bottom === is?.bottom)
          if (isSamePlace) expect({ ...fitted, selection: 0 }).toEqual({ ...anew, selection: 0 })
          const { layout, bounds: place } = fitted.result
          expect(fitted.result).toEqual({ ...anew.result, layout, bounds: place })
          expect(place).toEqual(planned.edited.result.bounds)
          expect(layout).toEqual({ name: 'layered', ...countsOf(fitted.body) })
        })
      }),
      RUNS,
    )
  })

  it('[CONC-14] [DIAG-10] a drawing placed below everything covers no shape of the newer page', () => {
    fc.assert(
      fc.property(meanwhile, (doings) => {
        check(free, doings, (_, now, fitted) => {
          const { x, y, w, h } = fitted.result.bounds
          for (const { value } of pageOf(now).shapes) {
            const { x: left, y: top, width, height } = value as unknown as { x: number; y: number; width: number; height: number }
            expect(width === undefined || left + width < x || left > x + w || top + height < y || top > y + h).toBe(true)
          }
        })
      }),
      RUNS,
    )
  })

  it('[CONC-14] [AG-66] [CONC-9] the recorded changes are those of the plan, the growth is that of the newer body', () => {
    fc.assert(
      fc.property(call, meanwhile, (args, doings) => {
        check(args, doings, ({ before, edited }, now, fitted) => {
          expect(changesBetween(now, fitted.body, args)).toEqual(changesBetween(before, edited.body, args))
          const measured = { before, after: edited.body, growth: bodyGrowth(before, edited.body) }
          expect(growthLike(measured, now, fitted.body).bytes).toBe(bodyGrowth(now, fitted.body).bytes)
        })
      }),
      RUNS,
    )
  })

  it('[CONC-14] a plan is void when its page is gone, or when a shape that the diagram names is gone or has moved', () => {
    const isVoid = (args: GenerateDiagram, ...doings: readonly Doing[]) => !check(args, doings, () => undefined)
    const gone = (id: string) => onPage('c', (shapes) => shapes.filter((shape) => shape.id !== id))
    const moved = (id: string) =>
      onPage('c', (shapes) => shapes.map((shape) => (shape.id === id ? { id, value: { ...shape.value, y: -50 } } : shape)))
    const noPage: Doing = (given) => ({ ...given, canvas: { ...given.canvas, pages: given.canvas.pages.slice(1) } })
    expect(CALLS.map((args) => isVoid(args, noPage))).toEqual([true, true, true, true])
    expect([isVoid(attached, gone('b')), isVoid(attached, moved('b')), isVoid(attached, gone('g'))]).toEqual([true, true, false])
    expect([isVoid(beside, gone('a')), isVoid(beside, moved('a')), isVoid(beside, gone('g'))]).toEqual([true, true, false])
    expect([isVoid(free, gone('a')), isVoid(free, moved('b'))]).toEqual([false, false])
  })

  it('[CONC-14] [TOOL-12] a plan is void when somebody took one of its ids meanwhile', () => {
    const args = drawnFor(free, START)
    const planned = plan(START, args)
    const id = planned.edited.result.edges[0] as string
    const now = onPage('d', (shapes) => [...shapes, { id, value: box(id, 0, 0) }])(START)
    expect(refit(planned, now, args)).toBeNull()
  })

  it('[CONC-14] generate_diagram is the only edit that is planned ahead', () => {
    expect(editNames.filter(canRefit)).toEqual(['generate_diagram'])
  })
})
