import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { lateScene as scene, RELAY, textsIn, type } from '../testing/late-scene.ts'
import { element, plain, root, shown } from '../testing/live-page.ts'
import { KEPT_MS, RemovedBlocks } from './removed-blocks.ts'

describe('characters that arrive after the relay removed their block', () => {
  it.each([
    [
      'in the middle of a paragraph that became a heading',
      '<p id="a">one two</p>',
      '<h2 id="a">one two</h2>',
      3,
      '<h2 id="a">one new two</h2>',
    ],
    ['behind words that were rewritten', '<p id="a">one two</p>', '<h2 id="a">one 2</h2>', 7, '<h2 id="a">one 2 new</h2>'],
    [
      'in front of a block that became code',
      '<p id="a">one</p>',
      '<pre id="a"><code>one</code></pre>',
      0,
      '<pre id="a"><code> newone</code></pre>',
    ],
    ['in a block without id', '<p>one two</p>', '<h2>one two</h2>', 7, '<h2>one two new</h2>'],
  ])(
    '[AG-110] late characters are placed at their offset in the successor of their block: %s',
    (_, before, after, at, wanted) => {
      const { page: shownToAnn, edit, send } = scene(before)
      type(textsIn(shownToAnn)[0] as Y.XmlText, at, ' new')
      edit(after)
      expect(send()).toBe(wanted)
    },
  )

  it('[AG-110] late characters and characters typed after them follow a block that moved', () => {
    const {
      page: shownToAnn,
      edit,
      send,
      receive,
      held,
    } = scene('<p id="a">one</p><p id="b">two</p><ul><li><p id="c">three</p></li></ul>')
    const text = textsIn(shownToAnn)[2] as Y.XmlText
    type(text, 5, ' fo')
    edit('<ul><li><p id="c">three</p></li></ul><p id="a">one</p><p id="b">two</p>')
    for (const update of held.splice(0)) receive(update)
    // Ann's copy has not got the move yet.
    type(text, 8, 'ur')
    expect(send()).toBe('<ul><li><p id="c">three four</p></li></ul><p id="a">one</p><p id="b">two</p>')
  })

  it('[AG-110] late characters are placed in the same way when they arrive in one update or in many', () => {
    const { ann, page: shownToAnn, edit, receive, relay, held } = scene('<p id="a">one</p>')
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, ' and more')
    edit('<h1 id="a">one</h1>')
    held.length = 0
    receive(Y.encodeStateAsUpdate(ann))
    expect(shown(relay)).toBe('<h1 id="a">one and more</h1>')
  })

  it('[AG-110] late characters that are sent three times are written once', () => {
    const { ann, page: shownToAnn, edit, receive, relay } = scene('<p id="a">one</p>')
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, '!')
    edit('<h1 id="a">one</h1>')
    for (let times = 0; times < 3; times++) receive(Y.encodeStateAsUpdate(ann))
    expect(shown(relay)).toBe('<h1 id="a">one!</h1>')
  })

  it('[AG-110] late characters of a block without successor get a new paragraph in its place', () => {
    const { page: shownToAnn, edit, send } = scene('<p id="a">one</p><p id="b">two</p><p id="c">three</p>')
    type(textsIn(shownToAnn)[1] as Y.XmlText, 3, ' and four')
    edit('<p id="a">one</p><p id="c">three</p>')
    expect(send()).toBe('<p id="a">one</p><p> and four</p><p id="c">three</p>')
  })

  it('[AG-110] late characters get a paragraph after the list of a removed item or in the cell of a removed paragraph', () => {
    const list = '<ul><li><p id="a">one</p></li><li><p id="b">two</p></li></ul><p id="z">end</p>'
    const inList = scene(list)
    type(textsIn(inList.page)[1] as Y.XmlText, 3, ' more')
    inList.edit('<ul><li><p id="a">one</p></li></ul><p id="z">end</p>')
    expect(inList.send()).toBe('<ul><li><p id="a">one</p></li></ul><p> more</p><p id="z">end</p>')
    const cell = (inner: string) => `<table><tr><td>${inner}</td></tr></table>`
    const inCell = scene(cell('<p id="a">one</p><p id="b">two</p>'))
    type(textsIn(inCell.page)[1] as Y.XmlText, 3, ' more')
    inCell.edit(cell('<p id="a">one</p>'))
    expect(inCell.send()).toBe(cell('<p id="a">one</p><p> more</p>'))
  })

  it('[AG-110] late characters are kept on the page when all its blocks were removed', () => {
    const { page: shownToAnn, edit, send } = scene('<p id="a">one</p><p id="b">two</p>')
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, ' A')
    type(textsIn(shownToAnn)[1] as Y.XmlText, 3, ' B')
    edit('<h1 id="x">Nothing of it</h1>')
    const html = send()
    expect(html).toContain('<p> A</p>')
    expect(html).toContain('<p> B</p>')
  })

  it('[AG-110] late characters typed into an empty removed block are kept', () => {
    const { page: shownToAnn, edit, send } = scene('<p id="a">one</p><p id="b"></p>')
    const text = new Y.XmlText()
    ;(shownToAnn.get(1) as Y.XmlElement).insert(0, [text])
    type(text, 0, 'first')
    edit('<p id="a">one</p><h2 id="b"></h2>')
    expect(send()).toBe('<p id="a">one</p><h2 id="b">first</h2>')
  })

  it('[AG-110] late characters after a line break and with other formatting are kept', () => {
    const { page: shownToAnn, edit, send } = scene('<p id="a">one<br>two</p>')
    const [, text] = textsIn(shownToAnn)
    text?.insert(3, ' bold', { bold: {} })
    text?.insert(8, ' plain', { bold: null })
    edit('<h2 id="a">one<br>two</h2>')
    expect(send()).toMatch(/^<h2 id="a">one<br>two bold plain<\/h2>$/)
  })

  it('[AG-110] late characters in a replaced part of a block are kept', () => {
    const { page: shownToAnn, edit, send } = scene('<p id="a">one<br>two</p>')
    const [, text] = textsIn(shownToAnn)
    type(text as Y.XmlText, 3, ' three')
    edit('<p id="a">one two</p>')
    expect(send()).toBe('<p id="a">one two three</p>')
  })

  it('[AG-110] late characters in an item added to a removed list get a paragraph in the list that replaced it', () => {
    const { page: shownToAnn, edit, send } = scene('<ul><li><p id="a">one</p></li></ul><p id="z">end</p>')
    const text = new Y.XmlText()
    ;(shownToAnn.get(0) as Y.XmlElement).insert(1, [element('listItem', {}, element('paragraph', {}, text as never))])
    type(text, 0, 'two')
    edit('<ol><li><p id="a">one</p></li></ol><p id="z">end</p>')
    expect(send()).toBe('<ol><li><p id="a">one</p><p>two</p></li></ol><p id="z">end</p>')
  })

  it('[AG-110] words typed into a new item of a removed list are kept even if the list ends with the same words', () => {
    const { page: shownToAnn, edit, send } = scene('<ul><li><p id="a">one two</p></li></ul><p id="z">end</p>')
    ;(shownToAnn.get(0) as Y.XmlElement).insert(1, [element('listItem', {}, element('paragraph', {}, plain(' two') as never))])
    edit('<ol><li><p id="a">one two</p></li></ol><p id="z">end</p>')
    expect(send()).toBe('<ol><li><p id="a">one two</p><p> two</p></li></ol><p id="z">end</p>')
  })

  it('[AG-110] characters that Enter moved into a new block are not doubled', () => {
    const { page: shownToAnn, edit, send } = scene('<ul><li><p id="a">one two</p></li></ul><p id="z">end</p>')
    const [text] = textsIn(shownToAnn)
    shownToAnn.doc?.transact(() => {
      text?.delete(3, 4)
      ;(shownToAnn.get(0) as Y.XmlElement).insert(1, [element('listItem', {}, element('paragraph', {}, plain(' two') as never))])
    })
    edit('<ol><li><p id="a">one two</p></li></ol><p id="z">end</p>')
    expect(send()).toBe('<ol><li><p id="a">one two</p></li></ol><p id="z">end</p>')
  })

  it('[AG-110] late characters find the newest successor of a block that was replaced several times', () => {
    const { page: shownToAnn, edit, send } = scene('<p id="a">one</p>')
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, '!')
    edit('<h1 id="a">one</h1>')
    edit('<h2 id="a">so one</h2>')
    edit('<pre id="a"><code>so one</code></pre>')
    expect(send()).toBe('<pre id="a"><code>so one!</code></pre>')
  })

  it('[AG-110] late characters of several people are placed in the same successor', () => {
    const { page: shownToAnn, relay, ann, edit, receive, send } = scene('<p id="a">one</p>')
    const ben = new Y.Doc()
    Y.applyUpdate(ben, Y.encodeStateAsUpdate(ann))
    type(textsIn(shownToAnn)[0] as Y.XmlText, 0, 'A')
    type(textsIn(ben.getXmlFragment(root))[0] as Y.XmlText, 3, 'B')
    edit('<h1 id="a">one</h1>')
    receive(Y.encodeStateAsUpdate(ben, Y.encodeStateVector(relay)))
    expect(send()).toBe('<h1 id="a">AoneB</h1>')
  })

  it('[AG-110] late characters of a removed page are dropped and counted', () => {
    const { page: shownToAnn, relay, at, edit, send } = scene('<p id="a">one</p>')
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, ' lost')
    edit('')
    relay.getMap('prosePages').delete('p')
    send()
    expect(at.dropped).toBe(5)
  })

  it(`[AG-110] late characters are placed for ${KEPT_MS / 1000} s after the removal`, () => {
    const { page: shownToAnn, at, edit, send } = scene('<p id="a">one</p><p id="b">two</p>')
    edit('<h1 id="a">one</h1><p id="b">two</p>')
    at.nowMs = KEPT_MS / 2
    edit('<h1 id="a">one</h1><h2 id="b">two</h2>')
    at.nowMs = KEPT_MS + 1
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, ' late')
    type(textsIn(shownToAnn)[1] as Y.XmlText, 3, ' kept')
    expect(send()).toBe('<h1 id="a">one</h1><h2 id="b">two kept</h2>')
  })

  const blocks = (count: number, tag: string) =>
    Array.from({ length: count }, (_, i) => `<${tag} id="b${i}">text ${i}</${tag}>`).join('')

  it('[AG-110] late characters are placed only for the newest removed blocks, as many as the memory holds', () => {
    const most = 100
    const { page: shownToAnn, edit, send } = scene(`<p id="first">one</p>${blocks(most, 'p')}`, new RemovedBlocks(most))
    const texts = textsIn(shownToAnn)
    edit(`<h1 id="first">one</h1>${blocks(most, 'p')}`)
    edit(`<h1 id="first">one</h1>${blocks(most, 'h2')}`)
    type(texts[0] as Y.XmlText, 3, ' late')
    type(texts[most] as Y.XmlText, 4, ' kept')
    const html = send()
    expect(html).toContain('<h1 id="first">one</h1>')
    expect(html).toContain(`<h2 id="b${most - 1}">text kept ${most - 1}</h2>`)
  })

  it('[AG-110] late characters are kept when one write replaces all blocks of a long page while a person types in some of them', () => {
    const count = 3_000
    const { page: shownToAnn, edit, send } = scene(blocks(count, 'p'))
    const texts = textsIn(shownToAnn)
    edit('<h2 id="new">something else</h2>')
    for (const at of [0, count / 2, count - 1]) type(texts[at] as Y.XmlText, 4, `late${at} `)
    const html = send()
    for (const at of [0, count / 2, count - 1]) expect(html).toContain(`late${at}`)
  })

  it('[AG-110] the memory is bounded: with more than 100,000 runs of characters the oldest blocks are forgotten', () => {
    const { page: shownToAnn, edit, send, ann, relay, at } = scene('<p id="a">one</p><p id="b">two</p>')
    const [a, b] = textsIn(shownToAnn) as [Y.XmlText, Y.XmlText]
    // Every second character is deleted again, so that each remaining one is a run of its own.
    ann.transact(() => {
      a.insert(0, 'xy'.repeat(50_100))
      a.applyDelta(Array.from({ length: 50_100 }, () => [{ retain: 1 }, { delete: 1 }]).flat())
    })
    send()
    at.before = shown(relay)
    edit(at.before.replace('<p id="a">', '<h1 id="a">').replace('</p>', '</h1>'))
    edit(shown(relay).replace('<p id="b">two</p>', '<h2 id="b">two</h2>'))
    type(a, 0, 'late')
    type(b, 3, ' kept')
    const html = send()
    expect(html).toContain('<h2 id="b">two kept</h2>')
    expect(html).not.toContain('late')
  })

  it('[AG-110] late characters are placed in another copy of the document', () => {
    const { page: shownToAnn, relay, at, edit, held } = scene('<p id="a">one</p><p id="b">two</p>')
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, '!')
    edit('<h1 id="a">one</h1><p id="b">two</p>')
    const copy = new Y.Doc()
    Y.applyUpdate(copy, Y.encodeStateAsUpdate(relay))
    const late = at.late.movedTo(copy)
    const words = held.flatMap((update) => late.find(update, 0))
    expect(late.place(words, RELAY)).toBe(0)
    expect(shown(copy)).toBe('<h1 id="a">one!</h1><p id="b">two</p>')
  })

  it('[AG-110] late characters of a removal that was undone stay where they were typed', () => {
    const { page: shownToAnn, relay, at, edit, held } = scene('<p id="a">one</p>')
    const stored = Y.encodeStateAsUpdate(relay)
    type(textsIn(shownToAnn)[0] as Y.XmlText, 3, '!')
    edit('<h1 id="a">one</h1>')
    const copy = new Y.Doc()
    Y.applyUpdate(copy, stored)
    const late = at.late.movedTo(copy)
    for (const update of held) {
      expect(late.find(update, 0)).toEqual([])
      Y.applyUpdate(copy, update)
    }
    expect(shown(copy)).toBe('<p id="a">one!</p>')
  })
})
