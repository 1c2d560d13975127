import { pageRouter } from '@docrelay/model/canvas/page-router'
import { directRouter } from '@docrelay/model/canvas/route'
import { describe, expect, it } from 'vitest'
import {
  added,
  connected,
  copyOf,
  cutOf,
  deleted,
  isLabelled,
  isResizable,
  labelled,
  movedPlaces,
  pasted,
  placed,
  placesOf,
  restacked,
} from './page-edits.ts'
import { surroundings } from './surroundings.ts'
import { afterChanges, box, connector, pageOf } from './testing/page-now.ts'

describe('moving shapes', () => {
  const page = pageOf(box('a', 100, 100), box('b', 400, 100), connector('c', 'a', 'b'))

  it('a move changes only the place, and keeps edits of others to the same shape', () => {
    const begun = placesOf(['a'], page)
    const meanwhile = pageOf(box('a', 150, 90, { label: 'theirs', fill: '#ff0000' }))
    const { values } = placed(meanwhile, movedPlaces(begun, 30, 20), directRouter)
    expect(values).toEqual(new Map([['a', box('a', 130, 120, { label: 'theirs', fill: '#ff0000' })]]))
  })

  it('a move leaves out shapes that somebody else deleted meanwhile', () => {
    const begun = placesOf(['a', 'b'], page)
    expect(placed(pageOf(box('b', 400, 100)), movedPlaces(begun, 10, 0), directRouter).values).toEqual(
      new Map([['b', box('b', 410, 100)]]),
    )
  })

  it('a move takes the ends of connectors along, and routes orthogonal connectors around obstacles', () => {
    const obstructed = pageOf(
      box('a', 100, 100),
      box('b', 500, 100),
      box('wall', 300, 100),
      connector('c', 'a', 'b', { routingMode: 'orthogonal' }),
    )
    const { values } = placed(obstructed, movedPlaces(placesOf(['a'], obstructed), 0, 10), pageRouter)
    const way = values.get('c')
    expect(way).toMatchObject({ x: 150, y: 110, x2: 450, y2: 100 })
    expect(way?.['waypoints']).toHaveProperty('length', 4)
  })

  it('locked shapes do not move, and neither does a connector between two of them', () => {
    const locked = pageOf(box('a', 0, 0, { locked: true }), box('b', 300, 0, { lockedPosition: true }), connector('c', 'a', 'b'))
    expect(placesOf(['a', 'b', 'c'], locked).size).toBe(0)
  })

  it('a move of a group moves its members, at any depth', () => {
    const groups = pageOf(
      box('a', 0, 0),
      { id: 'inner', type: 'group', childIds: ['a'] },
      { id: 'outer', type: 'group', childIds: ['inner'] },
    )
    const { values } = placed(groups, movedPlaces(placesOf(['outer'], groups), 5, 6), directRouter)
    expect(values).toEqual(new Map([['a', box('a', 5, 6)]]))
  })

  it('a move of a shape of another editor keeps the members of the shape', () => {
    const other = pageOf({ id: 'u', type: 'umlClass', x: 1, y: 2, attributes: [{ name: 'id' }] })
    const { values } = placed(other, movedPlaces(placesOf(['u'], other), 9, 0), directRouter)
    expect(values.get('u')).toEqual({ id: 'u', type: 'umlClass', x: 10, y: 2, attributes: [{ name: 'id' }] })
  })

  it('a new size is written to the members in which the kind of the shape stores it', () => {
    const ellipse = pageOf({ id: 'e', type: 'ellipse', x: 0, y: 0, radiusX: 50, radiusY: 40 })
    const { values } = placed(ellipse, new Map([['e', { x: 10, y: 0, w: 120, h: 80 }]]), directRouter)
    expect(values.get('e')).toEqual({ id: 'e', type: 'ellipse', x: 10, y: 0, radiusX: 60, radiusY: 40 })
  })

  it('a drag reads only the moved shapes, their connectors and the shapes at the other ends', () => {
    const far = Array.from({ length: 50 }, (_, i) => box(`far${i}`, i, 900))
    const large = pageOf(...far, box('a', 0, 0), box('b', 300, 0), connector('c', 'a', 'b'), connector('d', 'far1', 'far2'))
    expect([...surroundings(['a'], large).shapes.keys()].toSorted()).toEqual(['a', 'b', 'c'])
  })
})

