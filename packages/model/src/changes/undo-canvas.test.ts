import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { findWays } from '../canvas/shape-edits.ts'
import { isOutdated } from '../edit.ts'
import { runEdit } from '../edits.ts'
import type { JsonObject } from '../json.ts'
import { body, canvasPage, group, rectangle } from '../testing/builders.ts'
import { changesBetween } from './changes-between.ts'
import { edited, environment, undone } from './testing/undone.ts'

const box = (id: string, x: number, y = 0) => rectangle(id, { x, y, width: 100, height: 60 })
const drawing = (...shapes: readonly JsonObject[]) => body({ name: 'T', pages: [canvasPage('c', ...shapes)], richTextPages: [] })
const shapesOf = ({ canvas }: DocumentBody) => canvas.pages[0]?.shapes ?? []
const shape = (given: DocumentBody, id: string | undefined) => shapesOf(given).find((each) => each.id === id)?.value
const newest = (given: DocumentBody) => shapesOf(given).at(-1)?.id as string
const on = { pageId: 'c' }

describe('undo of a call that moved a shape', () => {
  const before = drawing(box('a', 0), box('b', 300, 400))
  const after = edited(before, 'update_shape', { ...on, id: 'a', patch: { x: 600 } })

  it('[CANVAS-21] [AG-71] a connector that somebody made since is routed to where the undo puts the shape', () => {
    const connected = edited(after, 'connect', { ...on, fromId: 'a', toId: 'b' })
    const id = newest(connected)
    const { body: now, kept } = undone(before, after, connected)
    const { x, y, waypoints, startAnchor, endAnchor } = shape(now, id) as JsonObject
    const fresh = edited(before, 'connect', { ...on, fromId: 'a', toId: 'b', fromAnchor: startAnchor, toAnchor: endAnchor })
    expect({ x, y, waypoints }).toEqual({
      x: shape(fresh, newest(fresh))?.['x'],
      y: shape(fresh, newest(fresh))?.['y'],
      waypoints: shape(fresh, newest(fresh))?.['waypoints'],
    })
    expect(kept).toEqual([])
  })

  it('[CANVAS-21] [AG-71] a straight connector that somebody made since keeps its waypoints, and its end follows the shape', () => {
    const given = { kind: 'connector', startShapeId: 'a', endShapeId: 'b', startAnchor: 'left', endAnchor: 'top' }
    const connected = edited(after, 'add_shape', { ...on, shape: { ...given, id: 'k' } })
    expect(shape(undone(before, after, connected).body, 'k')).toMatchObject({ x: -50, y: 0, x2: 300, y2: 370 })
  })

  it('[CANVAS-21] [AG-71] a way that somebody drew by hand before the call comes back as it was drawn', () => {
    const points = [
      { x: 0, y: 222 },
      { x: 300, y: 222 },
    ]
    const line = { id: 'k', type: 'connector', startShapeId: 'a', endShapeId: 'b', routingMode: 'orthogonal', waypoints: points }
    const drawn = drawing(box('a', 0), box('b', 300, 400), {
      ...line,
      ...{ x: 0, y: 30, x2: 300, y2: 370, startAnchor: 'bottom', endAnchor: 'top' },
    })
    const moved = edited(drawn, 'update_shape', { ...on, id: 'a', patch: { x: 600 } })
    const more = edited(moved, 'connect', { ...on, fromId: 'a', toId: 'b' })
    expect(shape(undone(drawn, moved, more).body, 'k')).toEqual(shape(drawn, 'k'))
  })
})

describe('undo of a call on a connector after somebody moved a shape at its end', () => {
  const line = { kind: 'connector', id: 'k', routingMode: 'orthogonal', startShapeId: 'a', endShapeId: 'b' }
  const anchors = { startAnchor: 'bottom', endAnchor: 'top' }
  const connected = (...shapes: readonly JsonObject[]) =>
    edited(drawing(...shapes), 'add_shape', { ...on, shape: { ...line, ...anchors } })
  const before = connected(box('a', 0), box('b', 300, 400), box('c', 0, 400))
  const way = (given: DocumentBody) => {
    const { x, y, x2, y2, waypoints, endShapeId } = shape(given, 'k') as JsonObject
    return { x, y, x2, y2, waypoints, endShapeId }
  }
  const calls = [
    ['moved its other end', 'update_shape', { id: 'a', patch: { x: 600 } }],
    ['attached it to another shape', 'update_shape', { id: 'k', patch: { endShapeId: 'c' } }],
    ['deleted it', 'delete_shape', { id: 'k' }],
  ] as const

  it.each(calls)('[CANVAS-21] [AG-71] a connector is routed to where its shapes are now: the call %s', (_, name, args) => {
    const after = edited(before, name, { ...on, ...args })
    const moved = edited(after, 'update_shape', { ...on, id: 'b', patch: { x: 900, y: 700 } })
    const { body: now, kept } = undone(before, after, moved)
    expect(way(now)).toEqual(way(connected(box('a', 0), box('b', 900, 700), box('c', 0, 400))))
    expect(kept).toEqual([])
  })

  it('[CANVAS-21] [AG-71] a way that somebody drew by hand since stays when the call changed only how the connector looks', () => {
    const after = edited(before, 'update_shape', { ...on, id: 'k', patch: { style: { stroke: '#ff0000' } } })
    const moved = edited(after, 'update_shape', { ...on, id: 'b', patch: { x: 900, y: 700 } })
    const waypoints = [
      { x: 0, y: 222 },
      { x: 900, y: 222 },
    ]
    const drawn = edited(moved, 'update_shape', { ...on, id: 'k', patch: { waypoints } })
    const { body: now } = undone(before, after, drawn)
    expect(way(now)).toEqual(way(drawn))
    expect(shape(now, 'k')?.['stroke']).toBe(shape(before, 'k')?.['stroke'])
  })
})

