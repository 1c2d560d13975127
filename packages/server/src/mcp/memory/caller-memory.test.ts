import type { PageDelta } from '@docrelay/model/seen/body-delta'
import { describe, expect, it } from 'vitest'
import { DocumentMemory, MOST_BLOCKS } from './caller-memory.ts'

const ALL = { given: null, next: null }
const pageOf = (memory: DocumentMemory, pageId = 'p') => memory.pages((id) => id === pageId)[0]
const delta = (more: Partial<PageDelta>): PageDelta => ({
  kind: 'prose',
  pageId: 'p',
  written: [],
  gone: [],
  shapes: [],
  goneShapes: [],
  ...more,
})

describe('what a caller last saw of a document', () => {
  it('[AG-17] a page counts as seen whole when one answer shows all of it, not when it shows a block or section', () => {
    const memory = new DocumentMemory()
    memory.saw([{ pageId: 'q', blocks: ['x#0000'], isPart: true }], ALL)
    expect(pageOf(memory, 'q')).toEqual({ pageId: 'q', isWhole: false, blocks: ['x#0000'] })
    memory.saw([{ pageId: 'p', blocks: ['a#0000', '#w5kg', '#w5kg'] }], ALL)
    expect(pageOf(memory)).toEqual({ pageId: 'p', isWhole: true, blocks: ['a#0000', '#w5kg', '#w5kg'] })
  })

  it('[AG-17] a page counts as seen whole once consecutive answers showed all its parts in order', () => {
    const memory = new DocumentMemory()
    memory.saw([{ pageId: 'p', blocks: ['a#0000'] }], { given: null, next: 'c1' })
    expect(pageOf(memory)?.isWhole).toBe(false)
    memory.saw([{ pageId: 'p', blocks: ['b#0000'] }], { given: 'c1', next: 'c2' })
    expect(pageOf(memory)?.isWhole).toBe(false)
    memory.saw([{ pageId: 'p', blocks: ['c#0000'] }], { given: 'c2', next: null })
    expect(pageOf(memory)).toEqual({ pageId: 'p', isWhole: true, blocks: ['a#0000', 'b#0000', 'c#0000'] })
    const other = new DocumentMemory()
    other.saw([{ pageId: 'p', blocks: ['c#0000'] }], { given: 'c2', next: null })
    expect(pageOf(other)?.isWhole).toBe(false)
  })

  it('[AG-17] pages listed over several answers count as seen whole, also a page at the end of an answer', () => {
    const memory = new DocumentMemory()
    const page = (pageId: string) => ({ pageId, blocks: [`${pageId}#0000`] })
    memory.saw([page('p'), page('q')], { given: null, next: 'c1' })
    expect([pageOf(memory)?.isWhole, pageOf(memory, 'q')?.isWhole]).toEqual([true, false])
    memory.saw([page('r')], { given: 'c1', next: null })
    expect([pageOf(memory, 'q')?.isWhole, pageOf(memory, 'r')?.isWhole]).toEqual([true, true])
  })

  it('[AG-19] after a write the memory has new stamps for written blocks, and no removed blocks', () => {
    const memory = new DocumentMemory()
    memory.saw([{ pageId: 'p', blocks: ['a#0000', 'b#0000', '#w5kg'] }], ALL)
    memory.wrote([delta({ written: ['a#1111', 'n#2222'], gone: ['a#0000', 'b#9999', '#w5kg'] })])
    expect(pageOf(memory)).toEqual({ pageId: 'p', isWhole: true, blocks: ['a#1111', 'n#2222'] })
    memory.wrote([delta({ pageId: 'new', written: ['z#0000'], isNew: true }), delta({ isGone: true })])
    expect(pageOf(memory)).toBeUndefined()
    expect(pageOf(memory, 'new')?.isWhole).toBe(true)
  })

  it('[AG-19] a block changed unseen by others keeps its old stamp when the caller edits a part of it', () => {
    const memory = new DocumentMemory()
    memory.saw([{ pageId: 'p', blocks: ['a#0000', 'b#0000'] }], ALL)
    memory.wrote([delta({ written: ['a#2222', 'b#2222'], gone: ['a#1111', 'b#0000'], cut: ['a', 'b'] })])
    expect(pageOf(memory)?.blocks).toEqual(['a#0000', 'b#2222'])
    memory.wrote([delta({ written: ['a#3333'], gone: ['a#2222'] })])
    expect(pageOf(memory)?.blocks).toEqual(['b#2222', 'a#3333'])
  })

  it('[AG-19] [AG-43] a block changed unseen keeps its old stamp when the answer to an edit of a part of it is brief', () => {
    const memory = new DocumentMemory()
    memory.saw([{ pageId: 'p', blocks: ['a#0000', 'b#0000'] }], ALL)
    memory.wrote([delta({ written: ['a#2222', 'b#2222', 'n#2222'], gone: ['a#1111', 'b#0000'] })], true)
    expect(pageOf(memory)?.blocks).toEqual(['a#0000', 'b#2222', 'n#2222'])
  })

  it('[AG-18] a memory holds 5,000 blocks of a document, the most recent ones, and no longer page counts as seen whole', () => {
    const memory = new DocumentMemory()
    const blocks = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}#0000`)
    memory.saw([{ pageId: 'p', blocks: blocks(3_000, 'a') }], ALL)
    memory.saw([{ pageId: 'q', blocks: blocks(2_000, 'b') }], ALL)
    expect(pageOf(memory)?.isWhole).toBe(true)
    memory.saw([{ pageId: 'r', blocks: ['x#0000'] }], ALL)
    expect([pageOf(memory), pageOf(memory, 'q')?.isWhole]).toEqual([undefined, true])
    memory.saw([{ pageId: 's', blocks: blocks(MOST_BLOCKS + 1, 'c') }], ALL)
    expect(pageOf(memory, 's')?.blocks).toHaveLength(MOST_BLOCKS)
    expect(pageOf(memory, 's')?.isWhole).toBe(false)
    const full = memory.bytes
    memory.saw([{ pageId: 's', blocks: [] }], ALL)
    expect(memory.bytes).toBeLessThan(full / 100)
  })
})
