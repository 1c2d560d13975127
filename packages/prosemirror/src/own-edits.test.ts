import { Fragment, type Node, type NodeType } from 'prosemirror-model'
import { EditorState, type Transaction } from 'prosemirror-state'
import { initProseMirrorDoc, updateYFragment, ySyncPluginKey } from 'y-prosemirror'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { problemsOf } from './page-problems.ts'
import { proseSchema } from './prose-schema.ts'
import { historyOf } from './undo-history.ts'

const { nodes } = proseSchema
const node = (type: string, ...content: readonly (Node | string)[]): Node =>
  (nodes[type] as NodeType).create(
    null,
    content.map((part) => (typeof part === 'string' ? proseSchema.text(part) : part)),
  )

/** A page that Ann and Ben edit, through transactions as y-prosemirror writes them. */
function open(...blocks: readonly Node[]) {
  const [ann, ben] = [new Y.Doc(), new Y.Doc()] as const
  ann.on('update', (update: Uint8Array, origin: unknown) => origin !== ben && Y.applyUpdate(ben, update, ann))
  ben.on('update', (update: Uint8Array, origin: unknown) => origin !== ann && Y.applyUpdate(ann, update, ben))
  const page = (doc: Y.Doc) => doc.getXmlFragment('prose:p')
  const edit = (doc: Y.Doc, change: (tr: Transaction) => unknown) => {
    const { doc: before, meta } = initProseMirrorDoc(page(doc), proseSchema)
    const { tr } = EditorState.create({ doc: before })
    change(tr)
    doc.transact(() => updateYFragment(doc, page(doc), tr.doc, meta), ySyncPluginKey)
  }
  ben.transact(() => updateYFragment(ben, page(ben), node('doc', ...blocks), { mapping: new Map(), isOMark: new Map() }), 'seed')
  const history = historyOf(page(ann))
  const apart = (change: (tr: Transaction) => unknown) => {
    history.stopCapturing()
    edit(ann, change)
  }
  return {
    history,
    ann: apart,
    ben: (change: (tr: Transaction) => unknown) => edit(ben, change),
    stored: () => page(ben).toString(),
    same: () => page(ann).toString() === page(ben).toString(),
    problems: () =>
      page(ben)
        .toArray()
        .flatMap((block) => problemsOf(block, proseSchema)),
  }
}

/** Inserts text after the content of the text block that contains `after`; `''` is the first empty block. */
const write = (after: string, words: string) => (tr: Transaction) => {
  let at: number | null = null
  tr.doc.descendants((each, position) => {
    if (each.isTextblock && each.textContent === after) at ??= position + 1 + each.content.size
  })
  if (at === null) throw new Error(`no block says “${after}”`)
  return tr.insert(at, proseSchema.text(words))
}
/** Presses Enter at the end of the text block that contains `after`. */
const split = (after: string, depth: number) => (tr: Transaction) => {
  tr.doc.descendants((each, position) => {
    if (each.isTextblock && each.textContent === after) tr.split(position + 1 + each.content.size, depth)
  })
}

