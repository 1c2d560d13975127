import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { element, plain, shown, text as formatted } from '../testing/live-page.ts'
import { deliveries, lateScene, textsIn, type } from '../testing/late-scene.ts'
import { UpdateWriter } from '../testing/update-writer.ts'
import { LateWords } from './late-words.ts'
import { RemovedBlocks } from './removed-blocks.ts'

describe.each(deliveries)('Enter in a block of the page that the relay replaced meanwhile, sent %s', (_, deliver) => {
  const page = (inner: string) => `${inner}<p id="z">end</p>`

  /** Breaks the first block at an offset as an editor does: deletes the second half and writes it into a new block. */
  function enter({ page: shownToAnn }: ReturnType<typeof lateScene>, at: number, half: Y.XmlText): void {
    const text = textsIn(shownToAnn)[0] as Y.XmlText
    shownToAnn.doc?.transact(() => {
      text.delete(at, text.length - at)
      shownToAnn.insert(1, [element('paragraph', {}, half)])
    })
  }

  it('[AG-110] the second half stands only in its new block', () => {
    const scene = lateScene(page('<p id="a">one two</p>'))
    enter(scene, 3, plain(' two'))
    scene.edit(page('<h2 id="a">one two</h2>'))
    expect(deliver(scene)).toBe(page('<h2 id="a">one</h2><p> two</p>'))
  })

  it('[AG-110] a formatted second half in which its writer goes on typing stands only in its new block', () => {
    const scene = lateScene(page('<p id="a">one two <strong>three</strong></p>'))
    enter(scene, 3, formatted({ insert: ' two ' }, { insert: 'three', attributes: { bold: {} } }))
    type(textsIn(scene.page)[1] as Y.XmlText, 4, ' and')
    scene.edit(page('<h2 id="a">one two <strong>three</strong></h2>'))
    expect(deliver(scene)).toBe(page('<h2 id="a">one</h2><p> two and <strong>three</strong></p>'))
  })

  it('[AG-110] words typed before the break stay in the first half, and words typed after it in the second', () => {
    const scene = lateScene(page('<p id="a">one two</p>'))
    type(textsIn(scene.page)[0] as Y.XmlText, 3, '!')
    enter(scene, 4, plain(' two'))
    type(textsIn(scene.page)[1] as Y.XmlText, 4, ' more')
    scene.edit(page('<h2 id="a">one two</h2>'))
    expect(deliver(scene)).toBe(page('<h2 id="a">one!</h2><p> two more</p>'))
  })

  it('[AG-110] a first half that was written into a new block stands only there', () => {
    const scene = lateScene(page('<p id="a">one two</p>'))
    const text = textsIn(scene.page)[0] as Y.XmlText
    scene.ann.transact(() => {
      text.delete(0, 3)
      scene.page.insert(0, [element('paragraph', {}, plain('one'))])
    })
    scene.edit(page('<h2 id="a">one two</h2>'))
    const html = deliver(scene)
    expect(html).toContain('<p>one</p>')
    expect(html).toContain('<h2 id="a"> two</h2>')
  })

  it('[AG-110] the second half and the words typed in it stay when the relay removed the block', () => {
    const scene = lateScene(page('<p id="a">one two</p>'))
    enter(scene, 3, plain(' two'))
    type(textsIn(scene.page)[1] as Y.XmlText, 4, ' more')
    scene.edit(page(''))
    expect(deliver(scene)).toBe(page('<p> two more</p>'))
  })

  it('[AG-110] a half that the relay has rewritten stays in the successor', () => {
    const scene = lateScene(page('<p id="a">one two</p>'))
    enter(scene, 3, plain(' two'))
    scene.edit(page('<h2 id="a">one 2</h2>'))
    expect(deliver(scene)).toBe(page('<h2 id="a">one 2</h2><p> two</p>'))
  })

  it('[AG-110] after several edits of the relay, the half is deleted from the newest successor', () => {
    const scene = lateScene(page('<p id="a">one two</p>'))
    enter(scene, 3, plain(' two'))
    scene.edit(page('<h2 id="a">one two</h2>'))
    scene.edit(page('<pre id="a"><code>so one two</code></pre>'))
    expect(deliver(scene)).toBe(page('<pre id="a"><code>so one</code></pre><p> two</p>'))
  })
})

