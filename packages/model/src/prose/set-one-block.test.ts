import { describe, expect, it } from 'vitest'
import { setProse, type SetProse } from './prose-edits.ts'
import { contentOf, done, proseBody } from './testing/editing.ts'

/** Sets one block of a page. Returns the HTML of the page, and the fixes and warnings of the call. */
function set(page: string, id: string, content: string, format?: SetProse['format']) {
  const answer = done(setProse, proseBody(page), { pageId: 'p', id, content, format })
  return { html: contentOf(answer.body), fixes: answer.fixes, warnings: answer.warnings.map(({ reason }) => reason) }
}

const fix = (reason: RegExp) => ({ action: 'unwrapped', field: 'content', reason: expect.stringMatching(reason) })

describe('set_prose of a heading', () => {
  const page = '<h3 id="blk-h" style="text-align: center">Old</h3><p id="blk-a">a</p>'

  it('[AG-36] a plain paragraph becomes the text of the heading, which keeps its level', () => {
    expect(set(page, 'blk-h', 'New *title*')).toEqual({
      html: '<h3 id="blk-h" style="text-align: center">New <em>title</em></h3><p id="blk-a">a</p>',
      fixes: [fix(/level 3.*service_set_block/)],
      warnings: [],
    })
  })

  it('[AG-36] a heading sets text and level as written', () => {
    expect(set(page, 'blk-h', '## New')).toEqual({ html: '<h2 id="blk-h">New</h2><p id="blk-a">a</p>', fixes: [], warnings: [] })
  })

  it('[AG-36] other content, and a paragraph in HTML, change the type, and a warning names both types', () => {
    const warned = [expect.stringMatching(/blk-h was a heading and is a paragraph now.*service_set_block/)]
    expect(set(page, 'blk-h', 'one\n\ntwo').warnings).toEqual(warned)
    expect(set(page, 'blk-h', '<p>one</p>').warnings).toEqual(warned)
    expect(set(page, 'blk-h', '<p>one</p>', 'html').warnings).toEqual(warned)
    expect(set(page, 'blk-h', '- one').warnings).toEqual([expect.stringMatching(/was a heading and is a bulletList now/)])
    expect(set(page, 'blk-a', '# one').warnings).toEqual([expect.stringMatching(/was a paragraph and is a heading now/)])
  })

  it('[AG-36] content that has a block of the old type among others causes no warning of a changed type', () => {
    expect(set(page, 'blk-h', '# One\n\nwith text').warnings).toEqual([])
    expect(set(page, 'blk-a', '# One\n\nwith text').warnings).toEqual([])
  })
})

describe('set_prose of a code block', () => {
  const page = '<pre id="blk-c"><code class="language-py">old</code></pre>'

  it('[AG-36] content without a fence is the code, literally, and the language stays', () => {
    for (const [content, code] of [
      ['# *x*\n\n    y = {{z}}\n\n- a\n', '# *x*\n\n    y = {{z}}\n\n- a'],
      ['    indented', '    indented'],
      ['<b>a</b> & $x$', '&lt;b&gt;a&lt;/b&gt; &amp; $x$'],
      ['a\r\nb', 'a\nb'],
      ['', ''],
    ] as const)
      expect(set(page, 'blk-c', content)).toEqual({
        html: `<pre id="blk-c"><code class="language-py">${code}</code></pre>`,
        fixes: [fix(/as the code.*service_set_block/)],
        warnings: [],
      })
  })

  it('[AG-36] content with a fence sets code and language', () => {
    for (const content of ['```ts\nx\n```', '<!-- blk-c#0000 -->\n```ts\nx\n```', '~~~ts\nx\n~~~'])
      expect(set(page, 'blk-c', content)).toMatchObject({
        html: '<pre id="blk-c"><code class="language-ts">x</code></pre>',
        fixes: [],
        warnings: [],
      })
  })

  it('[AG-36] HTML of another block changes the type with a warning', () => {
    expect(set(page, 'blk-c', '<p>x</p>')).toMatchObject({
      html: '<p id="blk-c">x</p>',
      warnings: [expect.stringMatching(/was a codeBlock and is a paragraph now/)],
    })
  })
})

