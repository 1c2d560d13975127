import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { element, plain, shown } from '../testing/live-page.ts'
import { deliveries, lateScene, textsIn, type } from '../testing/late-scene.ts'
import { LOST_ON } from './late-words.ts'

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

  /** Returns the innermost container of the first block that can hold blocks. */
  function innermost(page: Y.XmlFragment): Y.XmlElement {
    let node = page.get(0) as Y.XmlElement
    for (let child = node.get(0); child instanceof Y.XmlElement && child.length > 0; child = child.get(0)) {
      if (child.nodeName === 'paragraph') break
      node = child
    }
    return node
  }

  it.each(containers)(
    '[AG-110] a formula, an image and words put into %s are on the page once, in their order',
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

  it('[AG-110] words typed at the place of a late block come behind the block and not into it', () => {
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

describe('attributes of a late block without text that are set after the block was written', () => {
  const quote = '<blockquote><p id="a">one</p></blockquote>'
  const put = ({ page }: ReturnType<typeof lateScene>, block: Y.XmlElement) => {
    ;(page.get(0) as Y.XmlElement).insert(1, [block])
    return block
  }

  it.each(deliveries)('[AG-110] a formula that is filled in after it was inserted has its last value: %s', (_, deliver) => {
    const scene = lateScene(quote)
    const block = put(scene, formula(''))
    for (const latex of ['x', 'x+', 'x+y']) block.setAttribute('latex', latex)
    scene.edit('<h2 id="a">one</h2>')
    const html = deliver(scene)
    expect(count(html, 'data-math-block')).toBe(1)
    expect(html).toContain('data-latex="x+y"')
  })

  it.each(deliveries)('[AG-110] a formula that arrives before its latex is written when the latex comes: %s', (_, deliver) => {
    const scene = lateScene(quote)
    put(scene, element('mathBlock')).setAttribute('latex', 'x')
    scene.edit('<h2 id="a">one</h2>')
    expect(count(deliver(scene), 'data-latex="x"')).toBe(1)
  })

  it.each(deliveries)('[AG-110] an image has the last value of every attribute: %s', (_, deliver) => {
    const scene = lateScene(quote)
    const image = put(scene, element('image', { src: 'https://example.com/i.png', alt: 'one', title: 'same' }))
    image.setAttribute('alt', 'two')
    image.setAttribute('src', 'https://example.com/j.png')
    scene.edit('<h2 id="a">one</h2>')
    const html = deliver(scene)
    for (const what of ['j.png', 'alt="two"', 'title="same"']) expect(count(html, what)).toBe(1)
  })

  it('[AG-110] letters that Enter moved are recognised when an attribute of their block is set several times in between', () => {
    const scene = lateScene('<ul><li><p id="a">one two</p></li></ul>')
    const text = textsIn(scene.page)[0] as Y.XmlText
    scene.ann.transact(() => {
      text.delete(3, 4)
      const half = element('paragraph', { textAlign: 'left' }, plain(''))
      ;(scene.page.get(0) as Y.XmlElement).insert(1, [element('listItem', {}, half)])
      const words = half.get(0) as Y.XmlText
      // The letters in between keep Yjs from joining the discarded values.
      for (const [letters, textAlign] of [
        [' t', 'right'],
        ['w', 'center'],
        ['o', 'left'],
      ] as const) {
        words.insert(words.length, letters)
        half.setAttribute('textAlign', textAlign)
      }
    })
    scene.edit('<ol><li><p id="a">one two</p></li></ol>')
    scene.held.length = 0
    scene.receive(Y.encodeStateAsUpdate(scene.ann))
    expect(scene.send()).toBe('<ol><li><p id="a">one two</p></li></ol>')
  })

  it('[AG-110] an attribute value that arrives after its late block was removed is reported as lost on the page', () => {
    const scene = lateScene(quote)
    const { relay, at, edit, held, receive } = scene
    const block = put(scene, formula(''))
    edit('<h2 id="a">one</h2>')
    for (const update of held.splice(0)) receive(update)
    at.before = shown(relay)
    edit('<h2 id="a">one</h2>')
    block.setAttribute('latex', 'x')
    const lost: unknown[] = []
    relay.on('afterTransaction', ({ meta }: Y.Transaction) =>
      lost.push(...((meta.get(LOST_ON) as Set<string> | undefined) ?? [])),
    )
    for (const update of held.splice(0)) receive(update)
    expect(lost).toEqual(['p'])
  })
})

describe('attribute values that no editor writes', () => {
  /** Writes an object with a member `constructor` into an update. Yjs accepts the object there, but throws when it is set as an attribute. */
  function withConstructor(update: Uint8Array): Uint8Array {
    const bytes = Buffer.from(update)
    bytes.write('constructor', bytes.indexOf('constructo_'))
    return new Uint8Array(bytes)
  }

  it.each([
    [
      'an image without that attribute',
      () => element('image', { src: 'https://example.com/i.png', alt: { constructo_: 1 } }),
      'i.png',
      1,
    ],
    [
      'no formula when it is the latex of a formula',
      () => element('mathBlock', { latex: { constructo_: 1 } }),
      'data-math-block',
      0,
    ],
    ['no formula when the latex is bytes', () => element('mathBlock', { latex: Uint8Array.of(1) }), 'data-math-block', 0],
  ] as const)(
    '[AG-110] an invalid value of a late attribute is left out without an error, and the page gets %s',
    (_, made, what, times) => {
      const { page, edit, held, receive, relay } = lateScene('<blockquote><p id="a">one</p></blockquote>')
      ;(page.get(0) as Y.XmlElement).insert(1, [made()])
      edit('<h2 id="a">one</h2>')
      for (const update of held) receive(Buffer.from(update).includes('constructo_') ? withConstructor(update) : update)
      expect(count(shown(relay), what)).toBe(times)
    },
  )
})
