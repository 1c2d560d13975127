import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { addPage, deletePage, movePage, pagesOf, renamePage, setTitle, titleOf, watchPages } from './document-pages.ts'

const prose = (id: string) => ({ id, kind: 'prose' as const, name: id.toUpperCase() })
const canvas = (id: string) => ({ id, kind: 'canvas' as const, name: id.toUpperCase() })
const idsOf = (ydoc: Y.Doc) => pagesOf(ydoc).map(({ id }) => id)

function documentWith(...ids: readonly string[]): Y.Doc {
  const ydoc = new Y.Doc()
  for (const id of ids) addPage(ydoc, prose(id))
  return ydoc
}

describe('the pages of a document', () => {
  it('are text pages in their order, then drawings', () => {
    const ydoc = documentWith('a', 'b')
    addPage(ydoc, canvas('c'))
    addPage(ydoc, prose('d'))
    expect(pagesOf(ydoc)).toEqual([prose('a'), prose('b'), prose('d'), canvas('c')])
  })

  it('[YDOC-1] are listed once each, when an order repeats an id, holds an id without an entry, or lacks an id', () => {
    const ydoc = documentWith('a', 'b')
    ydoc.getArray('prosePageOrder').push(['a', 'gone'])
    ydoc.getMap('prosePages').set('late', { id: 'late', name: 'Late' })
    expect(idsOf(ydoc)).toEqual(['a', 'b', 'late'])
  })

  it('move among pages of their kind, and not beyond the ends', () => {
    const ydoc = documentWith('a', 'b', 'c')
    movePage(ydoc, prose('a'), 1)
    expect(idsOf(ydoc)).toEqual(['b', 'a', 'c'])
    movePage(ydoc, prose('b'), -1)
    movePage(ydoc, prose('c'), 1)
    expect(idsOf(ydoc)).toEqual(['b', 'a', 'c'])
  })

  it('keep their other members when they are renamed', () => {
    const ydoc = documentWith('a')
    ydoc.getMap('prosePages').set('a', { id: 'a', name: 'A', color: 'red' })
    renamePage(ydoc, prose('a'), 'Minutes')
    expect(ydoc.getMap('prosePages').get('a')).toEqual({ id: 'a', name: 'Minutes', color: 'red' })
  })

  it('are removed from the list and from every place of the order when they are deleted', () => {
    const ydoc = documentWith('a', 'b')
    ydoc.getArray('prosePageOrder').push(['a'])
    deletePage(ydoc, prose('a'))
    expect(idsOf(ydoc)).toEqual(['b'])
    expect(ydoc.getArray('prosePageOrder').toArray()).toEqual(['b'])
  })

  it('notify a listener of changes to them or to the title, until it is removed', () => {
    const ydoc = documentWith('a')
    let told = 0
    const end = watchPages(ydoc, () => told++)
    setTitle(ydoc, 'Minutes')
    renamePage(ydoc, prose('a'), 'B')
    expect([titleOf(ydoc), told]).toEqual(['Minutes', 2])
    end()
    setTitle(ydoc, 'Other')
    expect(told).toBe(2)
  })
})
