import type { ShapeBox } from '@docrelay/model/canvas/geometry/shape-box'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Handle, handlePoint } from './resize.ts'
import { movedPlaces, placesOf } from './page-edits.ts'
import { openedCanvas } from './testing/opened-canvas.ts'
import { box, connector } from './testing/page-now.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const shapes = [box('a', 0, 0), box('b', 300, 0), connector('c', 'a', 'b')]
const key = (name: string, held: { readonly [modifier: string]: boolean } = {}) => ({
  ...{ key: name, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false },
  ...held,
})

describe('dragging', () => {
  it('a drag writes nothing before its end, and then one transaction', () => {
    using canvas = openedCanvas(shapes)
    const { editor } = canvas
    editor.select(['a'])
    const places = placesOf(['a'], editor.page)
    for (let i = 1; i <= 50; i++) editor.drag(movedPlaces(places, i, 0))
    expect(canvas.writes()).toBe(0)
    editor.drop()
    expect(canvas.writes()).toBe(1)
    expect([canvas.stored('a'), canvas.stored('c')]).toMatchObject([{ x: 50 }, { x: 100 }])
  })

  it('a drag is shown to others at most ten times a second, and its last state is always shown', () => {
    using canvas = openedCanvas(shapes)
    const { editor, awareness } = canvas
    let told = 0
    awareness.on('update', () => told++)
    const places = placesOf(['a'], editor.page)
    for (let i = 0; i < 100; i++) {
      editor.drag(movedPlaces(places, i, 0))
      vi.advanceTimersByTime(10)
    }
    expect(told).toBeLessThanOrEqual(11)
    vi.advanceTimersByTime(100)
    expect(awareness.getLocalState()?.['canvas']).toMatchObject({ moving: { a: { x: 99, y: 0 } } })
    editor.drop()
    vi.advanceTimersByTime(200)
    expect(awareness.getLocalState()?.['canvas']).toMatchObject({ moving: null })
  })

  it('a drag keeps what somebody else changed in the shape meanwhile, and does not bring back a deleted shape', () => {
    using canvas = openedCanvas(shapes)
    const { editor } = canvas
    editor.drag(movedPlaces(placesOf(['a', 'b'], editor.page), 10, 0))
    canvas.elsewhere((map) => {
      map.set('a', box('a', 0, 0, { label: 'theirs' }))
      map.delete('b')
    })
    editor.drop()
    expect(canvas.stored('a')).toEqual(box('a', 10, 0, { label: 'theirs' }))
    expect(canvas.stored('b')).toBeUndefined()
  })

  it('no action writes anything for a person with the right to view only', () => {
    using canvas = openedCanvas(shapes, 'view')
    const { editor, keys } = canvas
    editor.select(['a'], 'a')
    keys.down(key('ArrowRight', { altKey: true }))
    keys.settle()
    editor.remove()
    editor.add('rectangle', { x: 0, y: 0 })
    editor.connect('a', 'b')
    editor.restack('front')
    editor.duplicate()
    editor.edit('a')
    keys.openConnect()
    expect(canvas.writes()).toBe(0)
    expect([editor.editing.value, editor.connecting.value]).toEqual([null, null])
  })
})

describe('resizing by a handle', () => {
  const at = (x: number, y: number) => ({ x, y, pointerId: 1, pointerType: 'mouse', button: 0, shiftKey: false })
  const drag = (canvas: ReturnType<typeof openedCanvas>, handle: Handle, during: () => void) => {
    canvas.editor.select(['a'], 'a')
    canvas.gestures.down({ ...at(50, 0), grip: { handle } })
    canvas.gestures.move({ ...at(80, 20), grip: null })
    during()
    canvas.gestures.up({ ...at(80, 20), grip: null })
  }

  it('[CONC-8] a resize changes only the sides that the handle moves, and keeps the place and the other size that others wrote meanwhile', () => {
    using canvas = openedCanvas([box('a', 0, 0, { width: 100, height: 33.5 })])
    drag(canvas, { x: 1, y: 0 }, () => canvas.elsewhere((map) => map.set('a', box('a', 500, 40, { width: 100, height: 300 }))))
    expect(canvas.stored('a')).toEqual(box('a', 515, 40, { width: 130, height: 300 }))
  })

  it('[CONC-8] a resize of the width does not round the height', () => {
    using canvas = openedCanvas([box('a', 0, 0, { width: 100, height: 33.5 })])
    drag(canvas, { x: 1, y: 0 }, () => {})
    expect(canvas.stored('a')).toEqual(box('a', 15, 0, { width: 130, height: 33.5 }))
  })

  it('[CONC-8] a resize does not bring back a shape that somebody else deleted', () => {
    using canvas = openedCanvas([box('a', 0, 0)])
    drag(canvas, { x: 1, y: 1 }, () => canvas.elsewhere((map) => map.delete('a')))
    expect(canvas.stored('a')).toBeUndefined()
  })
})