describe('undo of a block into which somebody else wrote', () => {
  it('[CON-30] keeps a list item that Ann began, with the text of Ben in it', () => {
    const page = open(node('bulletList', node('listItem', node('paragraph', 'First'))))
    page.ann(split('First', 2))
    page.ben(write('', 'Ben was here'))
    page.history.undo()
    expect(page.stored()).toContain('Ben was here')
    expect(page.problems()).toEqual([])
    expect(page.same()).toBe(true)
  })

  it('[CON-30] keeps a heading that Ann made with the text of Ben, at its level, and restores the paragraph with its id', () => {
    const page = open((nodes['paragraph'] as NodeType).create({ id: 'b1' }, proseSchema.text('Plan')))
    page.ann((tr) => tr.setBlockType(1, 1, nodes['heading'] as NodeType, { level: 3, id: 'b1' }))
    page.ben(write('Plan', ' of Ben'))
    page.history.undo()
    expect(page.stored()).toMatch(/<heading level="3"> of Ben<\/heading>/)
    expect(page.stored()).toMatch(/<paragraph id="b1">Plan<\/paragraph>/)
    page.history.redo()
    expect(page.stored().match(/ of Ben/g)).toHaveLength(1)
    expect(page.stored()).toMatch(/<heading (id="b1" )?level="3">Plan of Ben<\/heading>/)
    expect(page.stored()).not.toContain('<paragraph')
  })

  it('[CON-30] keeps, of a table that Ann added, only the cell in which Ben wrote', () => {
    const row = () => node('tableRow', node('tableCell', node('paragraph')), node('tableCell', node('paragraph')))
    const page = open(node('paragraph', 'Above'))
    page.ann((tr) => tr.insert(tr.doc.content.size, node('table', row(), row())))
    page.ben(write('', 'Ben was here'))
    page.history.undo()
    expect(page.stored()).toMatch(
      /<table><tablerow><tablecell[^>]*><paragraph>Ben was here<\/paragraph><\/tablecell><\/tablerow><\/table>/,
    )
    expect(page.problems()).toEqual([])
  })

  it('[CON-30] keeps a code block that Ann began with its language and the line of Ben, without the line of Ann', () => {
    const page = open(node('paragraph', 'Above'))
    const code = (nodes['codeBlock'] as NodeType).create({ language: 'ts' }, proseSchema.text('mine'))
    page.ann((tr) => tr.insert(tr.doc.content.size, code))
    page.ben(write('mine', '\nhis'))
    page.history.undo()
    expect(page.stored()).toMatch(/<codeblock language="ts">\nhis<\/codeblock>/)
    page.history.redo()
    expect(page.stored()).toMatch(/<codeblock language="ts">mine\nhis<\/codeblock>/)
  })

  it('[CON-30] keeps the page valid: an item keeps its paragraph before a list of Ben, a figure its image', () => {
    const page = open(node('bulletList', node('listItem', node('paragraph', 'First'))))
    page.ann(split('First', 2))
    page.ann(write('', 'Second'))
    page.ben((tr) => tr.insert(tr.doc.content.size - 2, node('bulletList', node('listItem', node('paragraph', 'Below')))))
    page.history.undo()
    page.history.undo()
    expect(page.problems()).toEqual([])
    expect(page.stored()).toContain('Below')
    expect(page.stored()).not.toContain('Second')

    const image = (nodes['image'] as NodeType).create({ src: 'https://a.example/1.png' })
    const other = open(node('paragraph', 'Above'))
    other.ann((tr) => tr.insert(tr.doc.content.size, node('figure', image, node('figcaption'))))
    other.ben(write('', 'His words'))
    other.history.undo()
    expect(other.problems()).toEqual([])
    expect(other.stored()).toMatch(/<image src="https:\/\/a.example\/1.png"><\/image><figcaption>His words/)
  })

  it('[CON-30] takes back an attribute that Ann set after she made the block, also when Ben wrote into it', () => {
    const page = open(node('paragraph', 'Above'))
    page.ann((tr) => tr.insert(tr.doc.content.size, node('codeBlock', 'mine')))
    page.ann((tr) => tr.setNodeAttribute(7, 'language', 'ts'))
    page.ben(write('mine', ' and his'))
    page.history.undo()
    expect(page.stored()).toMatch(/<codeblock>mine and his<\/codeblock>/)
  })
})

describe('undo of a block into which nobody else wrote', () => {
  it('[CON-30] removes the whole block, also after Ben wrote there and deleted it, or made words of it bold', () => {
    const figure = node('figure', node('image'), node('figcaption', 'Caption'))
    const list = node('taskList', node('taskItem', node('paragraph', 'One')), node('taskItem', node('paragraph')))
    const page = open(node('paragraph', 'Above'))
    const before = page.stored()
    page.ann((tr) => tr.insert(tr.doc.content.size, [node('heading', 'Title'), figure, list, node('blockquote', list)]))
    const after = page.stored()
    page.ben(write('', 'Ben was here'))
    page.ben((tr) => {
      const at = tr.doc.textBetween(0, tr.doc.content.size, ' ', ' ')
      if (!at.includes('Ben was here')) throw new Error(at)
      tr.doc.descendants((each, position) => {
        if (each.isText && each.text === 'Ben was here') tr.delete(position, position + each.nodeSize)
      })
    })
    page.ben((tr) => tr.addMark(8, 12, (proseSchema.marks['bold'] as never as { create(): never }).create()))
    page.history.undo()
    expect(page.stored()).toBe(before)
    page.history.redo()
    expect(page.stored().replaceAll(/<\/?bold>/g, '')).toBe(after)
    page.history.undo()
    expect(page.stored()).toBe(before)
  })

  it('[CON-30] redo deletes again what Ann had deleted, but not the words that Ben wrote into it meanwhile', () => {
    const page = open(node('paragraph', 'Above'), node('heading', 'Title'))
    page.ann((tr) => tr.delete(7, tr.doc.content.size))
    page.history.undo()
    page.ben(write('Title', ' of Ben'))
    page.history.redo()
    expect(page.stored()).toMatch(/<heading[^>]*> of Ben<\/heading>/)
  })

  it('[CON-30] keeps, of a large and deep paste, only the item into which Ben wrote', () => {
    const list = (at: number): Node => node('bulletList', node('listItem', node('paragraph', `Point ${at}`)))
    const page = open(node('paragraph', 'Above'))
    const deep = Array.from({ length: 40 }).reduce<Node>(
      (inner) => node('bulletList', node('listItem', node('paragraph', 'Deep'), inner)),
      list(0),
    )
    page.ann((tr) =>
      tr.insert(tr.doc.content.size, Fragment.from([...Array.from({ length: 3000 }, (_, at) => list(at + 1)), deep])),
    )
    page.ben(write('Point 1500', '!'))
    page.history.undo()
    expect(page.stored()).toBe(
      '<paragraph>Above</paragraph><bulletlist><listitem><paragraph>!</paragraph></listitem></bulletlist>',
    )
  })
})
