import { describe, expect, it } from 'vitest'
import { clipboardText, shapesOfClipboard } from './clipboard.ts'
import { describe as described } from './describe.ts'
import { inkOn, peersOn } from './peers.ts'
import { readingOrder } from './reading-order.ts'
import { HANDLES, handlePoint, resized } from './resize.ts'
import { box, connector, pageOf } from './testing/page-now.ts'
import { fitted, panned, showing, toPage, toScreen, zoomed } from './view-area.ts'

const at = (x: number, y: number) => ({ x, y })
const size = { width: 800, height: 600 }

describe('the visible part of a page', () => {
  const view = { left: 100, top: 50, scale: 2 }

  it('a point of the screen converts to a point of the page and back', () => {
    expect(toPage(view, at(20, 40))).toEqual(at(110, 70))
    expect(toScreen(view, toPage(view, at(20, 40)))).toEqual(at(20, 40))
    expect(panned(view, 10, -10)).toEqual({ left: 105, top: 45, scale: 2 })
  })

  it('a zoom keeps the point under the pointer in its place', () => {
    const larger = zoomed(view, 1.5, at(300, 200))
    expect(larger.scale).toBe(3)
    expect(toPage(larger, at(300, 200))).toEqual(toPage(view, at(300, 200)))
  })

  it('the scale stays between 0.05 and 4', () => {
    expect(zoomed(view, 1000, at(0, 0)).scale).toBe(4)
    expect(zoomed(view, 0.0001, at(0, 0)).scale).toBe(0.05)
  })

  it('the whole page fits, a small page is not enlarged, and an empty page has a view too', () => {
    expect(fitted({ left: 0, top: 0, right: 7200, bottom: 100 }, size).scale).toBe(0.1)
    expect(fitted({ left: 0, top: 0, right: 100, bottom: 100 }, size)).toEqual({ left: -350, top: -250, scale: 1 })
    expect(Object.values(fitted(null, { width: 0, height: 0 })).every(Number.isFinite)).toBe(true)
  })

  it('the view moves only as far as needed to show a shape', () => {
    const here = { left: 0, top: 0, scale: 1 }
    expect(showing(here, { left: 10, top: 10, right: 90, bottom: 90 }, size)).toBe(here)
    expect(showing(here, { left: 810, top: 10, right: 900, bottom: 90 }, size)).toEqual({ left: 120, top: -10, scale: 1 })
    expect(showing(here, { left: -500, top: 30, right: 5_000, bottom: 90 }, size).left).toBe(-520)
  })
})

describe('resizing', () => {
  const straight = { centre: at(100, 100), width: 100, height: 60, rotation: 0, outline: 'rectangle' } as const

  it('the side opposite to the handle stays where it is, also when the box is turned', () => {
    for (const rotation of [0, 30, 90]) {
      const turned = { ...straight, rotation }
      for (const handle of HANDLES) {
        const { x, y, w = turned.width, h = turned.height } = resized(turned, handle, at(13, 7), false)
        const now = { ...turned, centre: at(x, y), width: w, height: h }
        const opposite = { x: -handle.x, y: -handle.y } as typeof handle
        const [before, after] = [handlePoint(turned, opposite), handlePoint(now, opposite)]
        expect([after.x, after.y]).toEqual([expect.closeTo(before.x), expect.closeTo(before.y)])
      }
    }
  })

  it('a box keeps a size of at least 8, and its proportions when asked', () => {
    expect(resized(straight, { x: 1, y: 1 }, at(-500, -500), false)).toMatchObject({ w: 8, h: 8 })
    expect(resized(straight, { x: 1, y: 1 }, at(100, 0), true)).toMatchObject({ w: 200, h: 120 })
    expect(resized(straight, { x: 0, y: 1 }, at(0, 60), true)).toMatchObject({ w: 200, h: 120 })
  })
})

