import { describe, expect, it } from 'vitest'
import { blockStamp } from '../prose/block-stamp.ts'
import type { ProseElement } from '../prose/node.ts'
import type { Seen } from './seen.ts'
import { ANN, by, done, refusal, run, saw, stampOf, treeOf } from './testing/callers.ts'

const BOT = { id: 'bot', kind: 'agent' } as const

const BEFORE = '<p id="blk-1">one</p><p id="blk-2">two</p><p id="blk-3">three</p>'
const NOW = '<p id="blk-1">one</p><p id="blk-2">two by Ann</p><p id="blk-4">new</p>'
const set = (stored: string, seen: Seen | undefined, args: object = {}) =>
  run(stored, seen, 'set_prose', { content: '<p>all</p>', format: 'html', ...args } as never)

describe('a whole page', () => {
  it('[AG-28] a page write with replace quotes the rewritten blocks that the caller had not seen as they were', () => {
    const content = '<p id="blk-1">uno</p><p id="blk-2">two</p><p id="blk-4">four</p>'
    const { warnings } = done(set(NOW, saw(BEFORE, [by(ANN, 'blk-2')]), { content, replace: true }))
    expect(warnings.map(({ reason }) => reason)).toEqual([
      'the block blk-2 said "two by Ann", written by Ann (ann) after you read it',
      'the block blk-4 said "new", which you were not shown',
    ])
  })

  it('[AG-28] a page write quotes no block that the caller had seen or whose words stay, and none with expectedVersion', () => {
    const seen = saw(BEFORE, [by(ANN, 'blk-2')])
    const content = '<p id="blk-1">uno</p><p id="blk-2">two by Ann and me</p>'
    expect(done(set(NOW, seen, { content, replace: true })).warnings).toEqual([])
    expect(done(set(NOW, seen, { content: '<p id="blk-2">all</p>', replace: true, expectedVersion: 1 })).warnings).toEqual([])
  })

  it('[AG-28] a page write quotes twenty rewritten blocks and counts the others', () => {
    const page = (word: string) => Array.from({ length: 25 }, (_, i) => `<p id="blk-${i}">${word} ${i}</p>`).join('')
    const { warnings } = done(set(page('old'), saw(null), { content: page('new'), replace: true }))
    expect(warnings).toHaveLength(21)
    expect(warnings.at(-1)?.reason).toBe('5 more blocks that you had not seen said something else')
  })

  it('[AG-24] a page write after others changed, added or removed blocks is refused with these blocks and who did it', () => {
    const changes = [by(ANN, 'blk-2'), by(BOT, 'blk-3', true)]
    const { code, message, facts } = refusal(set(NOW, saw(BEFORE, changes)))
    expect([code, facts['seen'], facts['total']]).toEqual(['ERR_PAGE_CHANGED', true, 3])
    const stamp = stampOf('<p>two by Ann</p>')
    expect(facts['changedBlocks']).toEqual([{ id: `blk-2#${stamp}`, type: 'paragraph', content: 'two by Ann', changedBy: ANN }])
    expect(facts['addedBlocks']).toEqual([{ id: `blk-4#${stampOf('<p>new</p>')}`, type: 'paragraph', content: 'new' }])
    expect(facts['removedBlocks']).toEqual([{ id: 'blk-3', removedBy: BOT }])
    expect(JSON.stringify([message, facts])).not.toMatch(/ersion/)
  })

  it('[AG-24] a page is written when it is empty or unchanged, and with expectedVersion or replace', () => {
    const changes = [by(ANN, 'blk-2')]
    for (const outcome of [
      set('<p></p>', saw(BEFORE, changes)),
      set(NOW, saw(BEFORE, changes), { expectedVersion: 3 }),
      set(NOW, saw(BEFORE, changes), { replace: true }),
      set(BEFORE, saw(BEFORE)),
    ])
      expect([done(outcome).html.includes('all'), done(outcome).warnings]).toEqual([true, []])
  })

  it('[AG-24] a page that somebody emptied, which leaves a paragraph with an id, is written', () => {
    const emptied = set('<p id="blk-9"></p>', saw(BEFORE, [by(ANN, 'blk-2', true)]))
    expect([done(emptied).html.includes('all'), done(emptied).warnings]).toEqual([true, []])
    expect(done(set('<p id="blk-9"></p>', undefined, { content: '' })).warnings).toEqual([])
  })

  it('[AG-24] a task that a person ticked counts as changed, and a block that only got an id does not', () => {
    const task = (isDone: boolean, id = ' id="blk-t"') =>
      `<ul data-type="taskList"><li data-type="taskItem" data-checked="${isDone}"><p${id}>do it</p></li></ul>`
    expect(refusal(set(task(true), saw(task(false)))).facts['total']).toBe(1)
    expect(done(set(task(false), saw(task(false, '')))).html).toContain('all')
  })

  it('[AG-24] the refusal of a page write shows at most 10 blocks, 2,000 bytes of each and 8,000 in all', () => {
    const long = (i: number) => `<p id="blk-${i}">${`${i} ${'ä'.repeat(1_500)}`}</p>`
    const many = Array.from({ length: 12 }, (_, i) => long(i)).join('')
    const { facts } = refusal(set(many, saw(BEFORE)))
    const blocks = [...(facts['changedBlocks'] as { content: string }[]), ...(facts['addedBlocks'] as { content: string }[])]
    expect([blocks.length, (facts['removedBlocks'] as unknown[]).length, facts['total']]).toEqual([10, 0, 12])
    const bytes = blocks.map(({ content }) => new TextEncoder().encode(content).length)
    expect(Math.max(...bytes)).toBeLessThanOrEqual(2_000)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(8_000)
  })

  const carried = (...blocks: readonly [id: string, seen: string, text: string][]) =>
    blocks.map(([id, seen, text]) => `<!-- ${id}#${stampOf(`<p>${seen}</p>`)} -->\n${text}`).join('\n\n')

  it('[AG-25] a page read with ids and sent back with one change keeps what people wrote in other places', () => {
    const content = carried(['blk-1', 'one', 'one by me'], ['blk-2', 'two', 'two'], ['blk-3', 'three', 'three'])
    const stored = '<p id="blk-1">one</p><p id="blk-2">two by Ann</p>'
    for (const seen of [saw(BEFORE, [by(ANN, 'blk-2'), by(ANN, 'blk-3', true)]), saw(null), undefined]) {
      const outcome = set(stored, seen, { content, format: 'markdown' })
      expect(done(outcome).html).toBe('<p id="blk-1">one by me</p><p id="blk-2">two by Ann</p>')
    }
  })

  it('[AG-25] [AG-32] a page sent back as it was read restores nothing that others changed, with a warning', () => {
    const content = carried(['blk-1', 'one', 'one'], ['blk-2', 'two', 'two'], ['blk-3', 'three', 'three'])
    const stored = '<p id="blk-1">one</p><p id="blk-2">two by Ann</p>'
    const reason =
      'the content says of 2 blocks what you read before others changed or removed them; they stay as they are now: blk-2, blk-3'
    for (const replace of [{}, { replace: true }]) {
      const { html, warnings } = done(set(stored, saw(null), { content, format: 'markdown', ...replace }))
      expect([html, warnings]).toEqual([stored, [{ reason }]])
    }
    const own = carried(['blk-1', 'one', 'one by me'], ['blk-2', 'two', 'two'])
    const write = (replace: boolean) => done(set(stored, saw(null), { content: own, format: 'markdown', replace })).warnings
    expect(write(false)).toEqual([])
    expect(write(true).map((warning) => warning.reason)).toContain(
      'the content says of 1 block what you read before others changed or removed it; it stays as it is now: blk-2',
    )
    const same = done(set(stored, saw(null), { content: carried(['blk-1', 'one', 'one']), format: 'markdown', replace: true }))
    expect(same.warnings).toEqual([])
  })

  it('[AG-25] a page write is refused when the caller and somebody else changed the same block, with or without memory', () => {
    const content = carried(['blk-1', 'one', 'one'], ['blk-2', 'two', 'two by me'])
    const stored = '<p id="blk-1">one</p><p id="blk-2">two by Ann</p>'
    for (const seen of [saw(BEFORE, [by(ANN, 'blk-2')]), saw(null), undefined]) {
      const { code, facts } = refusal(set(stored, seen, { content, format: 'markdown' }))
      expect([code, facts['total']]).toEqual(['ERR_PAGE_CHANGED', 1])
      expect(facts['changedBlocks']).toMatchObject([{ content: 'two by Ann' }])
    }
    const gone = refusal(set('<p id="blk-1">one</p>', saw(null), { content, format: 'markdown' }))
    expect(gone.facts['removedBlocks']).toEqual([{ id: 'blk-2' }])
  })

  describe('with tasks', () => {
    const tasks = (...items: readonly [id: string, isDone: boolean, text: string][]) => {
      const item = ([id, isDone, text]: (typeof items)[number]) =>
        `<li data-type="taskItem" data-checked="${isDone}"><p id="${id}">${text}</p></li>`
      return `<ul data-type="taskList">${items.map(item).join('')}</ul>`
    }
    const sent = (...items: readonly [id: string, isDone: boolean, seen: string, text: string][]) =>
      items
        .map(([id, isDone, seen, text]) => `- [${isDone ? 'x' : ' '}] <!-- ${id}#${stampOf(`<p>${seen}</p>`)} -->${text}`)
        .join('\n')
    const seen = saw(tasks(['blk-1', false, 'one'], ['blk-2', false, 'two']), [by(ANN, 'blk-2')])

    it('[AG-25] a page write that changes words of one task keeps box and words that a person changed', () => {
      const content = sent(['blk-1', false, 'one', 'one by me'], ['blk-2', false, 'two', 'two'])
      const write = (stored: string) => done(set(stored, seen, { content, format: 'markdown' })).html
      expect(write(tasks(['blk-1', false, 'one'], ['blk-2', true, 'two by Ann']))).toBe(
        tasks(['blk-1', false, 'one by me'], ['blk-2', true, 'two by Ann']),
      )
      expect(write(tasks(['blk-1', true, 'one'], ['blk-2', false, 'two']))).toBe(
        tasks(['blk-1', true, 'one by me'], ['blk-2', false, 'two']),
      )
      expect(write(tasks(['blk-1', true, 'one']))).toBe(tasks(['blk-1', true, 'one by me']))
    })

    it('[AG-24] a page write is refused when a person ticked one box and the caller another', () => {
      const content = sent(['blk-1', true, 'one', 'one'], ['blk-2', false, 'two', 'two'])
      const stored = tasks(['blk-1', false, 'one'], ['blk-2', true, 'two by Ann'])
      const { code, facts } = refusal(set(stored, seen, { content, format: 'markdown' }))
      expect([code, facts['total']]).toEqual(['ERR_PAGE_CHANGED', 1])
      const own = tasks(['blk-1', false, 'one'], ['blk-2', false, 'two by Ann'])
      expect(done(set(own, seen, { content, format: 'markdown' })).html).toBe(
        tasks(['blk-1', true, 'one'], ['blk-2', false, 'two by Ann']),
      )
    })
  })

  it('[AG-25] after a page write, the caller does not count as having seen blocks that it left alone', () => {
    const content = carried(['blk-1', 'one', 'one by me'], ['blk-2', 'two', 'two'])
    const outcome = done(
      set('<p id="blk-1">one</p><p id="blk-2">two by Ann</p>', saw('<p id="blk-1">one</p><p id="blk-2">two</p>'), {
        content,
        format: 'markdown',
      }),
    )
    expect(outcome.shown).toMatchObject([{ pageId: 'p', blocks: [`blk-1#${stampOf('<p>one by me</p>')}`] }])
  })

  it('[AG-26] a page that its caller was not shown whole is written with a warning, or refused by configuration', () => {
    for (const seen of [saw(null), saw('<p id="blk-1">one</p>', [], { isWhole: false })]) {
      const [blind] = done(set(BEFORE, seen)).warnings
      expect(blind?.reason).toContain('not shown all of page p')
      const refused = refusal(set(BEFORE, { ...seen, blind: 'refuse' }))
      expect([refused.code, refused.facts['seen']]).toEqual(['ERR_PAGE_CHANGED', false])
      const isDone = (args: object) => done(set(BEFORE, { ...seen, blind: 'refuse' }, args)).warnings
      expect(isDone({ expectedVersion: 3 })).toEqual([])
      expect(JSON.stringify(isDone({ replace: true }))).not.toContain('not shown all of page')
    }
  })

  it('[AG-26] content with stamped ids is never written blind where the write would remove blocks', () => {
    const content = carried(['blk-1', 'one', 'one by me'], ['blk-2', 'two', 'two'])
    for (const blind of ['warn', 'refuse'] as const) {
      const refused = refusal(set(BEFORE, saw(null, [], { blind }), { content, format: 'markdown' }))
      expect([refused.facts['seen'], refused.facts['changedBlocks']]).toEqual([
        false,
        [expect.objectContaining({ content: 'three' })],
      ])
      const stored = '<p id="blk-1">one</p><p id="blk-2">two</p>'
      expect(done(set(stored, saw(null, [], { blind }), { content, format: 'markdown' })).html).toContain('one by me')
    }
  })
})