describe('undo of a call that added a shape', () => {
  const before = drawing(box('b', 300, 400))
  const after = edited(before, 'add_shape', { ...on, shape: { kind: 'rectangle', id: 'a', x: 0, y: 0, text: 'Added' } })

  it('[CANVAS-24] [AG-70] a box to which somebody connected another box since is kept', () => {
    const connected = edited(after, 'connect', { ...on, fromId: 'b', toId: 'a' })
    const { body: now, kept } = undone(before, after, connected)
    expect(shapesOf(now).map(({ id }) => id)).toEqual(['b', 'a', newest(connected)])
    expect(kept).toEqual([{ id: 'a', text: 'Added' }])
  })

  it('[CANVAS-24] [AG-70] a box that somebody grouped since is kept', () => {
    const grouped = drawing(...shapesOf(after).map(({ value }) => value), group('g', 'a', 'b'))
    const { body: now, kept } = undone(before, after, grouped)
    expect(shape(now, 'a')).toBeDefined()
    expect(kept).toEqual([{ id: 'a', text: 'Added' }])
  })

  it('[CANVAS-24] [AG-70] a new connector that somebody changed since keeps the new boxes at its ends', () => {
    const shapes = [
      { kind: 'rectangle', id: 'n', x: 0, y: 200, text: 'N' },
      { kind: 'rectangle', id: 'o', x: 0, y: 600, text: 'O' },
      { kind: 'connector', id: 'k', startShapeId: 'n', endShapeId: 'b' },
    ]
    const added = edited(before, 'add_shapes', { ...on, shapes })
    const labelled = edited(added, 'update_shape', { ...on, id: 'k', patch: { text: 'uses' } })
    const { body: now, kept } = undone(before, added, labelled)
    expect(shapesOf(now).map(({ id }) => id)).toEqual(['b', 'n', 'k'])
    expect(kept.map(({ id }) => id).sort()).toEqual(['k', 'n'])
  })

  it('[CANVAS-24] [AG-71] boxes and connectors that the call itself added go together', () => {
    const shapes = [
      { kind: 'rectangle', id: 'n', x: 0, y: 200, text: 'N' },
      { kind: 'connector', id: 'k', startShapeId: 'n', endShapeId: 'b' },
    ]
    const added = edited(before, 'add_shapes', { ...on, shapes })
    const { body: now, kept } = undone(before, added, added)
    expect([shapesOf(now).map(({ id }) => id), kept]).toEqual([['b'], []])
  })
})

