import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { isOutdated, isRefusal } from '../edit.ts'
import { runEdit } from '../edits.ts'
import { countingEnvironment } from '../prose/testing/editing.ts'
import { body, canvasPage, rectangle } from '../testing/builders.ts'
import type { PreparedStep } from './edit-document.ts'
import { prepareSteps } from './prepare-steps.ts'

const page = (x = 0): DocumentBody =>
  body({ pages: [canvasPage('c', rectangle('s1', { x, y: 0 }), rectangle('s2', { x: 600, y: 0 }))] })

const step = (tool: string, args: object) => ({ tool, arguments: { pageId: 'c', ...args } })
const STEPS = [
  step('add_shape', { shape: { kind: 'rectangle', x: 300, y: 400, text: 'API' } }),
  step('generate_diagram', {
    nodes: [{ id: 'old', shapeId: 's1' }, { id: 'api', shapeId: '$1.id' }, { id: 'new' }],
    edges: [
      { from: 'old', to: 'api' },
      { from: 'api', to: 'new' },
    ],
  }),
  step('connect', { fromId: '$2.nodes.new', toId: 's2' }),
]

const run = (given: DocumentBody, prepared?: readonly (PreparedStep | null)[], steps: readonly object[] = STEPS) =>
  runEdit('edit_document', given, { steps, prepared }, countingEnvironment())
const prepare = (given: DocumentBody, steps = STEPS) =>
  prepareSteps(
    given,
    { steps },
    countingEnvironment(),
    () => false,
    () => undefined,
  )

function withPoints(extra: PreparedStep | null | undefined, points: readonly { readonly x: number; readonly y: number }[]) {
  const ways = extra?.ways
  if (ways === undefined || ways === 'few') throw new Error('ways are prepared')
  return { ways: ways.map((way) => ({ ...way, points })) }
}

describe('preparing the steps of a call', () => {
  it('[AG-53] [DIAG-17] [CONC-13] prepared steps give the result of unprepared ones, also with shapes of earlier steps', () => {
    const prepared = prepare(page())
    expect(prepared.map((extra) => Object.keys(extra ?? {}))).toEqual([['ways'], ['drawn'], ['ways']])
    const made = run(page(), prepared)
    expect(isRefusal(made)).toBe(false)
    expect(made).toEqual(run(page()))
  })

  it('[AG-53] [AG-106] a diagram whose shapes moved after its preparation is prepared again, or fitted with fit', () => {
    const prepared = prepare(page())
    expect(isOutdated(run(page(-500), prepared))).toBe(true)
    const fitted = prepared.map((extra) => (extra?.drawn === undefined ? extra : { ...extra, fit: true }))
    expect(run(page(-500), fitted)).toMatchObject({
      kind: 'edited',
      warnings: [{ step: 2, reason: expect.stringContaining('fitted') as unknown }],
    })
  })

  it('[CONC-13] [CANVAS-22] the write uses prepared ways between shapes of earlier steps, which get other ids', () => {
    const steps = [
      step('add_shape', { shape: { kind: 'rectangle', x: 0, y: 600 } }),
      step('add_shape', { shape: { kind: 'rectangle', x: 900, y: 600 } }),
      step('add_shape', { shape: { kind: 'rectangle', x: 450, y: 600 } }),
      step('connect', { fromId: '$1.id', toId: '$2.id' }),
      step('connect', { fromId: '$1.id', toId: '$1.id' }),
    ]
    const [, , , way, loop] = prepare(page(), steps)
    // Ways that no search would find, so that the test can tell prepared ways from found ways.
    const high = [-1000, -1000].map((y, i) => ({ x: i === 0 ? 80 : 820, y }))
    const wide = [200, 200].map((x, i) => ({ x, y: i === 0 ? 600 : 2000 }))
    const given = [null, null, null, withPoints(way, high), withPoints(loop, wide)]
    let made = 700
    const environment = { nowMs: 1, random: (count: number) => String(made++).padStart(count, '0') }
    const edited = runEdit('edit_document', page(), { steps, prepared: given }, environment)
    if (isRefusal(edited)) throw new Error(edited.message)
    const drawn = edited.body.canvas.pages[0]?.shapes.slice(-2).map(({ value }) => value['waypoints'])
    expect(drawn).toEqual([high, wide])
    expect(edited.warnings).toEqual([])
  })

  it('[CONC-13] the write searches for missing ways no longer for many steps than for one', () => {
    const shapes = Array.from({ length: 150 }, (_, i) => {
      return rectangle(`s${i}`, { x: (i % 12) * 260, y: Math.floor(i / 12) * 160, width: 100, height: 80 })
    })
    const steps = Array.from({ length: 50 }, (_, i) => {
      const anchors = { fromAnchor: ['top', 'right', 'bottom', 'left'][i % 4] as string, toAnchor: 'top' }
      return step('connect', { fromId: 's75', toId: `s${(i * 83 + 11) % 150}`, ...anchors })
    })
    const given = body({ pages: [canvasPage('c', ...shapes)] })
    const edited = run(given, [], steps)
    if (isRefusal(edited)) throw new Error(edited.message)
    const direct = edited.warnings.filter(({ reason }) => reason.includes('no clear way'))
    expect(direct.length).toBeGreaterThan(0)
    expect(direct.length).toBeLessThan(50)
  })

  it('[AG-53] a diagram behind a step that was refused in the preparation is not laid out within the write', () => {
    const steps = [step('delete_shape', { id: 's2' }), step('generate_diagram', { nodes: [{ id: 'a' }] })]
    const without = body({ pages: [canvasPage('c', rectangle('s1'))] })
    const prepared = prepare(without, steps)
    expect(prepared).toHaveLength(1)
    expect(run(without, prepared, steps)).toMatchObject({ code: 'ERR_SHAPE_NOT_FOUND' })
    expect(isOutdated(run(page(), prepared, steps))).toBe(true)
  })

  it('[AG-58] the preparation of steps ends when its spend function throws', () => {
    const stop = () => {
      throw new Error('stopped')
    }
    expect(() => prepareSteps(page(), { steps: STEPS }, countingEnvironment(), () => true, stop)).toThrow('stopped')
  })
})