describe('the text of a shape that is being written', () => {
  it('[CON-22] a text that is being written is kept when its page is left', () => {
    using canvas = openedCanvas(shapes)
    canvas.editor.edit('a')
    canvas.editor.type('half a wo')
    canvas.shownAgain()
    expect(canvas.stored('a')).toMatchObject({ label: 'half a wo' })
  })

  it('[CON-22] a person who writes in a shape is told when somebody else deletes the shape or the page', () => {
    using canvas = openedCanvas(shapes)
    const { editor, said } = canvas
    editor.edit('a')
    editor.type('words')
    canvas.elsewhere((map) => map.delete('a'))
    expect([editor.editing.value, said]).toEqual([null, ['Somebody else deleted the shape']])
    editor.edit('b')
    editor.type('words')
    canvas.elsewhere((_, ydoc) => ydoc.getMap('canvasPages').delete('p'))
    canvas.shownAgain()
    expect(said).toEqual(['Somebody else deleted the shape', 'Somebody else deleted the shape'])
    expect(canvas.stored('a')).toBeUndefined()
    expect(canvas.stored('b')).toEqual(box('b', 300, 0))
  })

  it('[CON-22] a text field in which nothing was typed writes nothing', () => {
    using canvas = openedCanvas(shapes)
    const { editor } = canvas
    editor.edit('a')
    canvas.elsewhere((map) => map.set('a', box('a', 0, 0, { label: 'theirs' })))
    editor.endEditing()
    expect(canvas.stored('a')).toMatchObject({ label: 'theirs' })
    expect(canvas.said).toEqual([])
  })
})

describe('keys', () => {
  it('arrow keys go through the shapes in reading order, and others see the selection', () => {
    using canvas = openedCanvas(shapes)
    const { editor, keys, awareness } = canvas
    const visited = ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Home', 'End'].map((name) => {
      keys.down(key(name))
      return editor.active.value
    })
    expect(visited).toEqual(['a', 'c', 'b', 'b', 'c', 'a', 'b'])
    vi.advanceTimersByTime(100)
    expect(awareness.getLocalState()?.['user']).toEqual({ name: 'Ann', color: '#0969da', page: 'p', selection: ['b'] })
  })

  it('shapes moved by keys are written once, when Control or Alt goes up or after a pause', () => {
    using canvas = openedCanvas(shapes)
    const { keys } = canvas
    keys.down(key('ArrowDown'))
    for (let i = 0; i < 5; i++) keys.down(key('ArrowRight', { ctrlKey: true }))
    keys.down(key('ArrowUp', { altKey: true }))
    expect(canvas.writes()).toBe(0)
    keys.up(key('Alt'))
    expect(canvas.stored('a')).toMatchObject({ x: 50, y: -1 })
    keys.down(key('ArrowRight', { altKey: true }))
    vi.advanceTimersByTime(1_000)
    expect(canvas.stored('a')).toMatchObject({ x: 51, y: -1 })
    expect(canvas.writes()).toBe(2)
  })

  it('arrow keys with Control and Shift resize a shape, and its upper left corner stays', () => {
    using canvas = openedCanvas(shapes)
    const { keys } = canvas
    keys.down(key('ArrowDown'))
    keys.down(key('ArrowRight', { ctrlKey: true, shiftKey: true }))
    keys.down(key('ArrowDown', { ctrlKey: true, shiftKey: true }))
    keys.settle()
    expect(canvas.stored('a')).toMatchObject({ x: 5, y: 5, width: 110, height: 90 })
  })

  it('[CON-35] arrow keys with Control and Shift resize a turned shape, and its other two sides stay where they are', () => {
    using canvas = openedCanvas([box('a', 0, 0, { rotation: 90 })])
    const { editor, keys } = canvas
    const corner = () => handlePoint(editor.page.boxes.get('a') as ShapeBox, { x: -1, y: -1 })
    const before = corner()
    keys.down(key('ArrowDown'))
    keys.down(key('ArrowRight', { ctrlKey: true, shiftKey: true }))
    keys.down(key('ArrowDown', { ctrlKey: true, shiftKey: true }))
    keys.settle()
    expect(canvas.stored('a')).toMatchObject({ width: 110, height: 90 })
    expect([corner().x, corner().y]).toEqual([expect.closeTo(before.x), expect.closeTo(before.y)])
  })

  it('keys edit the text, connect, delete, select all and bring shapes to the front', () => {
    using canvas = openedCanvas(shapes)
    const { editor, keys } = canvas
    keys.down(key('ArrowDown'))
    expect(keys.down(key('Enter'))).toBe(true)
    expect(editor.editing.value).toBe('a')
    editor.label('a', 'Text')
    expect(canvas.stored('a')).toMatchObject({ label: 'Text' })
    keys.down(key('c'))
    expect(editor.connecting.value).toBe('a')
    keys.down(key(']', { ctrlKey: true, shiftKey: true }))
    expect(canvas.order()).toEqual(['b', 'c', 'a'])
    keys.down(key('a', { ctrlKey: true }))
    expect(editor.selection.value.size).toBe(3)
    keys.down(key('Escape'))
    expect(editor.selection.value.size).toBe(0)
    keys.down(key('Delete'))
    expect([canvas.stored('a'), canvas.stored('c'), canvas.order()]).toEqual([undefined, undefined, ['b']])
    expect(canvas.said.at(-1)).toBe('Deleted 2 shapes')
    expect(keys.down(key('q'))).toBe(false)
  })

  it('undo takes back the edits of this person one by one, and keeps those of others', () => {
    using canvas = openedCanvas(shapes)
    const { editor, keys } = canvas
    editor.label('a', 'mine')
    editor.add('ellipse', { x: 5, y: 5 })
    canvas.elsewhere((map) => map.set('b', box('b', 300, 0, { label: 'theirs' })))
    keys.down(key('z', { ctrlKey: true }))
    expect(canvas.stored('n1')).toBeUndefined()
    keys.down(key('z', { ctrlKey: true }))
    expect([canvas.stored('a'), canvas.stored('b')]).toEqual([box('a', 0, 0), box('b', 300, 0, { label: 'theirs' })])
    keys.down(key('z', { ctrlKey: true, shiftKey: true }))
    expect(canvas.stored('a')).toMatchObject({ label: 'mine' })
    expect(editor.history.value).toEqual({ canUndo: true, canRedo: true })
  })

  it('undo takes back edits made before another page was shown', () => {
    using canvas = openedCanvas(shapes)
    canvas.editor.label('a', 'mine')
    const editor = canvas.shownAgain()
    expect(editor.history.value).toEqual({ canUndo: true, canRedo: false })
    editor.undo()
    expect(canvas.stored('a')).toEqual(box('a', 0, 0))
    expect(editor.history.value).toEqual({ canUndo: false, canRedo: true })
  })

  it('the space bar selects a shape, unless the page was moved while it was down', () => {
    using canvas = openedCanvas(shapes)
    const { editor, gestures, keys } = canvas
    const pointer = { pointerId: 1, pointerType: 'mouse', button: 0, shiftKey: false, grip: null }
    editor.active.value = 'a'
    keys.down(key(' '))
    keys.up(key(' '))
    expect([...editor.selection.value]).toEqual(['a'])
    keys.down(key(' '))
    gestures.down({ ...pointer, x: 0, y: 0 })
    gestures.move({ ...pointer, x: 30, y: 40 })
    gestures.up({ ...pointer, x: 30, y: 40 })
    keys.up(key(' '))
    expect([...editor.selection.value]).toEqual(['a'])
    expect(editor.view.value).toEqual({ left: -30, top: -40, scale: 1 })
  })
})

