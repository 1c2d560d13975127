import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { PageState, writeOrder } from './page-state.ts'
import { box, connector, type WithId } from './testing/page-now.ts'

function documentOf(...shapes: readonly WithId[]): Y.Doc {
  const doc = new Y.Doc()
  for (const shape of shapes) doc.getMap('shapes:p').set(shape.id, shape)
  doc.getArray('shapeOrder:p').insert(
    0,
    shapes.map(({ id }) => id),
  )
  return doc
}

function told(state: PageState): string[][] {
  const heard: string[][] = []
  state.on((ids) => heard.push([...ids].toSorted()))
  return heard
}

describe('the shapes of a page in a Y.Doc', () => {
  it('a listener gets the id of a changed shape and, when it has moved, those of its connectors, and no others', () => {
    const doc = documentOf(box('a', 0, 0), box('b', 300, 0), box('far', 900, 0), connector('c', 'a', 'b'))
    const heard = told(new PageState(doc, 'p'))
    doc.getMap('shapes:p').set('a', box('a', 10, 0))
    doc.getMap('shapes:p').set('b', box('b', 300, 0, { label: 'same place' }))
    expect(heard).toEqual([['a', 'c'], ['b']])
  })

  it('when a member of a group moves, the connectors at the group count as changed too', () => {
    const doc = documentOf(
      box('a', 0, 0),
      box('b', 300, 0),
      { id: 'g', type: 'group', childIds: ['a'] },
      connector('c', 'g', 'b'),
    )
    const heard = told(new PageState(doc, 'p'))
    doc.getMap('shapes:p').set('a', box('a', 10, 0))
    expect(heard).toEqual([['a', 'c']])
  })

  it('an order is read as the relay reads it: the first of equal ids, no ids without a shape, unlisted shapes last', () => {
    const doc = documentOf(box('a', 0, 0), box('b', 0, 0))
    doc.getMap('shapes:p').set('late', box('late', 0, 0))
    doc.getArray('shapeOrder:p').insert(0, ['b', 'nobody'])
    expect(new PageState(doc, 'p').now.order).toEqual(['b', 'a', 'late'])
  })

  it('[YDOC-2] a listener hears of a change within a shape that is stored as a Y.Map, and of its deletion', () => {
    const doc = documentOf(box('b', 300, 0), connector('c', 'a', 'b'))
    const nested = new Y.Map<unknown>(Object.entries(box('a', 0, 0)))
    doc.getMap('shapes:p').set('a', nested)
    const state = new PageState(doc, 'p')
    const heard = told(state)
    nested.set('x', 40)
    expect(state.now.boxes.get('a')?.centre.x).toBe(40)
    doc.getMap('shapes:p').delete('a')
    expect(heard).toEqual([
      ['a', 'c'],
      ['a', 'c'],
    ])
    state.destroy()
    nested.set('x', 50)
    expect(heard).toHaveLength(2)
  })

  it('entries that are no shapes are left out', () => {
    const doc = documentOf(box('a', 0, 0))
    const state = new PageState(doc, 'p')
    doc.getMap('shapes:p').set('text', 'hello')
    doc.getMap('shapes:p').set('list', [1])
    doc.getMap('shapes:p').set('map', new Y.Map([['type', 'rectangle']]))
    expect([...state.now.shapes.keys()]).toEqual(['a', 'map'])
  })

  it('an edit is one transaction, and undoing it keeps the edits of others', () => {
    const doc = documentOf(box('a', 0, 0), box('b', 0, 0))
    const state = new PageState(doc, 'p')
    const undo = new Y.UndoManager([doc.getMap('shapes:p'), doc.getArray('shapeOrder:p')], {
      trackedOrigins: new Set([null]),
      captureTimeout: 0,
    })
    state.write({ values: new Map([['a', null]]), order: ['b'] })
    const other = new Y.Doc()
    Y.applyUpdate(other, Y.encodeStateAsUpdate(doc))
    other.getMap('shapes:p').set('b', box('b', 7, 7))
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(other), 'remote')
    undo.undo()
    expect([...state.now.shapes.values()].toSorted((x, y) => String(x['id']).localeCompare(String(y['id'])))).toEqual([
      box('a', 0, 0),
      box('b', 7, 7),
    ])
    expect(state.now.order).toEqual(['a', 'b'])
  })
})

describe('an order that changes', () => {
  const write = (before: readonly string[], wanted: readonly string[]) => {
    const doc = new Y.Doc()
    const array = doc.getArray<unknown>('o')
    array.insert(0, [...before])
    let steps = 0
    array.observe(({ changes }) => (steps += changes.added.size + changes.deleted.size))
    doc.transact(() => writeOrder(array, wanted))
    return { order: array.toArray().join(''), steps }
  }

  it('an order is written with the fewest insertions and deletions', () => {
    expect(write(['a', 'b', 'c', 'd'], ['b', 'c', 'd', 'a'])).toEqual({ order: 'bcda', steps: 2 })
    expect(write(['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'd'])).toEqual({ order: 'abcd', steps: 0 })
    expect(write(['a', 'b', 'c'], ['c', 'x', 'b'])).toMatchObject({ order: 'cxb' })
  })

  it('writing an order removes repeated ids and ids that are not wanted', () => {
    expect(write(['a', 'b', 'a', 'gone'], ['a', 'b'])).toEqual({ order: 'ab', steps: 2 })
  })

  it('concurrent moves in an order by two people are both kept', () => {
    const [one, two] = [new Y.Doc(), new Y.Doc()]
    one.getArray('o').insert(0, ['a', 'b', 'c', 'd'])
    Y.applyUpdate(two, Y.encodeStateAsUpdate(one))
    writeOrder(one.getArray('o'), ['b', 'c', 'd', 'a'])
    writeOrder(two.getArray('o'), ['d', 'a', 'b', 'c'])
    Y.applyUpdate(one, Y.encodeStateAsUpdate(two))
    expect(one.getArray('o').toArray().join('')).toBe('dbca')
  })
})
