import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { type Edit, type EditEnvironment, isOutdated } from '../edit.ts'
import { runEdit } from '../edits.ts'
import { rectangle } from '../testing/builders.ts'
import { type Bounds, boundsAround, type Point } from './geometry/bounds.ts'
import type { RouteEnd, RouteRequest, RouteScene } from './route.ts'
import { findWays } from './shape-edits.ts'
import { now, page, stored } from './testing/shape-editing.ts'
import { type GivenWays, notingRouter, routedAs } from './ways.ts'

/** An environment whose random characters are numbers that count up from `first`. */
const environment = (first: number): EditEnvironment => {
  let made = first
  return { nowMs: now, random: (count) => String(made++).padStart(count, '0') }
}
const box = (id: string, x: number, y: number) => rectangle(id, { x, y, width: 100, height: 80 })
const shapes = Array.from({ length: 150 }, (_, i) => box(`s${i}`, (i % 12) * 260, Math.floor(i / 12) * 160))
const hub = (count: number) => ({
  pageId: 'p',
  shapes: Array.from({ length: count }, (_, i) => ({
    ...{ kind: 'connector', routingMode: 'orthogonal', id: `k${i}`, startShapeId: 's75', endShapeId: `s${(i * 83 + 11) % 150}` },
    ...{ startAnchor: ['top', 'right', 'bottom', 'left'][i % 4] as string, endAnchor: 'top' },
  })),
})
const add = (given: DocumentBody, count: number, ways?: GivenWays) =>
  runEdit('add_shapes', given, { ...hub(count), ways }, environment(0))

function edited(answer: ReturnType<typeof add>) {
  if (answer.kind === 'refused') throw new Error(answer.code)
  return answer
}

describe('ways that are found before the write', () => {
  it('[CONC-13] an edit of a live document finds a few ways itself, and is outdated when the document would wait too long for many', () => {
    const few = edited(add(page(...shapes), 3, 'few'))
    expect(few).toEqual(edited(add(page(...shapes), 3)))
    expect(isOutdated(add(page(...shapes), 100, 'few'))).toBe(true)
  })

  it('[CONC-13] [DIAG-4] an edit with ways found before the write equals an edit that finds them itself', () => {
    const given = page(...shapes)
    const ways = findWays('add_shapes', given, hub(40), environment(500))
    expect(ways).toHaveLength(40)
    expect(edited(add(given, 40, ways))).toEqual(edited(add(given, 40)))
  })

  it('[CONC-13] [CANVAS-22] a way is looked for again when a new shape lies on the prepared one', () => {
    const given = page(box('a', 0, 0), box('b', 900, 0))
    const call = { pageId: 'p', fromId: 'a', toId: 'b' }
    const ways = findWays('connect', given, call, environment(500))
    const later = page(box('a', 0, 0), box('b', 900, 0), box('wall', 450, 0))
    const answer = runEdit('connect', later, { ...call, ways }, environment(0))
    expect(answer).toEqual(runEdit('connect', later, call, environment(0)))
    expect(answer).not.toEqual(runEdit('connect', given, { ...call, ways }, environment(0)))
  })

  it('[CONC-13] checking whether 200 prepared ways are clear does not look at all 5,000 shapes for each way', () => {
    let looks = 0
    const boundsAt = (i: number) => boundsAround({ x: (i % 70) * 260, y: Math.floor(i / 70) * 160 }, 100, 80)
    const obstacle = (i: number): Bounds => ({
      ...boundsAt(i),
      get left() {
        looks++
        return boundsAt(i).left
      },
    })
    const obstacles = new Map(Array.from({ length: 5000 }, (_, i) => [`s${i}`, obstacle(i)]))
    const scene: RouteScene = { obstacles, membersOf: new Map(), lines: [] }
    const free = (x: number, y: number): RouteEnd => ({ point: { x, y }, direction: null, shapeId: null, anchor: '', box: null })
    const requests = Array.from({ length: 200 }, (_, i): RouteRequest => {
      return { id: `k${i}`, start: free(i * 70, 80), end: free(i * 70 + 60, 80) }
    })
    const noting = notingRouter({})
    noting.route(requests, { ...scene, obstacles: new Map() })
    const draw: Edit<object, { readonly ways: unknown }> = (body) => {
      return { kind: 'edited', body, result: { ways: null }, fixes: [], warnings: [] }
    }
    looks = 0
    let found: ReturnType<typeof noting.route> = []
    routedAs<object, { readonly ways: unknown }>((route) => (body, args, now) => {
      found = route(requests, scene)
      return draw(body, args, now)
    })(page(), { ways: noting.found }, environment(0))
    expect(found.every((way) => way?.length === 0)).toBe(true)
    expect(looks).toBeLessThan(500_000)
  })

  it('[CONC-13] [CANVAS-22] connectors that have no way when the steps are used up are drawn directly, each with a warning', () => {
    const answer = edited(add(page(...shapes), 100, []))
    const direct = answer.warnings.filter(({ reason }) => reason.includes('no clear way'))
    expect(direct.length).toBeGreaterThan(0)
    const named = direct.map(({ reason }) => /connector (k\d+)/.exec(reason)?.[1] ?? '')
    for (const id of named) expect((stored(answer.body, id)['waypoints'] as unknown as readonly Point[]).length).toBeLessThan(4)
  })
})
