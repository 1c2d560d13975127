import { describe, expect, it } from 'vitest'
import { shapeStamp } from '../canvas/shape-stamp.ts'
import { written } from '../testing/builders.ts'
import { contentOf, done, html, proseBody, refusal } from '../prose/testing/editing.ts'
import { editText, type EditText, type TextEdit } from './edit-text.ts'

const CHIP = '<span data-field="" data-name="client">Ada</span>'
const PAGE =
  '<h1 id="blk-h">The colour</h1><p id="blk-a">The <strong>col</strong>our of the cat<br>and <em>the hat</em></p>' +
  `<ul><li><p id="blk-i">A cat</p></li></ul><table><tr><td><p id="blk-t">cat and cat</p></td></tr></table>` +
  `<figure><img src="x"><figcaption>A cat</figcaption></figure><pre id="blk-c"><code>const cat = 1\nlet b</code></pre><p id="blk-f">For ${CHIP} only</p>`
const body = proseBody(PAGE)
const call = (edit: TextEdit, more: Partial<EditText> = {}): EditText => ({ edits: [edit], ...more })
const replaced = (edit: TextEdit, more: Partial<EditText> = {}, given = body) => html(editText, given, call(edit, more))
const counts = (given: EditText, at = body) => done(editText, at, given).result.edits.map(({ count }) => count)

