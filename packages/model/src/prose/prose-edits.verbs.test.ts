import { describe, expect, it } from 'vitest'
import { deleteBlock, insertBlock, moveBlock, setProse } from './prose-edits.ts'
import { contentOf, done, html, proseBody, refusal } from './testing/editing.ts'

const p = (id: string, text: string) => `<p id="blk-${id}">${text}</p>`
const li = (id: string, text: string) => `<li><p id="blk-${id}">${text}</p></li>`
const task = (id: string, text: string, checked = false) =>
  `<li data-type="taskItem" data-checked="${checked}"><p id="blk-${id}">${text}</p></li>`
const tasks = (...items: readonly string[]) => `<ul data-type="taskList">${items.join('')}</ul>`
const cell = (content: string) => `<table><tr><td>${content}</td></tr></table>`
const at = { pageId: 'p', format: 'html', expectedVersion: 1 } as const
const minted = (n: number) => String(n).padStart(10, '0')

describe('set_prose of a page', () => {
  const stored = p('a', 'One') + p('b', 'Two') + p('c', 'Three')

  it('[PROSE-54] set_prose of a page keeps the ids of equal blocks at both ends and replaces the middle', () => {
    const answer = done(setProse, proseBody(stored), { ...at, naming: 'bare', content: '<p>One</p><h1>2</h1><hr><p>Three</p>' })
    expect(contentOf(answer.body)).toBe(`${p('a', 'One')}<h1 id="blk-b">2</h1><hr>${p('c', 'Three')}`)
    expect(answer.result).toEqual({
      pageId: 'p',
      ok: true,
      blocks: [
        { id: 'blk-b', type: 'heading', text: '2' },
        { id: '@2', type: 'horizontalRule', text: '' },
      ],
      unchanged: 2,
    })
  })

  it('[PROSE-50] [PROSE-54] kept blocks are not listed as written, and of two swapped blocks only the moved one is', () => {
    const content = '<p>One</p><h1>2</h1><hr><p>Three</p>'
    expect(done(setProse, proseBody(stored), { ...at, content }).writtenBlocks).toEqual(['blk-b'])
  })

  it('[PROSE-54] blocks in the middle that are equal in the new content are kept', () => {
    const content = '<p>1</p><p>Two</p><p>3</p>'
    expect(html(setProse, proseBody(stored), { ...at, content })).toBe(p('a', '1') + p('b', 'Two') + p('c', '3'))
    const turned = '<p>Three</p><p>Two</p><p>One</p>'
    expect(html(setProse, proseBody(stored), { ...at, content: turned })).toMatch(
      /^<p id="blk-[^"]+">Three<\/p><p id="blk-[^"]+">Two<\/p><p id="blk-[^"]+">One<\/p>$/,
    )
  })

  it('[PROSE-54] equal content writes nothing, with or without the ids', () => {
    for (const content of [stored, stored.replaceAll(/ id="[^"]*"/g, ''), ` ${stored.replaceAll('><', '>\n<')}`]) {
      const body = proseBody(stored)
      expect(done(setProse, body, { ...at, content }).body).toBe(body)
    }
    const unhealed = proseBody('<p>One</p><p>Two')
    expect(done(setProse, unhealed, { ...at, content: '<p>One</p><p>Two</p>' }).body).toBe(unhealed)
  })

  it('[PROSE-54] [PROSE-15] white space that a call cannot express does not make a stored block different', () => {
    const spaced = `${p('a', 'One ')}<blockquote>${p('b', ' Two  <em> and</em>\na <br> half')}</blockquote>${p('c', 'Three')}${p('d', ' Four')}`
    const content = '<p>One</p><blockquote><p>Two <em>and</em> a<br>half</p></blockquote><p>Three</p><p>Four</p>'
    const body = proseBody(spaced)
    expect(done(setProse, body, { ...at, content }).body).toBe(body)
    expect(html(setProse, body, { ...at, content: content.replace('Three', '3').replace('<p>Four', '<hr><p>Four') })).toBe(
      spaced.replace('Three', '3').replace('<p id="blk-d">', '<hr><p id="blk-d">'),
    )
    const markdown = 'One\n\n> Two *and* a\\\n> half\n\nThree\n\nFour'
    expect(done(setProse, body, { pageId: 'p', content: markdown }).body).toBe(body)
    expect(html(setProse, body, { pageId: 'p', content: markdown.replace('Three', 'Three&#32;') })).toBe(
      spaced.replace('Three', 'Three '),
    )
  })

  it('[PROSE-54] [FIELD-5] a date chip written on another day does not make its block different', () => {
    const chip = (label: string) => `<p id="blk-a"><span data-field data-name="today" data-label="${label}">${label}</span></p>`
    const body = proseBody(chip('2020-01-01'))
    expect(done(setProse, body, { pageId: 'p', content: '{{today}}' }).body).toBe(body)
    expect(html(setProse, body, { pageId: 'p', content: '{{today}}', id: 'blk-a' })).toBe(chip('2026-07-01'))
  })

  it('[PROSE-54] set_prose of a page treats a block with another id as a different block', () => {
    const content = `${p('a', 'One')}<p id="blk-new">Two</p>${p('c', 'Three')}`
    expect(html(setProse, proseBody(stored), { ...at, content })).toBe(content)
  })

  it('[PROSE-54] long pages with little in common are compared too, and blocks that occur once in both are kept', () => {
    const page = Array.from({ length: 1500 }, (_, i) => p(`s${i}`, `t${i}`))
    const body = proseBody(page.join(''))
    const content = page.map((block, i) => (i % 3 === 0 ? `<p>new ${i}</p>` : block.replace(/ id="[^"]*"/, ''))).join('')
    const after = html(setProse, body, { ...at, content }) as string
    expect(page.filter((block, i) => i % 3 !== 0 && !after.includes(block))).toEqual([])
  })

  it('[PROSE-54] blocks that differ only in attributes are different, also when there are many', () => {
    const images = Array.from({ length: 30 }, (_, i) => `<img src="${i}.png">`)
    const stored = images.map((image, i) => image + p(`i${i}`, 'x')).join('')
    const content = images.map((image, i) => `${image}${i === 0 || i === 29 ? '<p>new</p>' : '<p>x</p>'}`).join('')
    expect(html(setProse, proseBody(stored), { ...at, content })).toBe(
      stored.replace(p('i0', 'x'), p('i0', 'new')).replace(p('i29', 'x'), p('i29', 'new')),
    )
  })

  it('[PROSE-45] an id owned by a kept block or by an earlier new block is not used again', () => {
    const content = '<p>One</p><p id="blk-a">x</p><p id="blk-n">y</p><p id="blk-n">z</p><p>Three</p>'
    expect(html(setProse, proseBody(stored), { ...at, content })).toBe(
      p('a', 'One') + p(minted(1), 'x') + p('n', 'y') + p(minted(2), 'z') + p('c', 'Three'),
    )
  })

  it('[PROSE-44] [PROSE-46] ids of another form are replaced in new content and kept in stored pages', () => {
    const content = '<p id="intro">One</p><p id="blk-x!">Two</p>'
    expect(html(setProse, proseBody('<p></p>'), { ...at, content })).toBe(p(minted(1), 'One') + p(minted(2), 'Two'))
    expect(html(deleteBlock, proseBody(`<p id="intro">One</p>${p('b', 'Two')}`), { ...at, id: 'blk-b' })).toBe(
      '<p id="intro">One</p>',
    )
  })

  it('[PROSE-44] of blocks with the same id, the first with text keeps the id, or the first block when none has text', () => {
    const split = `${p('x', '')}${p('x', 'text')}<ul><li>${p('x', 'more')}</li></ul>${p('y', ' ')}${p('y', '')}${p('t', 'T')}`
    expect(html(setProse, proseBody(split), { ...at, id: 'blk-t', content: '<p>New</p>' })).toBe(
      `${p(minted(1), '')}${p('x', 'text')}<ul><li>${p(minted(2), 'more')}</li></ul>${p('y', ' ')}${p(minted(3), '')}${p('t', 'New')}`,
    )
  })

  it('[PROSE-44] an edit adds ids to all blocks without id, and to all but one of the blocks with the same id', () => {
    const old = `<p>a</p>${p('x', 'b')}<blockquote>${p('x', 'c')}<pre id=""><code>d</code></pre></blockquote><hr>`
    expect(html(insertBlock, proseBody(old), { ...at, id: '@3', content: '<p>e</p>' })).toBe(
      `${p(minted(1), 'a')}${p('x', 'b')}<blockquote>${p(minted(2), 'c')}<pre id="blk-${minted(3)}"><code>d</code></pre></blockquote><hr>${p(minted(4), 'e')}`,
    )
  })

  it('[TOOL-12] a new id is never an id that the document has or had', () => {
    const taken = proseBody(`<p><a href="app://heading/p/id:blk-${minted(1)}">x</a></p>`)
    expect(html(setProse, taken, { ...at, content: `<p>y</p>${p(minted(2), 'z')}` })).toBe(p(minted(3), 'y') + p(minted(2), 'z'))
  })

  it('[PROSE-50] blocks that an edit does not address stay byte for byte', () => {
    const others = [
      '<p id="blk-1" style="text-align: right">a <a href="https://x"><strong>b</strong></a> <span data-citation data-ref-id="r"></span></p>',
      '<ol start="3" type="i"><li><p id="blk-2">x</p><ul><li><p id="blk-3">y</p></li></ul></li></ol>',
      '<table><tr><th colspan="2" colwidth="10,20" scope="col"><p id="blk-4">h</p></th></tr><tr><td><p id="blk-5"></p></td><td><p id="blk-6">\n </p></td></tr></table>',
      '<figure><img src="a.png"><figcaption>c</figcaption></figure><div data-bibliography data-bib-html="&lt;p&gt;"></div>',
    ]
    const body = proseBody(others.map((other, i) => other + p(`t${i}`, 'T')).join(''))
    const after = html(setProse, body, { ...at, id: 'blk-t1', content: '<h2>X</h2>' })
    expect(after).toContain('<h2 id="blk-t1">X</h2>')
    for (const other of others) expect(after).toContain(other)
  })

  it('[TOOL-19] set_prose with empty content empties the page and warns with its former size', () => {
    const answer = done(setProse, proseBody('<p>a</p><p>b</p>'), { pageId: 'p', content: '' })
    expect(answer.warnings).toEqual([{ reason: 'the page had 2 blocks and is empty now' }])
    expect(done(setProse, proseBody('<p></p>'), { pageId: 'p', content: '' }).warnings).toEqual([])
    expect(done(setProse, proseBody('<p>a</p>'), { pageId: 'p', content: 'b' }).warnings).toEqual([])
  })

  it('[PROSE-24] an edit also repairs blocks elsewhere on the page that break the model, with a warning', () => {
    const broken = proseBody(`<ul><p>x</p></ul><font>y</font>${p('a', 'One')}`)
    const answer = done(setProse, broken, { ...at, id: 'blk-a', content: '<p>1</p>' })
    expect(contentOf(answer.body)).toBe(`<ul><li><p id="blk-${minted(1)}">x</p></li></ul>${p(minted(2), 'y')}${p('a', '1')}`)
    expect(answer.fixes).toEqual([])
    expect(answer.warnings.map((warning) => warning.reason).join()).toContain('a bulletList holds items')
  })
})

describe('set_prose of a block', () => {
  it('[PROSE-55] [PROSE-45] set_prose of a block replaces it within its parent, and the new block gets its id', () => {
    for (const [before, after] of [
      ['<blockquote>', '</blockquote>'],
      ['<div data-callout data-variant="tip">', '</div>'],
      ['<table><tr><th>', '</th></tr></table>'],
      [`<ul>${li('1', 'one')}<li>`, `</li>${li('2', 'two')}</ul>`],
    ] as const)
      expect(
        html(setProse, proseBody(before + p('a', 'A') + after), { ...at, id: 'blk-a', content: '<p>B</p><hr><p>C</p>' }),
      ).toBe(`${before}${p('a', 'B')}<hr>${p(minted(1), 'C')}${after}`)
  })

  it('[PROSE-55] the first block of an item stays a paragraph, with a fix', () => {
    const list = proseBody(`<ul>${li('a', 'A')}</ul>`)
    const heading = done(setProse, list, { ...at, id: 'blk-a', content: '<h2>B</h2>' })
    expect(contentOf(heading.body)).toBe(`<ul>${li('a', 'B')}</ul>`)
    expect(heading.fixes).toEqual([
      {
        action: 'unwrapped',
        reason: 'an item starts with a paragraph',
        path: '0/bulletList/0/listItem/0/heading',
        nodeType: 'heading',
      },
    ])
    expect(html(setProse, list, { ...at, id: 'blk-a', content: '<hr>' })).toBe(
      `<ul><li><p id="blk-${minted(1)}"></p><hr></li></ul>`,
    )
  })

  it('[PROSE-55] set_prose of a block with empty content gives one empty paragraph', () => {
    expect(html(setProse, proseBody(p('a', 'A') + p('b', 'B')), { ...at, id: 'blk-a', content: ' ' })).toBe(
      p('a', '') + p('b', 'B'),
    )
  })

  it('[PROSE-43] [PROSE-45] a block keeps its id when set_prose changes its type; content with ids keeps its own', () => {
    const body = proseBody(p('a', 'A') + p('b', 'B'))
    expect(html(setProse, body, { ...at, id: 'blk-a', content: '<h3>A</h3>' })).toBe(`<h3 id="blk-a">A</h3>${p('b', 'B')}`)
    expect(html(setProse, body, { ...at, id: 'blk-a', content: `<p>x</p>${p('n', 'y')}` })).toBe(
      p(minted(1), 'x') + p('n', 'y') + p('b', 'B'),
    )
    expect(html(setProse, body, { ...at, id: 'blk-a', content: `${p('b', 'x')}${p('a', 'y')}` })).toBe(
      p(minted(1), 'x') + p('a', 'y') + p('b', 'B'),
    )
    expect(html(setProse, body, { ...at, id: 'blk-a', content: p('b', 'x') })).toBe(p('a', 'x') + p('b', 'B'))
  })

  it('[TOOL-16] set_prose names the blocks of its content, also unchanged ones', () => {
    const body = proseBody(p('a', 'A') + p('b', 'B'))
    const written = { pageId: 'p', ok: true, blocks: [{ id: 'blk-a', type: 'paragraph', text: 'A' }] }
    const bare = { ...at, id: 'blk-a', naming: 'bare' } as const
    expect(done(setProse, body, { ...bare, content: '<p>A</p>' })).toMatchObject({ body, result: written })
    const quoted = proseBody(`<blockquote>${p('a', 'x')}${p('b', 'B')}</blockquote>`)
    expect(done(setProse, quoted, { ...bare, content: '<p>A</p>' }).result).toEqual(written)
    const many = done(setProse, body, { ...at, content: '<p>x</p>'.repeat(300) }).result
    expect([many.blocks.length, many.blocksTotal]).toEqual([200, 300])
  })
})

describe('insert_block', () => {
  it('[PROSE-56] insert_block inserts the content beside the block, within its parent', () => {
    for (const [before, after] of [
      ['', ''],
      ['<blockquote>', '</blockquote>'],
      ['<table><tr><td>', '</td></tr></table>'],
    ] as const) {
      const body = proseBody(before + p('a', 'A') + after)
      expect(html(insertBlock, body, { ...at, id: 'blk-a', content: '<h1>B</h1>' })).toBe(
        `${before}${p('a', 'A')}<h1 id="blk-${minted(1)}">B</h1>${after}`,
      )
      expect(html(insertBlock, body, { ...at, id: 'blk-a', side: 'before', content: '<ul><li>B</li></ul>' })).toBe(
        `${before}<ul>${li(minted(1), 'B')}</ul>${p('a', 'A')}${after}`,
      )
    }
  })

  it('[PROSE-56] [PROSE-51] beside an item, inserted paragraphs and list items become items', () => {
    const body = proseBody(`<ul><li>${p('a', 'A')}<p id="blk-s">second</p></li></ul>`)
    const content = '<p>B</p><ol start="4"><li>C</li><li>D</li></ol>'
    expect(html(insertBlock, body, { ...at, id: 'blk-a', content })).toBe(
      `<ul><li>${p('a', 'A')}${p('s', 'second')}</li>${li(minted(1), 'B')}${li(minted(2), 'C')}${li(minted(3), 'D')}</ul>`,
    )
    expect(html(insertBlock, body, { ...at, id: 'blk-s', content: '<p>B</p>' })).toBe(
      `<ul><li>${p('a', 'A')}${p('s', 'second')}${p(minted(1), 'B')}</li></ul>`,
    )
  })

  it('[PROSE-56] beside an item, other inserted blocks join the new item before them or start one', () => {
    const body = proseBody(`<ul>${li('a', 'A')}</ul>`)
    expect(html(insertBlock, body, { ...at, id: 'blk-a', outside: false, content: '<hr><p>B</p><h2>C</h2><p>D</p>' })).toBe(
      `<ul>${li('a', 'A')}<li><p id="blk-${minted(1)}"></p><hr></li><li>${p(minted(2), 'B')}<h2 id="blk-${minted(3)}">C</h2></li>${li(minted(4), 'D')}</ul>`,
    )
  })

  it('[PROSE-56] [PROSE-59] inserted items of another kind are converted, with a fix', () => {
    const body = proseBody(tasks(task('a', 'A', true)))
    const answer = done(insertBlock, body, { ...at, id: 'blk-a', side: 'before', content: '<ul><li>B</li></ul><p>C</p>' })
    expect(contentOf(answer.body)).toBe(tasks(task(minted(1), 'B'), task(minted(2), 'C'), task('a', 'A', true)))
    expect(answer.fixes.map((fix) => [fix.action, fix.path])).toEqual([['unwrapped', '0/taskList/0/listItem']])
  })

  it('[PROSE-45] inserted content does not take over ids that the page has', () => {
    expect(html(insertBlock, proseBody(p('a', 'A')), { ...at, id: 'blk-a', content: p('a', 'B') + p('n', 'C') })).toBe(
      p('a', 'A') + p(minted(1), 'B') + p('n', 'C'),
    )
  })

  it('[PROSE-56] insert_block refuses content without a block', () => {
    for (const content of ['', ' \n', '<!-- x -->', '<script>x</script>'])
      expect(refusal(insertBlock, proseBody(p('a', 'A')), { ...at, id: 'blk-a', content }).code).toBe('ERR_INSERT_EMPTY')
    const dropped = { ...at, id: 'blk-a', content: '<img src="blob://x">' }
    expect(refusal(insertBlock, proseBody(p('a', 'A')), dropped).message).toContain(
      'left out: src has a value that is not allowed',
    )
  })

  it('[TOOL-16] only the paragraphs added to empty new quotes are named, not those of stored quotes', () => {
    const stored = `<blockquote></blockquote>${p('z', 'z')}`
    const answer = done(insertBlock, proseBody(stored), { ...at, id: 'blk-z', content: '<blockquote></blockquote>' })
    expect(contentOf(answer.body)).toBe(
      `<blockquote>${p(minted(1), '')}</blockquote>${p('z', 'z')}<blockquote>${p(minted(2), '')}</blockquote>`,
    )
    expect(answer.writtenBlocks).toEqual([`blk-${minted(2)}`])
  })

  it('[TOOL-16] insert_block names only the new blocks, also when other blocks get their ids', () => {
    const body = proseBody(`<p>old</p>${p('a', 'A')}`)
    expect(
      done(insertBlock, body, { ...at, naming: 'bare', id: 'blk-a', content: '<ul><li>B</li></ul><hr>' }).result.blocks,
    ).toEqual([
      { id: '@2', type: 'bulletList' },
      { id: `blk-${minted(2)}`, type: 'paragraph', text: 'B' },
      { id: '@3', type: 'horizontalRule', text: '' },
    ])
  })
})

describe('delete_block', () => {
  it('[PROSE-57] [PROSE-51] deleting the first paragraph of an item deletes the item, another one only itself', () => {
    const body = proseBody(`<ul><li>${p('a', 'A')}${p('s', 'S')}<ul>${li('n', 'N')}</ul></li>${li('b', 'B')}</ul>`)
    const item = done(deleteBlock, body, { ...at, id: 'blk-a' })
    expect(contentOf(item.body)).toBe(`<ul>${li('b', 'B')}</ul>`)
    expect(item.result).toEqual({ pageId: 'p', ok: true, deleted: ['blk-a', 'blk-s', 'blk-n'] })
    expect(html(deleteBlock, body, { ...at, id: 'blk-s' })).toBe(
      `<ul><li>${p('a', 'A')}<ul>${li('n', 'N')}</ul></li>${li('b', 'B')}</ul>`,
    )
  })

  it('[PROSE-57] lists that a deletion empties are deleted too', () => {
    const nested = `<ul><li>${p('a', 'A')}<ol>${li('n', 'N')}</ol></li></ul>`
    expect(html(deleteBlock, proseBody(nested), { ...at, id: 'blk-n' })).toBe(`<ul>${li('a', 'A')}</ul>`)
    expect(html(deleteBlock, proseBody(nested + p('b', 'B')), { ...at, id: 'blk-a' })).toBe(p('b', 'B'))
  })

  it('[PROSE-57] a page, cell, quote or callout that becomes empty gets one empty paragraph', () => {
    for (const [before, after] of [
      ['', ''],
      ['<blockquote>', '</blockquote>'],
      ['<div data-callout data-variant="note">', '</div>'],
      ['<table><tr><td>', '</td></tr></table>'],
    ] as const)
      for (const inside of [p('a', 'A'), `<ul>${li('a', 'A')}</ul>`])
        expect(html(deleteBlock, proseBody(before + inside + after), { ...at, id: 'blk-a' })).toBe(
          `${before}${p(minted(1), '')}${after}`,
        )
  })
})

describe('move_block', () => {
  it('[PROSE-58] a block moves beside another block and keeps its id and attributes', () => {
    const body = proseBody(`${p('a', 'A')}<h2 id="blk-h" style="text-align: center">H</h2>${p('b', 'B')}`)
    const after = done(moveBlock, body, { ...at, naming: 'bare', id: 'blk-h', targetId: 'blk-b' })
    expect(contentOf(after.body)).toBe(`${p('a', 'A')}${p('b', 'B')}<h2 id="blk-h" style="text-align: center">H</h2>`)
    expect(after.result.blocks).toEqual([{ id: 'blk-h', type: 'heading', text: 'H' }])
    expect(html(moveBlock, body, { ...at, anchor: 'B', targetAnchor: 'A', side: 'before' })).toBe(
      `${p('b', 'B')}${p('a', 'A')}<h2 id="blk-h" style="text-align: center">H</h2>`,
    )
  })

  it('[PROSE-58] blocks move into, out of and between containers, and emptied containers are handled as after a deletion', () => {
    const body = proseBody(`<blockquote>${p('q', 'Q')}</blockquote>${cell(p('c', 'C'))}${p('a', 'A')}`)
    expect(html(moveBlock, body, { ...at, id: 'blk-q', targetId: 'blk-c' })).toBe(
      `<blockquote>${p(minted(1), '')}</blockquote>${cell(p('c', 'C') + p('q', 'Q'))}${p('a', 'A')}`,
    )
    expect(html(moveBlock, body, { ...at, id: 'blk-a', targetId: 'blk-q', side: 'before' })).toBe(
      `<blockquote>${p('a', 'A')}${p('q', 'Q')}</blockquote>${cell(p('c', 'C'))}`,
    )
    expect(html(moveBlock, body, { ...at, id: 'blk-q', targetId: '@0', side: 'before' })).toBe(
      `${p('q', 'Q')}<blockquote>${p(minted(1), '')}</blockquote>${cell(p('c', 'C'))}${p('a', 'A')}`,
    )
  })

  it('[PROSE-58] items move beside items, also of another kind of list, and an emptied list is deleted', () => {
    const body = proseBody(`<ul><li>${p('a', 'A')}<ol>${li('n', 'N')}</ol></li></ul>${tasks(task('t', 'T', true))}`)
    const after = done(moveBlock, body, { ...at, naming: 'bare', id: 'blk-a', targetId: 'blk-t', side: 'before' })
    expect(contentOf(after.body)).toBe(
      tasks(`<li data-type="taskItem" data-checked="false">${p('a', 'A')}<ol>${li('n', 'N')}</ol></li>`, task('t', 'T', true)),
    )
    expect(after.fixes.map((fix) => fix.action)).toEqual(['unwrapped'])
    expect(after.result.blocks.map((block) => block.id)).toEqual(['blk-a', 'blk-n'])
    expect(html(moveBlock, body, { ...at, id: 'blk-n', targetId: 'blk-a' })).toBe(
      `<ul>${li('a', 'A')}${li('n', 'N')}</ul>${tasks(task('t', 'T', true))}`,
    )
  })

  it('[PROSE-58] moving a block to its own place writes nothing', () => {
    const body = proseBody(p('a', 'A') + p('b', 'B'))
    expect(done(moveBlock, body, { ...at, id: 'blk-b', targetId: 'blk-a' }).body).toBe(body)
  })

  it('[PROSE-58] a block can move neither beside itself nor into itself', () => {
    const body = proseBody(`<ul><li>${p('a', 'A')}${p('s', 'S')}<ul>${li('n', 'N')}</ul></li></ul>`)
    expect(refusal(moveBlock, body, { ...at, id: 'blk-a', targetId: 'blk-a' })).toMatchObject({
      code: 'ERR_MOVE_SELF',
      facts: { id: 'blk-a' },
    })
    for (const targetId of ['blk-s', 'blk-n'])
      expect(refusal(moveBlock, body, { ...at, id: 'blk-a', targetId }).code).toBe('ERR_MOVE_INTO_SELF')
  })

  it('[PROSE-58] an item cannot move beside a block, nor a block beside an item', () => {
    const body = proseBody(`<ul>${li('a', 'A')}${li('c', 'C')}</ul>${p('b', 'B')}`)
    expect(refusal(moveBlock, body, { ...at, id: 'blk-a', targetId: 'blk-b' })).toMatchObject({
      code: 'ERR_MOVE_CROSS_CONTEXT',
      facts: { from: 'item', to: 'block' },
    })
    expect(refusal(moveBlock, body, { ...at, id: 'blk-b', targetId: 'blk-a' })).toMatchObject({
      facts: { from: 'block', to: 'item' },
    })
  })

  it('[PROSE-58] a move that would exceed the nesting limit is refused instead of cut', () => {
    const deep = `${'<blockquote>'.repeat(63)}${p('d', 'D')}${'</blockquote>'.repeat(63)}`
    expect(refusal(moveBlock, proseBody(`${deep}<ul>${li('a', 'A')}</ul>`), { ...at, id: '@1', targetId: 'blk-d' }).code).toBe(
      'ERR_MOVE_CROSS_CONTEXT',
    )
  })
})
