import { describe, expect, it } from 'vitest'
import { deleteBlock, moveBlock } from './prose-edits.ts'
import { contentOf, done, html, proseBody, refusal } from './testing/editing.ts'

const p = (id: string) => `<p id="blk-${id}">${id}</p>`
const LIST = `<ul><li>${p('i')}</li><li>${p('j')}${p('j2')}</li><li>${p('k')}</li></ul>`
const body = proseBody(
  p('a') + p('b') + '<hr>' + p('c') + LIST,
  {},
  { id: 'q', name: 'q', content: `${p('q')}<ul><li>${p('l')}</li></ul>` },
)
const at = { pageId: 'p', naming: 'bare' } as const

describe('several blocks at once', () => {
  it('[AG-81] delete_block deletes the blocks up to untilId, and its answer lists them', () => {
    const answer = done(deleteBlock, body, { ...at, id: 'blk-b', untilId: 'blk-c' })
    expect([contentOf(answer.body), answer.result.deleted]).toEqual([p('a') + LIST, ['blk-b', '@2', 'blk-c']])
    const items = done(deleteBlock, body, { ...at, id: 'blk-i', untilId: 'blk-j' })
    expect(contentOf(items.body)).toBe(`${p('a') + p('b')}<hr>${p('c')}<ul><li>${p('k')}</li></ul>`)
    expect(items.result.deleted).toEqual(['blk-i', 'blk-j', 'blk-j2'])
    expect(html(deleteBlock, body, { ...at, id: 'blk-i', untilId: 'blk-k' })).toBe(`${p('a') + p('b')}<hr>${p('c')}`)
    for (const [id, untilId] of [
      ['blk-c', 'blk-a'],
      ['blk-a', 'blk-i'],
    ] as const)
      expect(refusal(deleteBlock, body, { ...at, id, untilId }).code).toBe('ERR_ANCHOR_RANGE')
    expect(refusal(deleteBlock, body, { ...at, id: 'blk-a', untilId: 'blk-b#0000' }).code).toBe('ERR_BLOCK_CHANGED')
  })

  it('[AG-81] move_block moves the blocks up to untilId together', () => {
    const move = { ...at, id: 'blk-a', untilId: 'blk-b', targetId: 'blk-c' }
    expect(html(moveBlock, body, move)).toBe(`<hr>${p('c') + p('a') + p('b')}${LIST}`)
    expect(html(moveBlock, body, { ...at, id: 'blk-b', untilId: 'blk-c', targetId: 'blk-a', side: 'before' })).toBe(
      `${p('b')}<hr>${p('c') + p('a')}${LIST}`,
    )
    expect(html(moveBlock, body, { ...at, id: 'blk-i', untilId: 'blk-j', targetId: 'blk-k' })).toContain(
      `<ul><li>${p('k')}</li><li>${p('i')}</li><li>${p('j')}${p('j2')}</li></ul>`,
    )
    expect(refusal(moveBlock, body, { ...move, targetId: 'blk-b' }).code).toBe('ERR_MOVE_SELF')
    expect(refusal(moveBlock, body, { ...at, id: 'blk-i', untilId: 'blk-k', targetId: 'blk-j2' }).code).toBe('ERR_MOVE_INTO_SELF')
  })

  it('[AG-81] move_block with toPageId moves blocks beside a block of that page, ids and all', () => {
    const moved = done(moveBlock, body, {
      ...at,
      id: 'blk-a',
      untilId: 'blk-c',
      toPageId: 'q',
      targetId: 'blk-q',
      side: 'before',
    })
    expect([contentOf(moved.body), contentOf(moved.body, 'q')]).toEqual([
      LIST,
      `${p('a') + p('b')}<hr>${p('c') + p('q')}<ul><li>${p('l')}</li></ul>`,
    ])
    expect(moved.result).toMatchObject({
      pageId: 'q',
      ok: true,
      blocks: [{ id: 'blk-a' }, { id: 'blk-b' }, { id: '@2' }, { id: 'blk-c' }],
    })
    const all = done(moveBlock, body, { ...at, id: 'blk-i', untilId: 'blk-k', toPageId: 'q', targetId: 'blk-l' })
    expect(contentOf(all.body)).toBe(`${p('a') + p('b')}<hr>${p('c')}`)
    expect(refusal(moveBlock, body, { ...at, id: 'blk-a', toPageId: 'q', targetId: 'blk-l' }).code).toBe('ERR_MOVE_CROSS_CONTEXT')
    expect(refusal(moveBlock, body, { ...at, id: 'blk-a', toPageId: 'q', targetId: 'blk-c' }).code).toBe('ERR_ID_NOT_FOUND')
    expect(refusal(moveBlock, body, { ...at, id: 'blk-a', toPageId: 'z', targetId: 'blk-c' }).code).toBe('ERR_PAGE_NOT_FOUND')
  })
})
