import { expect, it } from 'vitest'
import { outlineOf } from './outline.ts'
import { box, connector } from './testing/page-now.ts'

const shapes = new Map(
  [
    box('a', 0, 0),
    box('b', 300, 0),
    connector('c', 'a', 'b'),
    { id: 'free', type: 'connector', startShapeId: 'a', x: 0, y: 0, x2: 90, y2: 90, label: 'todo' },
    { id: 'lost', type: 'connector', startShapeId: 'gone', endShapeId: 'b' },
  ].map((shape) => [shape.id, shape] as const),
)

it('the entry of a shape names the shapes that its connectors lead to, and a connector with a free or lost end has its own entry', () => {
  expect(outlineOf(['a', 'b', 'c', 'free', 'lost', 'nobody'], shapes)).toEqual([
    { id: 'a', targets: ['b'] },
    { id: 'b', targets: [] },
    { id: 'free', targets: [] },
    { id: 'lost', targets: [] },
  ])
})