describe('texts and sizes', () => {
  it('a text goes to the member in which the shape stores its text, and an equal text changes nothing', () => {
    const page = pageOf({ id: 't', type: 'text', x: 0, y: 0, text: 'old' }, box('b', 0, 0))
    expect(labelled(page, 't', 'new').values.get('t')).toMatchObject({ text: 'new' })
    expect(labelled(page, 'b', 'new').values.get('b')).toMatchObject({ label: 'new' })
    expect(labelled(page, 't', 'old').values.size).toBe(0)
  })

  it('the size of unknown kinds, groups and locked shapes cannot be changed, nor the text of unknown kinds and locked shapes', () => {
    const unknown = { type: 'umlClass', width: 10, height: 10 }
    expect([unknown, { type: 'group' }, box('l', 0, 0, { locked: true }), box('b', 0, 0)].map(isResizable)).toEqual([
      ...[false, false, false],
      true,
    ])
    expect([unknown, box('l', 0, 0, { locked: true }), { type: 'group' }, { type: 'file' }].map(isLabelled)).toEqual([
      ...[false, false],
      ...[true, true],
    ])
    expect(labelled(pageOf({ id: 'u', ...unknown }), 'u', 'x').values.size).toBe(0)
  })
})

describe('shapes that come and go', () => {
  const page = pageOf(box('a', 0, 0), box('b', 300, 0), connector('c', 'a', 'b'), { id: 'g', type: 'group', childIds: ['a'] })

  it('a new shape lies on top and has the members of its kind', () => {
    const changes = added(page, { id: 'n', kind: 'ellipse', place: { x: 5, y: 6, w: 40, h: 20 }, text: 'New' })
    expect(changes.values.get('n')).toMatchObject({
      type: 'ellipse',
      x: 5,
      y: 6,
      radiusX: 20,
      radiusY: 10,
      label: 'New',
      locked: false,
    })
    expect(afterChanges(page, changes).order.at(-1)).toBe('n')
  })

  it('a connector is attached at the sides that face each other, or at the given side', () => {
    const [facing, chosen] = [{}, { fromSide: 'bottom' as const }].map((sides) =>
      connected(page, { id: 'n', from: 'a', to: 'b', ...sides }, pageRouter).values.get('n'),
    )
    expect(facing).toMatchObject({
      startAnchor: 'right',
      endAnchor: 'left',
      x: 50,
      y: 0,
      x2: 250,
      y2: 0,
      routingMode: 'orthogonal',
    })
    expect(chosen).toMatchObject({ startAnchor: 'bottom', endAnchor: 'left', x: 0, y: 40 })
  })

  it('a connector cannot end at another connector', () => {
    expect(connected(page, { id: 'n', from: 'a', to: 'c' }, pageRouter).values.size).toBe(0)
  })

  it('a deletion of a shape deletes its connectors and the groups that it leaves empty', () => {
    const changes = deleted(page, ['a'], directRouter)
    expect(changes.values).toEqual(
      new Map([
        ['a', null],
        ['c', null],
        ['g', null],
      ]),
    )
    expect(afterChanges(page, changes).order).toEqual(['b'])
  })

  it('[CANVAS-22] a connector is attached to turned shapes at the sides that face each other on the page', () => {
    const turned = pageOf(
      box('a', 0, 0, { rotation: 90 }),
      box('b', 300, 0, { rotation: -90 }),
      box('c', 0, 400, { rotation: 30 }),
    )
    const made = (to: string) => connected(turned, { id: 'n', from: 'a', to }, directRouter).values.get('n')
    expect(made('b')).toMatchObject({ startAnchor: 'top', endAnchor: 'top', x: 40, x2: 260 })
    expect(made('c')).toMatchObject({ startAnchor: 'right', endAnchor: 'top' })
  })

  it('[CANVAS-21] when a member of a group is deleted, connectors at the group end at its new bounds', () => {
    const grouped = pageOf(
      ...[box('a', 0, 0), box('far', 0, 500), box('b', 300, 0), { id: 'g', type: 'group', childIds: ['a', 'far'] }],
      connector('c', 'g', 'b', { x: 50, y: 250, x2: 250, y2: 0 }),
    )
    const { values } = deleted(grouped, ['far'], directRouter)
    expect([...values.keys()].toSorted()).toEqual(['c', 'far', 'g'])
    expect([values.get('far'), values.get('g')]).toMatchObject([null, { childIds: ['a'] }])
    expect(values.get('c')).toMatchObject({ x: 50, y: 0, x2: 250, y2: 0 })
  })

  it('a locked shape is not deleted', () => {
    expect(deleted(pageOf(box('l', 0, 0, { locked: true })), ['l'], directRouter).values.size).toBe(0)
  })

  it('a pasted connector connects the pasted copies, and ends freely where a shape was not copied', () => {
    const ids = ['n1', 'n2', 'n3', 'n4', 'n5']
    const paste = (chosen: readonly string[]) => {
      const left = [...ids]
      return pasted(page, copyOf(chosen, page), { dx: 20, dy: 20, newId: () => left.shift() as string }).values
    }
    // `a` is in a group, so it lies above the others.
    expect([...paste(['a', 'b', 'c']).values()]).toMatchObject([
      { id: 'n1', type: 'rectangle', x: 320, y: 20 },
      { id: 'n2', type: 'connector', startShapeId: 'n3', endShapeId: 'n1' },
      { id: 'n3', type: 'rectangle', x: 20, y: 20 },
    ])
    expect([...paste(['c']).values()]).toMatchObject([{ id: 'n1', startShapeId: null, endShapeId: null }])
    expect([...paste(['g']).values()]).toMatchObject([{ childIds: ['n2'] }, { id: 'n2', x: 20, y: 20 }])
  })
})