describe('cutting', () => {
  const inGroup = [box('a', 0, 0), box('b', 300, 0), { id: 'g', type: 'group', childIds: ['a', 'b'] }]
  /** Cuts these shapes, and returns the content of the clipboard. */
  const cut = (canvas: ReturnType<typeof openedCanvas>, ...ids: readonly string[]) => {
    canvas.editor.select(ids)
    const kept: unknown[] = []
    canvas.editor.cut((copies) => kept.push(...copies.map(({ id }) => id)) > 0)
    return kept
  }

  it('[CON-35] a cut of a group takes its members from the page too, so that a paste does not double them', () => {
    using canvas = openedCanvas(inGroup)
    expect(cut(canvas, 'g').toSorted()).toEqual(['a', 'b', 'g'])
    expect(canvas.order()).toEqual([])
    canvas.editor.undo()
    expect(canvas.order()).toHaveLength(3)
  })

  it('[CON-35] a cut leaves locked shapes on the page, and does not copy them', () => {
    using canvas = openedCanvas([box('a', 0, 0, { locked: true }), box('b', 300, 0)])
    expect(cut(canvas, 'a', 'b')).toEqual(['b'])
    expect(canvas.order()).toEqual(['a'])
    expect(cut(canvas, 'a')).toEqual([])
    expect(canvas.order()).toEqual(['a'])
  })

  it('[CON-35] a cut removes nothing when the clipboard fails to keep the shapes, or when the person may only view', () => {
    using canvas = openedCanvas(inGroup)
    canvas.editor.select(['g'])
    canvas.editor.cut(() => false)
    using looking = openedCanvas(inGroup, 'view')
    expect([canvas.writes(), cut(looking, 'g'), looking.writes()]).toEqual([0, [], 0])
  })
})

describe('leaving a page', () => {
  it('leaving a page ends the presence of this person on it, and keeps the name and colour that others see', () => {
    const canvas = openedCanvas(shapes)
    canvas.editor.select(['a'])
    canvas.editor.destroy()
    vi.advanceTimersByTime(1_000)
    expect(canvas.awareness.getLocalState()).toEqual({ user: { name: 'Ann', color: '#0969da' }, canvas: null })
    canvas.awareness.destroy()
  })
})
