import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { element, plain } from '../testing/live-page.ts'
import { lateScene, textsIn, type } from '../testing/late-scene.ts'

const formula = (latex: string): Y.XmlElement => element('mathBlock', { latex })
const count = (html: string, what: string): number => html.split(what).length - 1

describe('blocks without text that a client puts into a container that the relay replaced or removed', () => {
  const containers = [
    ['a quote', '<blockquote><p id="a">one</p></blockquote>', '<h2 id="a">one</h2>'],
    ['an item', '<ul><li><p id="a">one</p></li></ul>', '<ol><li><p id="a">one</p></li></ol>'],
    ['a cell', '<table><tr><td><p id="a">one</p></td></tr></table>', '<p id="a">one</p>'],
    ['a removed quote', '<blockquote><p id="a">one</p></blockquote>', ''],
    ['a quote without text', '<blockquote><hr></blockquote>', ''],
  ] as const

  /** The innermost container that holds blocks. */
  function innermost(page: Y.XmlFragment): Y.XmlElement {
    let node = page.get(0) as Y.XmlElement
    for (let child = node.get(0); child instanceof Y.XmlElement && child.length > 0; child = child.get(0)) {
      if (child.nodeName === 'paragraph') break
      node = child
    }
    return node
  }

  it.each(containers)(
    '[AG-110] formulas, images, rules and words put into %s are on the page once, in their order',
    (_, before, after) => {
      const { page, edit, send } = lateScene(`${before}<p id="z">end</p>`)
      const container = innermost(page)
      container.insert(1, [formula('x'), element('image', { src: 'https://example.com/i.png' })])
      container.insert(3, [element('paragraph', {}, plain('words'))])
      edit(`${after}<p id="z">end</p>`)
      const html = send()
      for (const what of ['data-latex="x"', 'i.png', 'words']) expect(count(html, what)).toBe(1)
      expect(html.indexOf('data-latex')).toBeLessThan(html.indexOf('i.png'))
    },
  )

  it('[AG-110] a late block that is sent again is not written twice', () => {
    const { ann, page, edit, receive, send, held } = lateScene('<blockquote><p id="a">one</p></blockquote>')
    innermost(page).insert(1, [formula('x')])
    edit('<h2 id="a">one</h2>')
    held.length = 0
    for (let times = 0; times < 2; times++) receive(Y.encodeStateAsUpdate(ann))
    expect(count(send(), 'data-latex="x"')).toBe(1)
  })

  it('[AG-110] a late block that its writer deleted again in the same update is not written', () => {
    const { ann, page, edit, receive, send, held } = lateScene('<blockquote><p id="a">one</p></blockquote>')
    ann.gc = false
    innermost(page).insert(1, [formula('x')])
    innermost(page).delete(1, 1)
    edit('<h2 id="a">one</h2>')
    held.length = 0
    receive(Y.encodeStateAsUpdate(ann))
    expect(send()).toBe('<h2 id="a">one</h2>')
  })

  it('[AG-110] words typed into a new paragraph behind a rule in a removed quote are kept', () => {
    const { page, edit, send } = lateScene('<blockquote><p id="a">one</p><hr></blockquote><p id="z">end</p>')
    const text = new Y.XmlText()
    innermost(page).insert(2, [element('paragraph', {}, text)])
    type(text, 0, 'words')
    edit('<h2 id="a">one</h2><p id="z">end</p>')
    expect(count(send(), 'words')).toBe(1)
  })

  it('[AG-110] words typed where a late block was written come behind it, and never into it', () => {
    const { page, edit, send } = lateScene('<blockquote><p id="a">one</p></blockquote>')
    edit('<h2 id="a">one</h2>')
    innermost(page).insert(1, [formula('x')])
    innermost(page).insert(2, [element('paragraph', {}, plain(''))])
    type(textsIn(page)[1] as Y.XmlText, 0, 'words')
    const html = send()
    expect(html).toContain('<p>words</p>')
    expect(html).toContain('data-latex="x"')
  })
})
