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

describe('what is prepared for the steps of a call', () => {
  it('[AG-53] [DIAG-17] [CONC-13] steps that were prepared make what they make without, also of shapes that the steps before them made', () => {
    const prepared = prepare(page())
    expect(prepared.map((extra) => Object.keys(extra ?? {}))).toEqual([['ways'], ['drawn'], ['ways']])
    const made = run(page(), prepared)
    expect(isRefusal(made)).toBe(false)
    expect(made).toEqual(run(page()))
  })

  it('[AG-53] [AG-106] a diagram that was prepared for shapes which moved since is prepared again, or fitted at last', () => {
    const prepared = prepare(page())
    expect(isOutdated(run(page(-500), prepared))).toBe(true)
    const fitted = prepared.map((extra) => (extra?.drawn === undefined ? extra : { ...extra, fit: true }))
    expect(run(page(-500), fitted)).toMatchObject({
      kind: 'edited',
      warnings: [{ step: 2, reason: expect.stringContaining('fitted') as unknown }],
    })
  })

  it('[AG-53] a diagram that was not reached when its call was prepared is not laid out within the write', () => {
    const steps = [step('delete_shape', { id: 's2' }), step('generate_diagram', { nodes: [{ id: 'a' }] })]
    const without = body({ pages: [canvasPage('c', rectangle('s1'))] })
    const prepared = prepare(without, steps)
    expect(prepared).toHaveLength(1)
    expect(run(without, prepared, steps)).toMatchObject({ code: 'ERR_SHAPE_NOT_FOUND' })
    expect(isOutdated(run(page(), prepared, steps))).toBe(true)
  })

  it('[AG-58] preparing ends when it is told to', () => {
    const stop = () => {
      throw new Error('stopped')
    }
    expect(() => prepareSteps(page(), { steps: STEPS }, countingEnvironment(), () => true, stop)).toThrow('stopped')
  })
})
