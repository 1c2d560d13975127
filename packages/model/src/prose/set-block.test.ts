import { describe, expect, it } from 'vitest'
import { setBlock, type SetBlock } from './set-block.ts'
import { done, html, proseBody, refusal } from './testing/editing.ts'

const call = (id: string, more: Omit<Partial<SetBlock>, 'id'>): SetBlock => ({
  pageId: 'p',
  id,
  naming: 'bare',
  ...more,
})
const set = (stored: string, id: string, more: Omit<Partial<SetBlock>, 'id'>) => html(setBlock, proseBody(stored), call(id, more))
const TEXT = '<p id="blk-a">one <strong>two</strong><br>three</p>'
const LIST =
  '<ul><li><p id="blk-1">one</p><ul><li><p id="blk-2">two</p></li></ul></li><li><p id="blk-3">three</p><p id="blk-4">more</p></li></ul>'
const TASKS =
  '<ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p id="blk-1">one</p><ul><li><p id="blk-2">two</p></li></ul></li><li data-type="taskItem" data-checked="true"><p id="blk-3">three</p></li></ul>'
const CALLOUT = '<div data-callout data-variant="tip"><p id="blk-a">one</p><ul><li><p id="blk-b">two</p></li></ul></div>'

describe('set_block', () => {
  it('[TOOL-set_block] [AG-50] a text block becomes a heading, a paragraph or code; its text and id stay', () => {
    expect(set(TEXT, 'blk-a', { level: 3 })).toBe('<h3 id="blk-a">one <strong>two</strong><br>three</h3>')
    expect(set('<h2 id="blk-a">x</h2>', 'blk-a', { level: 4 })).toBe('<h4 id="blk-a">x</h4>')
    expect(set('<h2 id="blk-a">x</h2>', 'blk-a', { type: 'paragraph' })).toBe('<p id="blk-a">x</p>')
    expect(set('<h3 id="blk-a" style="text-align: center">x</h3>', 'blk-a', { type: 'heading' })).toBe(
      '<h3 id="blk-a" style="text-align: center">x</h3>',
    )
    const code = '<pre id="blk-a"><code class="language-js">a\n  b</code></pre>'
    expect(set(code, 'blk-a', { type: 'paragraph' })).toBe('<p id="blk-a">a<br>  b</p>')
    expect(set('<p id="blk-a">a<br>  b</p>', 'blk-a', { type: 'codeBlock', language: 'js' })).toBe(code)
  })

  it('[AG-50] set_block sets and clears the language of a code block', () => {
    const code = '<pre id="blk-a"><code class="language-js">a</code></pre>'
    expect(set(code, 'blk-a', { language: 'ts' })).toContain('language-ts')
    expect(set(code, 'blk-a', { language: '' })).toBe('<pre id="blk-a"><code>a</code></pre>')
  })

  it('[AG-50] set_block turns the list around an item, or a list named by its handle, into another kind of list', () => {
    expect(set(LIST, 'blk-3', { type: 'orderedList' })).toBe(LIST.replace(/^<ul>(.*)<\/ul>$/, '<ol>$1</ol>'))
    expect(set(LIST, 'blk-2', { type: 'orderedList' })).toContain('<ol><li><p id="blk-2">two</p></li></ol>')
    const tasks = set(LIST, '@0', { type: 'taskList', expectedVersion: 1 })
    expect(tasks).toBe(
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p id="blk-1">one</p><ul><li><p id="blk-2">two</p></li></ul></li>' +
        '<li data-type="taskItem" data-checked="false"><p id="blk-3">three</p><p id="blk-4">more</p></li></ul>',
    )
    const back = done(setBlock, proseBody(TASKS), call('blk-1', { type: 'bulletList' }))
    expect(back.warnings).toMatchObject([{ field: 'type', reason: expect.stringContaining('1 ticked') }])
  })

  it('[AG-51] set_block ticks a task and keeps its sub-items and all blocks around', () => {
    expect(set(TASKS, 'blk-1', { checked: true })).toBe(TASKS.replace('data-checked="false"', 'data-checked="true"'))
    expect(set(TASKS, 'blk-3', { checked: false })).toBe(TASKS.replace('data-checked="true"', 'data-checked="false"'))
    expect(set(LIST, 'blk-4', { type: 'taskList', checked: true })).toContain('data-checked="true"><p id="blk-3">')
    const { result } = done(setBlock, proseBody(TASKS), call('blk-1', { checked: true, naming: 'stamped' }))
    expect(result).toEqual({ pageId: 'p', ok: true, blocks: [{ id: 'blk-1#gzyg', type: 'paragraph', text: 'one' }] })
  })

  it('[AG-50] kind changes the callout around the named block', () => {
    for (const id of ['blk-a', 'blk-b']) expect(set(CALLOUT, id, { kind: 'danger' })).toBe(CALLOUT.replace('"tip"', '"danger"'))
    expect(set(CALLOUT, 'blk-a', { kind: 'note' })).toBe(CALLOUT.replace('"tip"', '"note"'))
    expect(set(CALLOUT, 'blk-a', { kind: 'tip', level: 2 })).toContain('<h2 id="blk-a">one</h2>')
  })

  it('[AG-51] marks are dropped when a block becomes code, with a fix', () => {
    const answer = done(setBlock, proseBody(TEXT), call('blk-a', { type: 'codeBlock' }))
    expect(answer.fixes).toMatchObject([{ action: 'stripped_children', field: 'type' }])
    expect(set(TEXT, 'blk-a', { type: 'codeBlock' })).toBe('<pre id="blk-a"><code>one two\nthree</code></pre>')
  })

  it('[AG-51] a call that changes nothing writes no block, and a warning says so', () => {
    for (const [stored, id, more] of [
      ['<h2 id="blk-a">x</h2>', 'blk-a', { level: 2 }],
      [TASKS, 'blk-3', { checked: true }],
      [LIST, 'blk-1', { type: 'bulletList' }],
      [CALLOUT, 'blk-b', { kind: 'tip' }],
    ] as const) {
      const given = proseBody(stored)
      const answer = done(setBlock, given, call(id, more))
      expect(answer.body).toBe(given)
      expect(answer.warnings).toEqual([{ reason: expect.stringContaining('nothing was changed') }])
      expect(answer.result.blocks).toMatchObject([{ id }])
    }
  })

  it('[AG-51] a block that becomes a heading without a given level causes a warning', () => {
    const answer = done(setBlock, proseBody('<p id="blk-a">x</p>'), call('blk-a', { type: 'heading' }))
    expect(answer.warnings).toMatchObject([{ field: 'level' }])
  })

  it.each([
    [
      'a heading as the first block of an item',
      LIST,
      'blk-1',
      { level: 2 },
      'paragraph',
      'listItem',
      ['bulletList', 'orderedList', 'taskList'],
    ],
    [
      'code with chips',
      '<p id="blk-a">x <span data-field data-name="n">N</span></p>',
      'blk-a',
      { type: 'codeBlock' },
      'paragraph',
      'page',
      ['heading'],
    ],
    [
      'code with math',
      '<h1 id="blk-a"><span data-math-inline data-latex="x"></span></h1>',
      'blk-a',
      { type: 'codeBlock' },
      'heading',
      'page',
      ['paragraph'],
    ],
    [
      'a ticked item of a plain list',
      LIST,
      'blk-4',
      { checked: true },
      'paragraph',
      'listItem',
      ['heading', 'codeBlock', 'bulletList', 'orderedList', 'taskList'],
    ],
    ['a kind outside of a callout', TEXT, 'blk-a', { kind: 'tip' }, 'paragraph', 'page', ['heading', 'codeBlock']],
    ['a list where there is none', TEXT, 'blk-a', { type: 'taskList' }, 'paragraph', 'page', ['heading', 'codeBlock']],
    ['a language without code', TEXT, 'blk-a', { language: 'js' }, 'paragraph', 'page', ['heading', 'codeBlock']],
    ['a level of a rule', '<hr>', '@0', { level: 2, expectedVersion: 1 }, 'horizontalRule', 'page', []],
  ] as const)('[AG-52] %s is refused with what the block can be', (_, stored, id, more, type, around, allowed) => {
    expect(refusal(setBlock, proseBody(stored), call(id, more))).toMatchObject({
      code: 'ERR_BLOCK_KIND',
      facts: { id, type, around, allowed },
    })
  })

  it('[AG-52] the refusal of checked outside of a task list names type: "taskList"', () => {
    expect(refusal(setBlock, proseBody(LIST), call('blk-1', { checked: true })).message).toContain('type: "taskList"')
  })

  it.each([
    ['type', {}],
    ['level', { level: 2, type: 'paragraph' }],
    ['level', { level: 7 }],
    ['language', { language: 'js', type: 'heading' }],
    ['language', { language: 'js', level: 1 }],
    ['language', { language: 'two words' }],
    ['checked', { checked: true, type: 'bulletList' }],
  ] as const)('[AG-51] arguments that do not fit together are refused by name: %s of %j', (argument, more) => {
    expect(refusal(setBlock, proseBody(TEXT), call('blk-a', more))).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument },
    })
  })
})