describe('a block', () => {
  const one = (stored: string, seen: Seen | undefined, args: object = {}) =>
    run(stored, seen, 'set_prose', { id: 'blk-2', content: 'mine', ...args } as never)

  it('[AG-28] a block that a person or an unknown writer changed is not overwritten by its bare id', () => {
    for (const changes of [[by(ANN, 'blk-2')], []]) {
      const { code, facts } = refusal(one(NOW, saw(BEFORE, changes)))
      expect([code, facts['current']]).toEqual(['ERR_BLOCK_CHANGED', expect.objectContaining({ content: 'two by Ann' })])
      expect(facts['changedBy']).toEqual(changes[0]?.who)
    }
    expect(refusal(run(NOW, saw(BEFORE), 'delete_block', { id: 'blk-2' })).code).toBe('ERR_BLOCK_CHANGED')
    for (const outcome of [
      one(NOW, saw(BEFORE), { expectedVersion: 3 }),
      one(NOW, saw(null)),
      one(NOW, undefined),
      one(BEFORE, saw(BEFORE)),
    ])
      expect([done(outcome).html.includes('mine'), done(outcome).warnings]).toEqual([true, []])
  })

  it('[AG-28] a block that another agent changed is overwritten, with a warning that quotes block and agent', () => {
    const [warning] = done(one(NOW, saw(BEFORE, [by({ ...BOT, name: 'Bot' }, 'blk-2')]))).warnings
    expect(warning?.reason).toMatch(/two by Ann.*Bot \(bot\)/)
  })

  it('[AG-7] [AG-8] [AG-22] refusals say who changed or removed a block when the relay knows who did', () => {
    const stamped = `blk-2#${stampOf('<p>two</p>')}`
    expect(refusal(one(NOW, saw(null, [by(ANN, 'blk-2')]), { id: stamped })).facts['changedBy']).toEqual(ANN)
    expect(refusal(one(NOW, saw(BEFORE, [by(ANN, 'blk-3', true)]), { id: 'blk-3' })).facts['removedBy']).toEqual(ANN)
    expect(refusal(one(NOW, saw(BEFORE, [by(ANN, 'blk-3')]), { id: 'blk-3' })).facts).not.toHaveProperty('removedBy')
  })

  const list = (inner: string) =>
    `<ul><li><p id="blk-i">item</p><ul><li><p id="blk-s">${inner}</p></li></ul></li><li><p id="blk-j">other</p></li></ul>`
  const remove = (stored: string, seen: Seen | undefined, args: object) => run(stored, seen, 'delete_block', args as never)

  it('[AG-27] an item with blocks that were changed since is not removed, and the refusal shows all of it', () => {
    const { code, facts } = refusal(remove(list('sub by Ann'), saw(list('sub'), [by(ANN, 'blk-s')]), { id: 'blk-i' }))
    const current = facts['current'] as { readonly id: string; readonly content: string }
    expect([code, facts['changedBy'], current.id]).toEqual(['ERR_BLOCK_CHANGED', ANN, expect.stringMatching(/^@0\.0#/)])
    expect(current.content).toContain('sub by Ann')
    // The stamped handle in the refusal says that the caller has seen the whole item.
    expect(done(remove(list('sub by Ann'), saw(list('sub')), { id: current.id })).html).not.toContain('sub by Ann')
    expect(done(remove(list('sub'), saw(list('sub')), { id: 'blk-i' })).html).not.toContain('sub')
  })

  it('[AG-27] when a call names a block by a stamped id, blocks that the caller was not shown count as changed', () => {
    const stamped = `blk-i#${stampOf('<p>item</p>')}`
    const current = refusal(remove(list('sub'), saw(null), { id: stamped })).facts['current'] as { readonly id: string }
    expect(done(remove(list('sub'), saw(null), { id: current.id })).html).not.toContain('item')
    expect(done(remove(list('sub'), saw(null), { id: 'blk-i' })).html).not.toContain('item')
    expect(done(remove(list('sub'), saw(list('sub')), { id: stamped })).html).not.toContain('item')
    expect(done(remove(list('sub'), undefined, { id: stamped })).html).not.toContain('item')
  })

  it('[AG-27] a write over a span is refused when a block inside the span was changed since', () => {
    const span = (seen: Seen) => run(NOW, seen, 'set_prose', { id: 'blk-1', untilId: 'blk-4', content: 'x' } as never)
    const { facts } = refusal(span(saw(NOW.replace('two by Ann', 'two'), [by(ANN, 'blk-2')])))
    expect(facts['current']).toMatchObject({ content: 'two by Ann' })
    expect(done(span(saw(NOW))).html).toContain('x')
  })

  it('[AG-27] a section is not removed with words that were changed or added since it was shown', () => {
    const section = (text: string) => `<h1 id="blk-h">Head</h1><p id="blk-b">${text}</p><h1 id="blk-n">Next</h1>`
    const remove = (seen: Seen, id = 'blk-h') => run(section('b by Ann'), seen, 'delete_section', { id } as never)
    expect(refusal(remove(saw(section('b'), [by(ANN, 'blk-b')]))).facts).toMatchObject({
      changedBy: ANN,
      current: { content: 'b by Ann' },
    })
    const stamped = `blk-h#${stampOf('<h1>Head</h1>')}`
    expect(refusal(remove(saw(null), stamped)).code).toBe('ERR_BLOCK_CHANGED')
    for (const outcome of [remove(saw(section('b by Ann')), stamped), remove(saw(null)), remove(saw(section('b')), 'blk-n')])
      expect(done(outcome).kind).toBe('edited')
  })

  it('[AG-27] a page is not removed with words that were changed or added since it was shown, nor a row of a table', () => {
    const changes = [by(ANN, 'blk-2')]
    expect(refusal(run(NOW, saw(BEFORE, changes), 'delete_prose_page', {})).facts).toMatchObject({ id: 'blk-2', changedBy: ANN })
    for (const seen of [saw(NOW), saw(null), undefined]) done(run(NOW, seen, 'delete_prose_page', {}))
    const table = (text: string) =>
      `<table><tbody><tr><td><p id="blk-a">a</p></td></tr><tr><td><p id="blk-b">${text}</p></td></tr></tbody></table>`
    const row = (index: number, seen: Seen) =>
      run(table('b by Ann'), seen, 'edit_table', { op: 'deleteRow', row: index } as never)
    expect(refusal(row(1, saw(table('b'), [by(ANN, 'blk-b')]))).facts).toMatchObject({ id: 'blk-b', changedBy: ANN })
    expect(done(row(0, saw(table('b'), [by(ANN, 'blk-b')]))).html).toContain('b by Ann')
    expect(done(row(1, saw(table('b by Ann')))).html).not.toContain('b by Ann')
  })

  it('[AG-27] the stamped handle of a cell says that all blocks in it were seen', () => {
    const table = '<table><tr><td><p id="blk-a">a</p><p id="blk-b">b</p></td></tr></table>'
    const cell = (text: string) =>
      treeOf(`<table><tr><td><p>a</p><p>${text}</p></td></tr></table>`)[0]?.content[0] as ProseElement
    const named = (text: string) => `@0.0.0#${blockStamp(cell(text).content[0] as ProseElement)}`
    for (const edit of ['set_prose', 'delete_block'] as const) {
      const write = (id: string) => run(table, saw(null), edit, { id, ...(edit === 'set_prose' && { content: 'x' }) } as never)
      expect(done(write(named('b'))).html).not.toContain('>b<')
      expect(refusal(write(named('before Ann wrote'))).code).toBe('ERR_BLOCK_CHANGED')
    }
  })

  it('[AG-27] the refusal to remove a row shows the whole table, and the handle of the table then removes the row', () => {
    const table = (text: string, id = ' id="blk-b"') =>
      `<table><tbody><tr><td><p id="blk-a">a</p></td></tr><tr><td><p${id}>${text}</p></td></tr></tbody></table>`
    const row = (stored: string, seen: Seen, id?: string) =>
      run(stored, seen, 'edit_table', { op: 'deleteRow', row: 1, ...(id !== undefined && { id }) } as never)
    const named = `blk-a#${stampOf('<p>a</p>')}`
    for (const refused of [
      refusal(row(table('b by Ann'), saw(table('b'), [by(ANN, 'blk-b')]))),
      refusal(row(table('b by Ann', ''), saw(table('b', '')))),
      refusal(row(table('b by Ann'), saw(null), named)),
    ]) {
      const current = refused.facts['current'] as { readonly id: string; readonly type: string; readonly content: string }
      expect([refused.code, current.type, current.content.includes('b by Ann')]).toEqual(['ERR_BLOCK_CHANGED', 'table', true])
      expect(done(row(table('b by Ann'), saw(null), current.id)).html).not.toContain('b by Ann')
    }
    done(row(table('b'), saw(table('b')), named))
  })
})