describe('set_prose of the first paragraph of an item', () => {
  const tasks = (first: string, rest = '') =>
    `<ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p id="blk-0">Alpha</p></li>${first}${rest}</ul>`
  const task = (checked: boolean, inside: string) => `<li data-type="taskItem" data-checked="${checked}">${inside}</li>`
  const sub = '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p id="blk-s">sub</p></li></ul>'
  const page = tasks(task(false, `<p id="blk-b">Beta</p>${sub}`))

  it('[AG-37] a list item ticks the task, and its sub-tasks stay', () => {
    expect(set(page, 'blk-b', '- [x] Beta')).toEqual({
      html: tasks(task(true, `<p id="blk-b">Beta</p>${sub}`)),
      fixes: [fix(/first item/)],
      warnings: [],
    })
    expect(set(page, 'blk-b', '- [x] Beta\n  - [x] sub').html).toBe(tasks(task(true, `<p id="blk-b">Beta</p>${sub}`)))
    expect(set(set(page, 'blk-b', '- [x] Beta').html as string, 'blk-b', '- [ ] Gamma').html).toBe(
      tasks(task(false, `<p id="blk-b">Gamma</p>${sub}`)),
    )
  })

  it('[AG-37] a list item without a box leaves the box of the task as it is', () => {
    const ticked = page.replace('data-checked="false"><p id="blk-b"', 'data-checked="true"><p id="blk-b"')
    expect(set(ticked, 'blk-b', '- Gamma').html).toBe(ticked.replace('Beta', 'Gamma'))
  })

  it('[AG-37] further items of the content follow as items of the stored list', () => {
    const more = task(true, '<p id="blk-0000000001">Delta</p>')
    expect(set(page, 'blk-b', '- [ ] Gamma\n- [x] Delta')).toEqual({
      html: tasks(task(false, `<p id="blk-b">Gamma</p>${sub}`), more),
      fixes: [fix(/1 more follows/)],
      warnings: [],
    })
    expect(set('<ol><li><p id="blk-1">a</p></li></ol>', 'blk-1', '- b\n- c\n  - d')).toMatchObject({
      html: '<ol><li><p id="blk-1">b</p></li><li><p id="blk-0000000001">c</p><ul><li><p id="blk-0000000002">d</p></li></ul></li></ol>',
      fixes: [fix(/1 more follows/)],
    })
  })

  it('[AG-37] a box in content for a list without boxes causes a warning that names set_block', () => {
    expect(set('<ul><li><p id="blk-1">a</p></li></ul>', 'blk-1', '- [x] b')).toMatchObject({
      html: '<ul><li><p id="blk-1">b</p></li></ul>',
      warnings: [expect.stringMatching(/no box.*service_set_block/)],
    })
  })

  it('[AG-37] a list set in place of a later block of an item is a list inside the item', () => {
    expect(set('<ul><li><p id="blk-1">a</p><p id="blk-2">b</p></li></ul>', 'blk-2', '- c').html).toBe(
      '<ul><li><p id="blk-1">a</p><ul><li><p id="blk-2">c</p></li></ul></li></ul>',
    )
  })
})

describe('set_prose of a block in a quote or callout', () => {
  const page = '<div data-callout data-variant="note"><p id="blk-1">a</p><p id="blk-2">b</p></div>'

  it('[AG-37] a callout set into a callout is unwrapped, and another kind causes a warning that names set_block', () => {
    expect(set(page, 'blk-1', '> [!NOTE]\n> c')).toEqual({
      html: page.replace('>a<', '>c<'),
      fixes: [fix(/callout already/)],
      warnings: [],
    })
    expect(set(page, 'blk-1', '> [!TIP]\n> c')).toEqual({
      html: page.replace('>a<', '>c<'),
      fixes: [fix(/callout already/)],
      warnings: [expect.stringMatching(/stays "note".*"tip".*service_set_block/)],
    })
  })

  it('[AG-37] a quote set into a quote is unwrapped, and its blocks follow each other', () => {
    expect(set('<blockquote><p id="blk-1">a</p></blockquote>', 'blk-1', '> b\n>\n> c').html).toBe(
      '<blockquote><p id="blk-1">b</p><p id="blk-0000000001">c</p></blockquote>',
    )
  })

  it('[AG-37] a quote set in place of a paragraph elsewhere stays a quote', () => {
    expect(set('<p id="blk-1">a</p>', 'blk-1', '> b').html).toBe('<blockquote><p id="blk-1">b</p></blockquote>')
  })
})