describe('finding words', () => {
  it('[TOOL-edit_text] [AG-44] edit_text finds words literally and with case in every kind of text block, across marks', () => {
    expect(replaced({ find: 'colour of', replace: 'coat of' })).toContain('The <strong>coat</strong> of the cat')
    expect(counts(call({ find: 'cat', replace: 'dog', all: true }))).toEqual([6])
    expect(counts(call({ find: 'The', replace: 'A', all: true }))).toEqual([2])
    expect(refusal(editText, body, call({ find: 'c.t', replace: 'x' })).code).toBe('ERR_TEXT_NOT_FOUND')
  })

  it('[AG-44] in a search a hard break is a line break, chips match nothing, and no match spans two blocks', () => {
    expect(replaced({ find: 'cat\nand', replace: 'cat and' })).toContain('of the cat and <em>')
    for (const find of ['Ada', 'For  only', '\ufffc', 'For \ufffc only', 'hatA'])
      expect(refusal(editText, body, call({ find, replace: 'x' })).code).toBe('ERR_TEXT_NOT_FOUND')
  })

  it('[AG-44] page, section, block and shape limit the search of edit_text, also by handle', () => {
    const two = proseBody(
      '<p id="blk-0">cat</p><h1>A</h1><p>cat</p><h2>B</h2><ul><li><p id="blk-9">cat</p></li></ul>',
      {},
      {
        id: 'q',
        name: 'q',
        content: '<p>cat</p>',
      },
    )
    const edit = { find: 'cat', replace: 'dog', all: true }
    expect(counts(call(edit), two)).toEqual([4])
    expect(counts(call(edit, { pageId: 'p' }), two)).toEqual([3])
    expect(replaced({ ...edit, sectionIndex: 0 }, { pageId: 'p' }, two)).toMatch(/cat.*dog.*cat/)
    expect(replaced({ ...edit, sectionIndex: -1 }, { pageId: 'p' }, two)).toMatch(/dog.*cat.*cat/)
    expect(replaced({ find: 'cat', replace: 'dog', id: 'blk-9' }, {}, two)).toMatch(/cat.*cat.*dog/)
    expect(replaced({ find: 'cat', replace: 'dog', id: '@4' }, { pageId: 'p', expectedVersion: 1 }, two)).toMatch(/cat.*cat.*dog/)
    expect(refusal(editText, two, call({ ...edit, sectionIndex: 2 }, { pageId: 'p' })).code).toBe('ERR_SECTION_INDEX')
    expect(refusal(editText, two, call({ ...edit, id: 'blk-9#0000' })).code).toBe('ERR_BLOCK_CHANGED')
    expect(refusal(editText, two, call({ ...edit, id: 'blk-8' })).code).toBe('ERR_ID_NOT_FOUND')
    expect(refusal(editText, two, call(edit, { pageId: 'z' })).code).toBe('ERR_PAGE_NOT_FOUND')
  })

  it('[AG-44] [AG-6] [AG-7] the scope canvas searches labels and text shapes, and the scope all searches prose too', () => {
    const drawn = proseBody('<p id="blk-a">Pay now</p>', {
      pages: [
        {
          id: 'c',
          name: 'c',
          shapes: [
            { id: 's', type: 'rectangle', x: 1, y: 1, label: 'Pay' },
            { id: 't', type: 'text', x: 1, y: 1, text: 'We Pay\ntoday' },
            { id: 'k', type: 'connector', label: 'Pays' },
          ],
        },
      ],
    })
    const edit = { find: 'Pay', replace: 'Bill', all: true }
    expect(counts(call(edit), drawn)).toEqual([1])
    expect(counts(call(edit, { scope: 'canvas' }), drawn)).toEqual([3])
    const answer = done(editText, drawn, call(edit, { scope: 'all' }))
    expect(answer.result.edits).toEqual([{ count: 4, ids: [expect.stringMatching(/^blk-a#/), 's', 't', 'k'] }])
    expect(written(answer.body)['pages']).toMatchObject([
      { shapes: [{ label: 'Bill' }, { text: 'We Bill\ntoday' }, { label: 'Bills' }] },
    ])
    expect(counts(call({ find: 'Pay', replace: 'Bill', id: 't' }, { scope: 'canvas' }), drawn)).toEqual([1])
    expect(counts(call({ find: 'Pay', replace: 'Bill', id: 'k' }, { scope: 'all', pageId: 'c' }), drawn)).toEqual([1])
    expect(refusal(editText, drawn, call({ ...edit, id: 'u' }, { scope: 'canvas' })).code).toBe('ERR_SHAPE_NOT_FOUND')
    const stamp = shapeStamp({ id: 't', type: 'text', text: 'We Pay\ntoday' })
    expect(counts(call({ find: 'Pay', replace: 'Bill', id: `t#${stamp}` }, { scope: 'canvas' }), drawn)).toEqual([1])
    expect(refusal(editText, drawn, call({ ...edit, id: 't#0000' }, { scope: 'canvas' }))).toMatchObject({
      code: 'ERR_SHAPE_CHANGED',
      facts: { current: { id: `t#${stamp}`, type: 'text' } },
    })
  })

  it.each([
    ['white space', 'two\u00a0 \nwords', 'two words'],
    ['single quotes', 'it’s', "it's"],
    ['double quotes', '„so“', '"so"'],
    ['dashes', 'a – b', 'a - b'],
    ['dots', 'wait…', 'wait...'],
    ['an ellipsis', 'wait...', 'wait…'],
    ['composed characters', 'caf\u00e9', 'cafe\u0301'],
    ['decomposed characters', 'cafe\u0301', 'caf\u00e9'],
  ])('[AG-45] words with other %s are found by a second search, with a fix', (_, stored, find) => {
    const given = proseBody(`<p id="blk-a">Then ${stored} end</p>`)
    const answer = done(editText, given, call({ find, replace: 'X' }))
    expect(contentOf(answer.body)).toBe('<p id="blk-a">Then X end</p>')
    expect(answer.fixes).toMatchObject([{ action: 'clamped', field: 'edits[0].find' }])
  })

  it('[AG-45] the second search runs only without an exact match, and splits neither a letter nor a run of white space', () => {
    const given = proseBody("<p>it’s and it's and cafe\u0301</p>")
    const answer = done(editText, given, call({ find: "it's", replace: 'X' }))
    expect([contentOf(answer.body), answer.fixes]).toEqual(['<p id="blk-0000000001">it’s and X and cafe\u0301</p>', []])
    expect(refusal(editText, proseBody('<p>“caf\u00e9”</p>'), call({ find: '"cafe"', replace: 'X' })).code).toBe(
      'ERR_TEXT_NOT_FOUND',
    )
  })
})

describe('several places with the words', () => {
  it('[AG-46] several matches need all or an occurrence; without them the refusal lists the places', () => {
    const told = refusal(editText, body, call({ find: 'cat', replace: 'dog' }))
    expect(told).toMatchObject({ code: 'ERR_TEXT_AMBIGUOUS', facts: { edit: 0, count: 6 } })
    const { places } = told.facts as { places: readonly object[] }
    expect(places).toHaveLength(5)
    expect(places[0]).toEqual({
      occurrence: 1,
      id: expect.stringMatching(/^blk-a#.{4}$/),
      pageId: 'p',
      text: 'The colour of the cat\nand the hat',
    })
    expect(replaced({ find: 'cat', replace: 'dog', occurrence: 4 })).toContain('cat and dog')
    expect(refusal(editText, body, call({ find: 'cat', replace: 'dog', occurrence: 7 }))).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'edits[0].occurrence', expected: '1 to 6', got: 7 },
    })
  })

  it('[AG-46] a refusal shows the part of a long text around the match', () => {
    const given = proseBody(`<p id="blk-a">${'before '.repeat(40)}needle ${'after '.repeat(40)}needle</p>`)
    const { places } = refusal(editText, given, call({ find: 'needle', replace: 'x' })).facts as { places: { text: string }[] }
    for (const { text } of places) expect(text.length).toBeLessThanOrEqual(120)
    expect(places[0]?.text).toMatch(/^….*before needle after.*…$/)
    expect(places[1]?.text).toMatch(/^….*after needle$/)
  })

  it('[AG-46] words that no text contains are refused with the nearest texts', () => {
    const told = refusal(editText, body, {
      edits: [
        { find: 'colour', replace: 'color', all: true },
        { find: 'cat and cot', replace: 'x' },
      ],
    })
    expect(told).toMatchObject({ code: 'ERR_TEXT_NOT_FOUND', facts: { edit: 1, find: 'cat and cot' } })
    const { nearest } = told.facts as { nearest: readonly object[] }
    expect(nearest.length).toBeLessThanOrEqual(3)
    expect(nearest[0]).toEqual({ id: expect.stringMatching(/^blk-t#/), pageId: 'p', text: 'cat and cat' })
  })

  it.each([
    ['another case', { find: 'a CAT', replace: 'x' }, {}],
    ['a chip', { find: 'For Ada', replace: 'x' }, {}],
    ['across two blocks', { find: 'hat A cat', replace: 'x' }, {}],
    ['the scope canvas', { find: 'drawn', replace: 'x' }, {}],
    ['the scope prose', { find: 'colour', replace: 'x' }, { scope: 'canvas' }],
    ['the page q', { find: 'other', replace: 'x' }, { pageId: 'p' }],
    ['elsewhere on this page', { find: 'colour', replace: 'x', id: 'blk-i' }, { pageId: 'p' }],
  ] as const)('[AG-46] a hint says when the words stand in %s', (hint, edit, more) => {
    const given = proseBody(
      PAGE,
      { pages: [{ id: 'c', name: 'c', shapes: [{ id: 's', type: 'rectangle', label: 'drawn' }] }] },
      { id: 'q', name: 'q', content: '<p>other</p>' },
    )
    expect(refusal(editText, given, call(edit, more)).facts['hint']).toContain(hint)
  })
})

describe('replacing words', () => {
  it('[AG-47] new characters take the marks of the first replaced character, and kept characters keep their marks', () => {
    const given = proseBody('<p>a <strong>bold</strong> and <em>slanted</em> word</p>')
    const said = (find: string, replace: string) => replaced({ find, replace }, {}, given)?.replace(/ id="[^"]*"/, '')
    expect(said('and slanted word', 'or slanting word')).toBe('<p>a <strong>bold</strong> or slanting word</p>')
    expect(said('bold and', 'X')).toBe('<p>a <strong>X</strong> <em>slanted</em> word</p>')
    expect(said('bold', 'bolder')).toBe('<p>a <strong>bolder</strong> and <em>slanted</em> word</p>')
    expect(said('bold and', 'bold, and')).toBe('<p>a <strong>bold,</strong> and <em>slanted</em> word</p>')
    expect(said('slanted word', 'slanted words')).toBe('<p>a <strong>bold</strong> and <em>slanted</em> words</p>')
  })

  it('[AG-47] a replacement is plain text: markup in it stays as typed', () => {
    expect(replaced({ find: 'hat', replace: '**h** <b>&amp;' })).toContain('<em>the **h** &lt;b&gt;&amp;amp;</em>')
  })

  it('[AG-47] a line break in a replacement becomes a hard break, and a new line in code', () => {
    expect(replaced({ find: 'of the', replace: 'of\nthe' })).toContain('our of<br>the cat')
    expect(replaced({ find: 'cat = 1', replace: 'cat = 2\nlet a' })).toContain('const cat = 2\nlet a\nlet b')
    expect(replaced({ find: 'A cat', replace: 'A\r\ncat', id: 'blk-i' })).toContain('A<br>cat')
  })

  it('[AG-47] a block that a replacement empties stays, with a warning', () => {
    const answer = done(editText, body, call({ find: 'A cat', replace: '', id: 'blk-i' }))
    expect(contentOf(answer.body)).toContain('<li><p id="blk-i"></p></li>')
    expect(answer.warnings).toEqual([{ reason: expect.stringMatching(/blk-i#.{4} is empty now/) }])
  })
})

describe('several edits', () => {
  it('[AG-49] edits of one call run in order, each on the result of the edits before, all or none', () => {
    const edits = [
      { find: 'A cat', replace: 'Two cats', id: 'blk-i' },
      { find: 'Two cats', replace: 'Three cats' },
    ]
    const answer = done(editText, body, { edits })
    expect(contentOf(answer.body)).toContain('<p id="blk-i">Three cats</p>')
    expect(answer.result).toMatchObject({
      edits: [{ count: 1 }, { count: 1 }],
      blocks: [{ id: 'blk-i#7ehh', text: 'Three cats' }],
    })
    expect(refusal(editText, body, { edits: [...edits, { find: 'nothing like it', replace: '' }] }).code).toBe(
      'ERR_TEXT_NOT_FOUND',
    )
    expect(contentOf(body)).toBe(PAGE)
  })

  it('[AG-49] an answer names at most 20 blocks and ids, each with the stamp after the call', () => {
    const given = proseBody(Array.from({ length: 30 }, (_, i) => `<p id="blk-${i}">cat ${i}</p>`).join(''))
    const { result } = done(editText, given, call({ find: 'cat', replace: 'dog', all: true }))
    expect(result).toMatchObject({ edits: [{ count: 30 }], blocksTotal: 30 })
    expect([result.edits[0]?.ids.length, result.blocks.length]).toEqual([20, 20])
    const after = done(editText, given, call({ find: 'cat', replace: 'dog', all: true })).body
    expect(html(editText, after, call({ find: 'dog', replace: 'cow', id: result.edits[0]?.ids[0] }))).toContain('cow 0')
  })

  it('[AG-49] more than 5,000 replacements are refused with their number', () => {
    const given = proseBody(`<p>${'cat '.repeat(3_000)}</p><p>${'cat '.repeat(3_000)}</p>`)
    expect(refusal(editText, given, call({ find: 'cat', replace: 'dog', all: true }))).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'edits', got: 6_000 },
    })
  })

  it('[AG-49] edits that leave the text as it was change nothing and warn; find equal to replace is refused', () => {
    const given = proseBody('<p id="blk-a">it’s</p>')
    const answer = done(editText, given, call({ find: "it's", replace: 'it’s' }))
    expect([answer.body === given, answer.warnings.length]).toEqual([true, 1])
    const undone = done(editText, body, {
      edits: [
        { find: 'only', replace: 'all' },
        { find: 'all', replace: 'only' },
      ],
    })
    expect([undone.body === body, undone.warnings.length]).toEqual([true, 1])
    expect(refusal(editText, body, call({ find: 'cat', replace: 'cat' })).facts['argument']).toBe('edits[0].replace')
  })

  it.each([
    ['all beside occurrence', { find: 'cat', replace: 'x', all: true, occurrence: 1 }, {}, 'edits[0].occurrence'],
    ['a section without its page', { find: 'cat', replace: 'x', sectionIndex: 0 }, {}, 'edits[0].sectionIndex'],
    [
      'a section beside a block',
      { find: 'cat', replace: 'x', sectionIndex: 0, id: 'blk-a' },
      { pageId: 'p' },
      'edits[0].sectionIndex',
    ],
    [
      'a section of a canvas',
      { find: 'cat', replace: 'x', sectionIndex: 0 },
      { pageId: 'c', scope: 'canvas' },
      'edits[0].sectionIndex',
    ],
    ['a handle without its page', { find: 'cat', replace: 'x', id: '@0#0000' }, {}, 'edits[0].id'],
    ['a handle without a stamp', { find: 'cat', replace: 'x', id: '@0' }, { pageId: 'p' }, 'expectedVersion'],
    ['nothing to find', { find: '\0', replace: 'x' }, {}, 'edits[0].find'],
  ] as const)('[AG-44] %s is refused by the name of the argument', (_, edit, more, argument) => {
    expect(refusal(editText, body, call(edit, more))).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument } })
  })
})