describe('the shapes that a cut takes', () => {
  const idsOf = (copies: readonly { readonly [member: string]: unknown }[]) => copies.map(({ id }) => id)

  it('[CON-35] a cut takes a group with its members, but no locked shape and no member of a locked group', () => {
    const page = pageOf(
      ...[box('a', 0, 0), box('held', 100, 0, { locked: true }), box('c', 200, 0), box('d', 300, 0)],
      { id: 'g', type: 'group', childIds: ['a', 'held'] },
      { id: 'fixed', type: 'group', childIds: ['d'], locked: true },
    )
    expect(idsOf(cutOf(['g', 'c', 'fixed'], page)).toSorted()).toEqual(['a', 'c', 'g'])
  })
})

describe('the order of shapes above each other', () => {
  const page = pageOf(box('a', 0, 0), box('b', 0, 0), box('c', 0, 0), box('d', 0, 0))
  const order = (ids: readonly string[], layer: Parameters<typeof restacked>[2]) =>
    restacked(page, new Set(ids), layer).order?.join('') ?? null

  it('shapes go to the front, to the back, or one step', () => {
    expect(order(['a'], 'front')).toBe('bcda')
    expect(order(['c'], 'back')).toBe('cabd')
    expect(order(['a', 'b'], 'forward')).toBe('cabd')
    expect(order(['c', 'd'], 'backward')).toBe('acdb')
  })

  it('nothing is written when nothing changes', () => {
    expect([order(['d'], 'front'), order(['d'], 'forward'), order(['a'], 'back'), order(['a', 'b'], 'backward')]).toEqual([
      ...[null, null],
      ...[null, null],
    ])
  })
})
