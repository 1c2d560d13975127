import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { element, plain } from '../testing/live-page.ts'
import { lateScene, textsIn, type } from '../testing/late-scene.ts'

const paragraph = (words: string): Y.XmlElement => element('paragraph', {}, plain(words))

describe('a client that writes beside a removed block', () => {
  it('[AG-110] letters typed into a paragraph that an agent emptied appear once', () => {
    const { page, edit, send } = lateScene('<p id="a">one</p>')
    edit('<p id="a"></p>')
    send()
    const text = new Y.XmlText()
    ;(page.get(0) as Y.XmlElement).insert(0, [text])
    type(text, 0, 'xy')
    expect(send()).toBe('<p id="a">xy</p>')
  })

  it('[AG-110] the words of a first block that becomes a heading after an agent deleted the title above it appear once', () => {
    const { page, edit, send } = lateScene('<p id="t">Title</p><p id="b">Body</p>')
    edit('<p id="b">Body</p>')
    send()
    page.doc?.transact(() => {
      page.delete(0, 1)
      page.insert(0, [element('heading', { level: 2 }, plain('Body'))])
    })
    expect(send()).toBe('<h2>Body</h2>')
  })

  it.each([
    ['item', '<ul><li><p id="a">one</p></li><li><p id="b">two</p></li></ul>', '<ul><li><p id="b">two</p></li></ul>', 'listItem'],
    [
      'row',
      '<table><tr><td><p id="a">one</p></td></tr><tr><td><p id="b">two</p></td></tr></table>',
      '<table><tr><td><p id="b">two</p></td></tr></table>',
      'tableRow',
    ],
  ])('[AG-110] a new first %s appears once when an agent has deleted the old first one before', (_, before, after, name) => {
    const { page, edit, send } = lateScene(before)
    edit(after)
    send()
    const inner = name === 'tableRow' ? element('tableCell', {}, paragraph('new')) : paragraph('new')
    ;(page.get(0) as Y.XmlElement).insert(0, [element(name, {}, inner)])
    expect(send().split('new')).toHaveLength(2)
  })

  it('[AG-110] a block that a client writes behind a block that an agent retypes meanwhile appears once', () => {
    const { page, edit, send } = lateScene('<p id="z">first</p><p id="a">one</p>')
    page.insert(2, [paragraph('hello')])
    type(textsIn(page)[2] as Y.XmlText, 5, ' you')
    edit('<p id="z">first</p><h2 id="a">one</h2>')
    expect(send().split('hello you')).toHaveLength(2)
  })

  it('[AG-110] a block written beside a removed block is late when the container of both was removed too', () => {
    const { page, edit, send } = lateScene('<ul><li><p id="a">one</p><p id="b">two</p></li></ul>')
    const item = (page.get(0) as Y.XmlElement).get(0) as Y.XmlElement
    item.insert(0, [paragraph('new')])
    edit('<ul><li><p id="b">two</p></li></ul>')
    edit('<ol><li><p id="b">two</p></li></ol>')
    expect(send().split('new')).toHaveLength(2)
  })
})