describe.each(deliveries)('Enter in an item of a list that the relay replaced meanwhile, sent %s', (told, deliver) => {
  const list = (inner: string, tag = 'ul') => `<${tag}><li><p id="a">${inner}</p></li></${tag}><p id="z">end</p>`

  function enter({ page, ann }: ReturnType<typeof lateScene>, at: number, half: string): Y.XmlText {
    const text = textsIn(page)[0] as Y.XmlText
    ann.transact(() => {
      text.delete(at, text.length - at)
      ;(page.get(0) as Y.XmlElement).insert(1, [element('listItem', {}, element('paragraph', {}, plain(half)))])
    })
    return textsIn(page)[1] as Y.XmlText
  }

  it.each([
    ['behind', 4, 'one two more'],
    ['in', 2, 'one t morewo'],
    ['in front of', 0, 'one more two'],
  ])('[AG-110] words typed %s the moved half are placed where the relay keeps this half', (_where, at, wanted) => {
    const scene = lateScene(list('one two'))
    type(enter(scene, 3, ' two'), at, ' more')
    scene.edit(list('one two', 'ol'))
    expect(deliver(scene)).toBe(list(wanted, 'ol'))
  })

  it('[AG-110] a half that is broken again loses no part, and repeats none when each break is an update of its own', () => {
    const scene = lateScene(list('one two'))
    const text = enter(scene, 3, ' two')
    scene.ann.transact(() => {
      text.delete(2, 2)
      ;(scene.page.get(0) as Y.XmlElement).insert(2, [element('listItem', {}, element('paragraph', {}, plain('wo')))])
    })
    type(textsIn(scene.page)[2] as Y.XmlText, 2, ' more')
    scene.edit(list('one two', 'ol'))
    const html = deliver(scene)
    if (told === 'in many updates') expect(html).toBe(list('one two more', 'ol'))
    else expect(html).toMatch(/one two.*wo more/)
  })

  it('[AG-110] the half and the words typed behind it stay when the relay removed the list', () => {
    const scene = lateScene(list('one two'))
    type(enter(scene, 3, ' two'), 4, ' more')
    scene.edit('<p id="z">end</p>')
    expect(deliver(scene)).toBe('<p> two more</p><p id="z">end</p>')
  })
})

it('[AG-110] after a restart, the relay places words typed behind the moved half of a block by its stored notes', () => {
  const { page, edit, receive, relay, held, at, ann } = lateScene('<ul><li><p id="a">one two</p></li></ul>')
  const text = textsIn(page)[0] as Y.XmlText
  edit('<ol><li><p id="a">one two</p></li></ol>')
  ann.transact(() => {
    text.delete(3, 4)
    ;(page.get(0) as Y.XmlElement).insert(1, [element('listItem', {}, element('paragraph', {}, plain(' two')))])
  })
  for (const update of held.splice(0)) receive(update)
  const next = new LateWords(relay, RemovedBlocks.restored([at.late.takeNotes() ?? ''], 0))
  type(textsIn(page)[1] as Y.XmlText, 4, '!')
  next.place(next.find(held[0] as Uint8Array, 0), 'relay')
  expect(shown(relay)).toBe('<ol><li><p id="a">one two!</p></li></ol>')
})

it('[AG-110] the search reads no more discarded letters of an update than the removed block had, even if the update names 2^31 of them', () => {
  const { page, edit, receive, relay } = lateScene('<blockquote><p id="a">one</p></blockquote>')
  const { id } = (page.get(0) as Y.XmlElement).get(0)._item as Y.Item
  edit('<h2 id="a">one</h2>')
  const update = new UpdateWriter()
    .block(77, 0, 2, (writer, i) =>
      i === 0
        ? writer.raw([0x87]).uint(id.client).uint(id.clock).uint(3).text('paragraph')
        : writer
            .raw([1])
            .uint(0)
            .uint(77)
            .uint(0)
            .uint(2 ** 31),
    )
    .deletes([])
  receive(update)
  expect(shown(relay)).toBe('<h2 id="a">one</h2>')
})