describe('the order in which a page is read', () => {
  it('the reading order goes row by row, has a connector after the shape at which it begins, and names every shape once', () => {
    const page = pageOf(
      box('below', 0, 300),
      connector('c', 'right', 'below'),
      box('right', 300, 10),
      box('left', 0, 0),
      { id: 'loose', type: 'line', x: 0, y: 500, x2: 10, y2: 500 },
      { id: 'empty', type: 'group', childIds: [] },
    )
    expect(readingOrder(page)).toEqual(['left', 'right', 'c', 'below', 'loose', 'empty'])
  })

  it('the reading order names connectors that begin at each other once', () => {
    const page = pageOf(connector('c', 'd', 'd'), connector('d', 'c', 'c'))
    expect(readingOrder(page).toSorted()).toEqual(['c', 'd'])
  })

  it('a shape is described by its text and kind, a connector by the shapes that it connects', () => {
    const { shapes } = pageOf(box('a', 0, 0, { label: ' A \n b ' }), box('b', 0, 0), connector('c', 'a', 'b', { label: 'to' }))
    expect(['a', 'b', 'c'].map((id) => described(id, shapes))).toEqual([
      'A b, rectangle',
      'rectangle without text',
      'Connector from A b to rectangle without text: to',
    ])
  })
})

describe('others on the page', () => {
  const agent = { name: 'Claude', color: '#d97706', kind: 'agent', page: 'p', selection: ['a'] }

  it('people and agents are shown with the shapes that they selected or wrote', () => {
    const states = new Map<number, unknown>([
      [1, { user: { name: 'me', page: 'p' } }],
      [2, { user: agent }],
      [3, { user: { name: 'Elsewhere', page: 'q' } }],
      [
        4,
        { user: { name: 'Ben', color: '#8250df', page: 'p' }, canvas: { page: 'p', pointer: at(1, 2), moving: { a: at(3, 4) } } },
      ],
    ])
    expect(peersOn('p', states, 1)).toEqual([
      { clientId: 2, name: 'Claude', color: '#d97706', isAgent: true, selection: ['a'], pointer: null, moving: new Map() },
      {
        ...{ clientId: 4, name: 'Ben', color: '#8250df', isAgent: false, selection: [], pointer: at(1, 2) },
        moving: new Map([['a', at(3, 4)]]),
      },
    ])
  })

  it('malformed awareness members of others are left out', () => {
    const hostile = [
      null,
      7,
      { user: 'x' },
      { user: { page: 'p', name: 5, color: 'url(x)', selection: [1, {}] }, canvas: { page: 'p', pointer: [], moving: 'x' } },
      {
        user: { page: 'p' },
        canvas: { page: 'p', pointer: { x: Number.NaN, y: 0 }, moving: { a: { x: 1e300, y: 0 }, b: null } },
      },
    ]
    const peers = peersOn('p', new Map(hostile.map((state, i) => [i, state])), -1)
    expect(peers).toHaveLength(2)
    for (const peer of peers)
      expect(peer).toMatchObject({ name: '', color: '#59636e', selection: [], pointer: null, moving: new Map() })
  })

  it('names are written in black or white, whichever is easier to read', () => {
    expect(['#ffffff', '#000000', '#8250df', '#d97706'].map(inkOn)).toEqual(['#000000', '#ffffff', '#ffffff', '#000000'])
  })
})

describe('the clipboard', () => {
  const clipboardOf = (texts: Readonly<Record<string, string>>) => ({ getData: (type: string) => texts[type] ?? '' })

  it('the clipboard gives shapes back as they were copied, and gives their words to other programs', () => {
    const copies = [box('a', 0, 0, { label: 'words' }), box('b', 0, 0)]
    expect(shapesOfClipboard(clipboardOf(clipboardText(copies)))).toEqual(copies)
    expect(clipboardText(copies)['text/plain']).toBe('words')
  })

  it('[CON-35] the clipboard gives back all shapes, however many were copied', () => {
    const copies = Array.from({ length: 2_500 }, (_, n) => box(`s${n}`, n, 0))
    expect(shapesOfClipboard(clipboardOf(clipboardText(copies)))).toHaveLength(2_500)
  })

  it('the clipboard yields no shapes when it contains no list of shapes', () => {
    for (const text of ['', '{', '{}', '[1, null, {}]', '[{"id": 5}]'])
      expect(shapesOfClipboard(clipboardOf({ 'application/x-docrelay-shapes+json': text }))).toEqual([])
    expect(shapesOfClipboard(null)).toEqual([])
  })
})
