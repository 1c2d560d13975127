import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { readStoredBody } from '../body-parse.ts'
import { bodyDelta } from './body-delta.ts'
import { readShownBlock } from './shown.ts'

function body(pages: Record<string, string>, shapes: readonly object[] = []): DocumentBody {
  const richTextPages = Object.entries(pages).map(([id, content]) => ({ id, name: id, content }))
  const value = { pages: [{ id: 'c', name: 'Canvas', shapes }], richTextPages }
  return readStoredBody(new TextEncoder().encode(JSON.stringify(value)))
}

const ids = (blocks: readonly string[] = []) => blocks.map((shown) => readShownBlock(shown).id)

describe('what a write changed', () => {
  it('[AG-20] a delta names the blocks that were changed, added or removed, and no other block', () => {
    const before = body({ p: '<p id="a">one</p><p id="b">two</p><p id="c">three</p>', q: '<p id="d">same</p>' })
    const after = body({ p: '<p id="a">one</p><p id="b">other</p><p id="n">new</p>', q: '<p id="d">same</p>' })
    const [delta, ...others] = bodyDelta(before, after)
    expect(others).toEqual([])
    expect(delta).toMatchObject({ kind: 'prose', pageId: 'p' })
    expect(ids(delta?.written)).toEqual(['b', 'n'])
    expect(ids(delta?.gone)).toEqual(['b', 'c'])
  })

  it('[AG-19] a delta names the changed blocks of which an answer shows only the beginning', () => {
    const page = (word: string) => body({ p: `<p id="a">${word} ${'long '.repeat(30)}</p><p id="b">${word}</p>` })
    const [delta] = bodyDelta(page('one'), page('two'))
    expect([ids(delta?.written), delta?.cut]).toEqual([['a', 'b'], ['a']])
    const [made] = bodyDelta(body({ p: '' }), page('one'))
    expect(made?.cut).toBeUndefined()
  })

  it('[AG-20] a delta does not name a block that only moved', () => {
    const list = '<ul><li><p id="i">item</p></li></ul>'
    expect(bodyDelta(body({ p: `<p id="a">one</p>${list}` }), body({ p: `${list}<p id="a">one</p>` }))).toEqual([])
  })

  it('[AG-20] a delta names a list that changed beside its blocks, by the stamp of the list', () => {
    const list = (text: string) => body({ p: `<ul><li><p id="i">${text}</p></li></ul><hr><hr>` })
    const [delta] = bodyDelta(list('old'), list('new'))
    expect(ids(delta?.written)).toEqual([null, 'i'])
    const [rule] = bodyDelta(body({ p: '<hr><hr>' }), body({ p: '<hr>' }))
    expect(rule?.gone).toEqual(['#w5kg'])
  })

  it('[AG-20] a delta names shapes that were changed, added or removed, and pages that were added or removed', () => {
    const shape = (id: string, x: number) => ({ id, type: 'rect', x })
    const before = body({ p: '<p id="a">one</p>' }, [shape('s1', 1), shape('s2', 1), shape('s3', 1)])
    const after = body({ q: '<p id="b">two</p>' }, [shape('s1', 1), shape('s2', 2), shape('s4', 1)])
    const delta = bodyDelta(before, after)
    expect(delta.map(({ pageId, isNew, isGone }) => [pageId, isNew, isGone])).toEqual([
      ['p', undefined, true],
      ['q', true, undefined],
      ['c', undefined, undefined],
    ])
    expect(delta[2]).toMatchObject({ shapes: ['s2', 's4'], goneShapes: ['s3'] })
  })
})
