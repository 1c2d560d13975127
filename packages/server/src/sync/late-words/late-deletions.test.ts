import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { lateScene, textsIn, type } from '../testing/late-scene.ts'
import { element, plain, shown, text as formatted } from '../testing/live-page.ts'
import { UpdateWriter } from '../testing/update-writer.ts'
import { LateWords } from './late-words.ts'
import { RemovedBlocks } from './removed-blocks.ts'

/** Types "teh", deletes two letters, and types "he". */
function mistype(text: Y.XmlText, at: number): void {
  type(text, at, 'teh')
  text.delete(at + 2, 1)
  text.delete(at + 1, 1)
  type(text, at + 1, 'he')
}

describe('letters that were typed late and deleted again', () => {
  it('[AG-110] late letters that their writer deleted again are not on the page', () => {
    const { page, edit, send } = lateScene('<p id="a">one </p>')
    mistype(textsIn(page)[0] as Y.XmlText, 4)
    edit('<h2 id="a">one </h2>')
    expect(send()).toBe('<h2 id="a">one the</h2>')
  })

  it('[AG-110] late letters that one update both inserts and deletes are not on the page', () => {
    const { ann, page, edit, receive, relay, held } = lateScene('<p id="a">one </p>')
    ann.gc = false
    mistype(textsIn(page)[0] as Y.XmlText, 4)
    edit('<h2 id="a">one </h2>')
    held.length = 0
    receive(Y.encodeStateAsUpdate(ann))
    receive(Y.encodeStateAsUpdate(ann))
    expect(shown(relay)).toBe('<h2 id="a">one the</h2>')
  })

  it('[AG-110] deleted late letters that an undo manager still keeps are not written', () => {
    const { ann, page, edit, receive, relay, held } = lateScene('<p id="a">one </p>')
    const text = textsIn(page)[0] as Y.XmlText
    const undo = new Y.UndoManager(text, { captureTimeout: 0 })
    mistype(text, 4)
    edit('<h2 id="a">one </h2>')
    held.length = 0
    receive(Y.encodeStateAsUpdate(ann))
    undo.destroy()
    expect(shown(relay)).toBe('<h2 id="a">one the</h2>')
  })

  it('[AG-110] a late latin letter that an input method replaces does not stay beside its replacement', () => {
    const { page, edit, send } = lateScene('<p id="a">one </p>')
    const text = textsIn(page)[0] as Y.XmlText
    edit('<h2 id="a">one </h2>')
    type(text, 4, 'k')
    page.doc?.transact(() => {
      text.delete(4, 1)
      text.insert(4, 'か')
    })
    expect(send()).toBe('<h2 id="a">one か</h2>')
  })

  it('[AG-110] a late letter that is deleted after its new block was replaced too is not on the page', () => {
    const { page, edit, receive, send, held, at } = lateScene('<p id="a">one two</p>')
    const text = textsIn(page)[0] as Y.XmlText
    edit('<h2 id="a">one two</h2>')
    type(text, 3, 'xyz')
    for (const update of held.splice(0)) receive(update)
    at.before = '<h2 id="a">onexyz two</h2>'
    edit('<pre id="a"><code>so onexyz two</code></pre>')
    text.delete(4, 2)
    expect(send()).toBe('<pre id="a"><code>so onex two</code></pre>')
  })

  it('[AG-110] late letters stay in order when a letter is deleted where the formatting changes', () => {
    const { page, edit, receive, relay, held } = lateScene('<p id="a"><strong>one</strong> two</p>')
    const text = textsIn(page)[0] as Y.XmlText
    const format = text._start?.right?.right as Y.Item
    edit('<h2 id="a"><strong>one</strong> two</h2>')
    type(text, 3, 'x')
    type(text, 4, 'y')
    text.delete(4, 1)
    for (const update of held.splice(0)) receive(update)
    // Yjs places the next letter behind the end of the bold formatting.
    const { client, clock } = format.id
    receive(new UpdateWriter().block(text.doc?.clientID as number, 2, 1, (w) => w.stringAfter(client, clock, 'z')).deletes([]))
    expect(shown(relay)).toBe('<h2 id="a"><strong>onexz</strong> two</h2>')
  })

  it('[AG-110] late letters stay when their writer gets the removal of the block and sends it back in a whole state', () => {
    const { ann, page, edit, receive, relay, send } = lateScene('<p id="a">one</p>')
    type(textsIn(page)[0] as Y.XmlText, 3, '!')
    edit('<h1 id="a">one</h1>')
    send()
    receive(Y.encodeStateAsUpdate(ann))
    expect(shown(relay)).toBe('<h1 id="a">one!</h1>')
  })

  it('[AG-110] a relay that was restarted since it wrote late letters finds and deletes them by its stored notes', () => {
    const { page, edit, receive, relay, held, at } = lateScene('<p id="a">one</p>')
    const text = textsIn(page)[0] as Y.XmlText
    edit('<h1 id="a">one</h1>')
    type(text, 3, '?!')
    for (const update of held.splice(0)) receive(update)
    const next = new LateWords(relay, RemovedBlocks.restored([at.late.takeNotes() ?? ''], 0))
    text.delete(3, 1)
    next.place(next.find(held[0] as Uint8Array, 0), 'relay')
    expect(shown(relay)).toBe('<h1 id="a">one!</h1>')
  })
})

describe('the half of a block that Enter moves into a new block', () => {
  const list = (inner: string) => `<ul><li><p id="a">${inner}</p></li></ul><p id="z">end</p>`

  /** Breaks the first item at an offset as an editor does: deletes the second half and writes it into a new item. */
  function enter(page: Y.XmlFragment, at: number, half: Y.XmlText): void {
    const text = textsIn(page)[0] as Y.XmlText
    page.doc?.transact(() => {
      text.delete(at, text.length - at)
      ;(page.get(0) as Y.XmlElement).insert(1, [element('listItem', {}, element('paragraph', {}, half))])
    })
  }

  it('[AG-110] a half that Enter moved is not doubled when parts of it are formatted', () => {
    const { page, edit, send } = lateScene(list('one two <strong>three</strong>'))
    enter(page, 3, formatted({ insert: ' two ' }, { insert: 'three', attributes: { bold: {} } }))
    edit(list('one two <strong>three</strong>').replaceAll('ul>', 'ol>'))
    expect(send()).toBe(list('one two <strong>three</strong>').replaceAll('ul>', 'ol>'))
  })

  it.each([10, 2_400])(
    '[AG-110] a half of %i characters that Enter moved out of a block of more than 2,000 characters is not doubled',
    (half) => {
      const words = `${'lorem ipsum '.repeat(300)}end`
      const { page, edit, send } = lateScene(list(words))
      enter(page, words.length - half, plain(words.slice(-half)))
      edit(list(words).replaceAll('ul>', 'ol>'))
      expect(send()).toBe(list(words).replaceAll('ul>', 'ol>'))
    },
  )

  it('[AG-110] a new block whose words differ from the deleted half is written', () => {
    const words = `${'lorem ipsum '.repeat(300)}end`
    const { page, edit, send } = lateScene(list(words))
    enter(page, words.length - 6, plain('um End'))
    edit(list(words).replaceAll('ul>', 'ol>'))
    expect(send().split('um End')).toHaveLength(2)
  })
})