describe('undo of a call whose shapes somebody removed since', () => {
  const boxes = [box('a', 0), box('b', 300, 400), box('c', 600, 400)]
  const before = edited(drawing(...boxes), 'connect', { ...on, fromId: 'a', toId: 'b', label: 'uses' })
  const id = newest(before)
  const without = (given: DocumentBody, ...ids: readonly string[]) =>
    ids.reduce((now, each) => edited(now, 'delete_shape', { ...on, id: each }), given)

  it('[CANVAS-9] [CANVAS-24] [AG-70] a connector whose shape was removed does not come back and is listed in kept', () => {
    const after = without(before, 'a')
    const { body: now, kept } = undone(before, after, without(after, 'b'))
    expect(shapesOf(now).map((each) => each.id)).toEqual(['a', 'c'])
    expect(kept).toEqual([{ id, text: 'uses', isGone: true }])
  })

  it('[CANVAS-24] [AG-70] a group whose members were all removed does not come back, and neither does a connector at it', () => {
    const line = { id: 'k', type: 'connector', startShapeId: 'g', endShapeId: 'c' }
    const grouped = drawing(...boxes, group('g', 'a', 'b'), line)
    const after = without(grouped, 'g')
    const { body: now, kept } = undone(grouped, after, without(after, 'a', 'b'))
    expect(shapesOf(now).map((each) => each.id)).toEqual(['c'])
    expect(kept.map((each) => each.id).sort()).toEqual(['g', 'k'])
    const partly = undone(grouped, after, without(after, 'a'))
    expect(
      shapesOf(partly.body)
        .map((each) => each.id)
        .sort(),
    ).toEqual(['b', 'c', 'g', 'k'])
    expect(partly.kept).toEqual([])
  })

  it('[CANVAS-9] [AG-70] the end of a connector does not go back to a removed shape, and its label goes back', () => {
    const after = edited(before, 'update_shape', { ...on, id, patch: { endShapeId: 'c', text: 'calls' } })
    const present = without(after, 'b')
    const { body: now, kept } = undone(before, after, present)
    const { x2, y2, endShapeId, waypoints, label } = shape(now, id) as JsonObject
    const then = shape(present, id) as JsonObject
    expect({ x2, y2, waypoints }).toEqual({ x2: then['x2'], y2: then['y2'], waypoints: then['waypoints'] })
    expect([endShapeId, label]).toEqual(['c', 'uses'])
    expect(kept.map((each) => each.id)).toEqual([id])
  })

  it('[CANVAS-9] [AG-70] kept lists a connector once when somebody also moved it in the order of shapes', () => {
    const line = (endShapeId: string) => ({ id: 'k', type: 'connector', startShapeId: 'a', endShapeId })
    const [a, b, c] = boxes as [JsonObject, JsonObject, JsonObject]
    const { kept } = undone(drawing(a, b, c, line('b')), drawing(line('c'), a, b, c), drawing(a, line('c'), c))
    expect(kept.map((each) => each.id)).toEqual(['k'])
  })

  it('[CANVAS-9] [AG-70] the end of a connector becomes free when its former shape is gone and the undo removes its new one', () => {
    const steps = [
      { tool: 'add_shape', arguments: { ...on, shape: { kind: 'rectangle', id: 'n', x: 900, y: 0 } } },
      { tool: 'update_shape', arguments: { ...on, id, patch: { endShapeId: 'n' } } },
    ]
    const after = edited(before, 'edit_document', { steps })
    const { body: now } = undone(before, after, without(after, 'b'))
    expect(shapesOf(now).map((each) => each.id)).toEqual(['a', 'c', id])
    expect(shape(now, id)?.['endShapeId']).toBeNull()
  })

  it('[AG-71] a connector at a missing shape and a group without members come back when they existed before the call', () => {
    const line = { id: 'k', type: 'connector', startShapeId: 'a', endShapeId: 'never' }
    const odd = drawing(...boxes, group('g', 'never'), line)
    for (const after of [
      without(odd, 'a'),
      without(odd, 'g'),
      edited(odd, 'update_shape', { ...on, id: 'k', patch: { endShapeId: 'b' } }),
    ])
      expect(undone(odd, after, after)).toMatchObject({ body: odd, kept: [] })
  })
})

describe('undo of a call that moved a shape with many connectors', () => {
  const boxes = Array.from({ length: 150 }, (_, i) => box(`s${i}`, (i % 12) * 260, Math.floor(i / 12) * 160))
  const before = drawing(...boxes)
  const after = edited(before, 'update_shape', { ...on, id: 's75', patch: { x: 5000 } })
  const connectors = (count: number) => ({
    ...on,
    shapes: Array.from({ length: count }, (_, i) => ({
      ...{
        kind: 'connector',
        routingMode: 'orthogonal',
        id: `k${i}`,
        startShapeId: 's75',
        endShapeId: `s${(i * 83 + 11) % 150}`,
      },
      ...{ startAnchor: ['top', 'right', 'bottom', 'left'][i % 4] as string, endAnchor: 'top' },
    })),
  })
  const record = JSON.stringify(changesBetween(before, after, {}).set)
  const call = { callId: 'c', targets: [{ callId: 'c', record }] }

  it('[CONC-13] a live undo with 100 routes to find is outdated, and an undo uses 40 prepared routes', () => {
    expect(isOutdated(runEdit('undo', edited(after, 'add_shapes', connectors(100)), { ...call, ways: 'few' }, environment))).toBe(
      true,
    )
    const connected = edited(after, 'add_shapes', connectors(40))
    const ways = findWays('undo', connected, call, environment)
    expect(ways).toHaveLength(40)
    expect(runEdit('undo', connected, { ...call, ways }, environment)).toEqual(runEdit('undo', connected, call, environment))
  })
})
