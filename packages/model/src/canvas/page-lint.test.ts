import { describe, expect, it } from 'vitest'
import type { CanvasPage } from '../body.ts'
import type { JsonObject } from '../json.ts'
import { pageGeometry, shapeValues } from './page-geometry.ts'
import { countsOfPage, lintPage } from './page-lint.ts'

function pageOf(...shapes: readonly JsonObject[]): CanvasPage {
  return {
    id: 'p',
    members: {},
    shapesForm: 'list',
    shapes: shapes.map((value) => ({ id: String(value['id']), value })),
  }
}

const box = (id: string, x: number, y: number, more: JsonObject = {}): JsonObject => {
  return { id, type: 'rectangle', x, y, width: 100, height: 60, ...more }
}
const joint = (id: string, startShapeId: string | null, endShapeId: string | null, more: JsonObject = {}): JsonObject => {
  return { id, type: 'connector', x: 0, y: 0, x2: 10, y2: 0, startShapeId, endShapeId, ...more }
}
const free = (id: string, x: number, y: number, x2: number, y2: number): JsonObject => ({ id, type: 'line', x, y, x2, y2 })
const lintOf = (...shapes: readonly JsonObject[]) => lintPage(pageOf(...shapes)).lint

describe('lint of a page', () => {
  it('[AG-109] an overlap names the box behind first, and touching sides are no overlap', () => {
    expect(lintOf(box('front', 0, 0), box('late', -50, 20))).toEqual([{ kind: 'overlap', shapes: ['front', 'late'] }])
    expect(lintOf(box('a', 0, 0), box('b', 100, 0))).toEqual([])
  })

  it('[AG-109] [AG-108] a box that lies wholly on a larger one is no overlap, and a box hidden behind a larger one is', () => {
    const frame = box('frame', 0, 0, { width: 400, height: 300 })
    expect(lintOf(frame, box('a', 0, 0))).toEqual([])
    expect(lintOf(box('a', 0, 0), frame)).toEqual([{ kind: 'overlap', shapes: ['a', 'frame'] }])
  })

  it('[AG-109] a connector through a box is reported with both ids, except for a frame around one of its ends', () => {
    const ends = [box('a', 0, 0), box('b', 400, 0)]
    expect(lintOf(...ends, box('between', 200, 10), joint('k', 'a', 'b'))).toEqual([
      { kind: 'through-node', shapes: ['k', 'between'] },
    ])
    expect(lintOf(box('frame', 0, 0, { width: 200, height: 200 }), ...ends, joint('k', 'a', 'b'))).toEqual([])
  })

  it('[AG-109] two lines are reported once for each place where they cross', () => {
    expect(lintOf(free('h', -50, 0, 50, 0), free('v', 0, -50, 0, 50))).toEqual([{ kind: 'crossing', shapes: ['h', 'v'] }])
    const twice = { ...free('u', -20, -50, 20, -50), waypoints: [-20, 20].map((x) => ({ x, y: 50 })) }
    expect(lintOf(free('h', -50, 0, 50, 0), twice)).toHaveLength(2)
  })

  it('[AG-109] a label larger than its box is a text-overflow', () => {
    expect(lintOf(box('a', 0, 0, { label: 'word '.repeat(80) }))).toEqual([{ kind: 'text-overflow', shapes: ['a'] }])
    expect(lintOf(box('a', 0, 0, { label: 'word' }))).toEqual([])
  })

  it('[AG-109] a connector with an end at no shape or at a missing one is a loose-end, and a line without shapes is not', () => {
    const shapes = [box('a', 0, 0), box('b', 300, 0)]
    const far = { x: 500, y: 500, x2: 600, y2: 500 }
    expect(lintOf(...shapes, joint('k', 'a', 'b'), joint('free', null, null, far), free('l', 500, 600, 600, 600))).toEqual([
      { kind: 'loose-end', shapes: ['free'] },
    ])
    expect(lintOf(...shapes, joint('gone', 'a', 'z', { x2: 0, y2: 300 }))).toEqual([{ kind: 'loose-end', shapes: ['gone'] }])
  })

  it('[AG-109] invisible shapes are not reported', () => {
    expect(lintOf(box('a', 0, 0), box('b', 10, 10, { visible: false }))).toEqual([])
    expect(lintPage(pageOf())).toEqual({ lint: [] })
  })

  it('[AG-109] at most 50 entries are listed, and lintTotal is their full number', () => {
    const heap = Array.from({ length: 12 }, (_, i) => box(`s${i}`, i, i))
    const { lint, lintTotal } = lintPage(pageOf(...heap))
    expect([lint.length, lintTotal]).toEqual([50, 66])
    expect(lintPage(pageOf(...heap.slice(0, 3)))).not.toHaveProperty('lintTotal')
  })

  it('[AG-109] [CONC-13] at most 10,000 faults of each kind are counted, and lintPartial is set when there are more', () => {
    const zigzag = (id: string, at: (i: number) => { readonly x: number; readonly y: number }): JsonObject => ({
      ...free(id, at(0).x, at(0).y, at(501).x, at(501).y),
      waypoints: Array.from({ length: 500 }, (_, i) => at(i + 1)),
    })
    const across = zigzag('h', (i) => ({ x: i % 2 === 0 ? -9000 : 9000, y: i }))
    const upright = zigzag('v', (i) => ({ x: i, y: i % 2 === 0 ? -9000 : 9000 }))
    const { lint, ...rest } = lintPage(pageOf(across, upright, joint('k', null, null, { x: 0, y: 20_000, x2: 9, y2: 20_000 })))
    expect(lint.every(({ kind }) => kind === 'crossing')).toBe(true)
    // 10,000 crossings and one loose end: the other kinds are counted after the crossings reached their limit.
    expect(rest).toEqual({ lintTotal: 10_001, lintPartial: true })
  })

  it('[AG-109] [AG-108] lint lists as many faults of each kind as the certificate counts on the same page', () => {
    const shapes = Array.from({ length: 9 }, (_, i) =>
      box(`s${i}`, (i % 3) * 90, Math.floor(i / 3) * 200, i % 4 === 0 ? { label: 'much too long for it '.repeat(20) } : {}),
    )
    const joints = [joint('k1', 's0', 's8'), joint('k2', 's2', 's6'), joint('k3', 's0', 's2'), joint('k4', 's1', 's7')]
    const page = pageOf(...shapes, ...joints)
    const counted = (kind: string) => lintPage(page).lint.filter((entry) => entry.kind === kind).length
    const { overlaps, throughNodes, crossings, labelOverflow } = countsOfPage(pageGeometry(shapeValues(page)))
    expect([counted('overlap'), counted('through-node'), counted('crossing'), counted('text-overflow')]).toEqual([
      overlaps,
      throughNodes,
      crossings,
      labelOverflow,
    ])
    for (const count of [overlaps, throughNodes, crossings, labelOverflow]) expect(count).toBeGreaterThan(0)
  })
})
