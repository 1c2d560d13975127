import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type DocumentPage, filesOf, pagesOf } from './document-files.ts'
import { addFile, removeFile } from './file-edits.ts'

const ONE = '1'.repeat(64)
const TWO = '2'.repeat(64)
const PROSE: DocumentPage = { kind: 'prose', id: 'p', name: 'Notes' }
const CANVAS: DocumentPage = { kind: 'canvas', id: 'c', name: 'Plan' }

function newDocument(): Y.Doc {
  const ydoc = new Y.Doc()
  ydoc.getMap('prosePages').set('p', { id: 'p', name: 'Notes' })
  ydoc.getMap('canvasPages').set('c', { id: 'c', name: 'Plan' })
  return ydoc
}
function element(name: string, attrs: Record<string, string>, ...content: Y.XmlElement[]): Y.XmlElement {
  const made = new Y.XmlElement(name)
  for (const [key, value] of Object.entries(attrs)) made.setAttribute(key, value)
  made.insert(0, content)
  return made
}
const image = (hash: string) => element('image', { src: `blob://${hash}`, alt: 'A dot' })
const prose = (ydoc: Y.Doc) => ydoc.getXmlFragment('prose:p')
const shapes = (ydoc: Y.Doc) => ydoc.getMap<Record<string, unknown>>('shapes:c')
const pdf = { hash: ONE, name: 'plan.pdf', mimeType: 'application/pdf', sizeBytes: 8 }
let made = 0
const newId = () => `id${++made}`
/** An open document that the person may edit. */
const live = (ydoc: Y.Doc) => ({ ydoc, level: 'edit' as const, gone: null, isClosed: false })

describe('the files of a live document', () => {
  it('[BLOB-1] come from images, chips and shapes, each file once with all its uses', () => {
    const ydoc = newDocument()
    prose(ydoc).push([
      element('figure', {}, image(ONE), element('figcaption', {})),
      element(
        'paragraph',
        {},
        element('fileRef', { blobRef: `blob://${TWO}`, fileName: 'notes.txt', mimeType: 'text/plain', fileSize: '5' }),
      ),
    ])
    shapes(ydoc).set('s', { id: 's', type: 'file', blobRef: ONE, fileName: 'dot.png', fileSize: 70 })
    shapes(ydoc).set('t', { id: 't', type: 'rectangle', iconId: `blob://${TWO}` })
    expect(filesOf(ydoc)).toEqual([
      { hash: ONE, name: 'A dot', mimeType: null, sizeBytes: 70, uses: [{ page: PROSE }, { page: CANVAS, shapeId: 's' }] },
      {
        hash: TWO,
        name: 'notes.txt',
        mimeType: 'text/plain',
        sizeBytes: 5,
        uses: [{ page: PROSE }, { page: CANVAS, shapeId: 't' }],
      },
    ])
  })

  it('do not include files of unlisted pages, nor pictures from elsewhere', () => {
    const ydoc = newDocument()
    ydoc.getXmlFragment('prose:gone').push([image(ONE)])
    prose(ydoc).push([element('image', { src: 'https://example.org/a.png' })])
    expect(filesOf(ydoc)).toEqual([])
  })

  it('[YDOC-4] come page by page in the order of the pages, whatever the order repeats or lacks', () => {
    const ydoc = newDocument()
    ydoc.getMap('prosePages').set('q', { id: 'q' })
    ydoc.getArray('prosePageOrder').push(['q', 'x', 'q'])
    expect(pagesOf(ydoc).map(({ name }) => name)).toEqual(['q', 'Notes', 'Plan'])
  })
})

describe('a file that is added', () => {
  it('goes to the end of a prose page, as an image or as a chip', () => {
    const ydoc = newDocument()
    prose(ydoc).push([element('paragraph', {})])
    addFile(live(ydoc), PROSE, { hash: ONE, name: 'dot.png', mimeType: 'image/png', sizeBytes: 70 }, newId)
    addFile(live(ydoc), PROSE, { ...pdf, hash: TWO }, newId)
    expect(
      prose(ydoc)
        .toArray()
        .map((block) => (block as Y.XmlElement).nodeName),
    ).toEqual(['paragraph', 'image', 'paragraph'])
    expect(filesOf(ydoc).map(({ name, sizeBytes }) => [name, sizeBytes])).toEqual([
      ['dot', null],
      ['plan.pdf', 8],
    ])
  })

  it('[TOOL-add_file] goes below everything on a canvas page, as the shape that tools make', () => {
    const ydoc = newDocument()
    shapes(ydoc).set('s', { id: 's', type: 'rectangle', x: 0, y: 500, width: 10, height: 100 })
    addFile(live(ydoc), CANVAS, pdf, () => 'new')
    expect(shapes(ydoc).get('shape-new')).toMatchObject({ type: 'file', blobRef: ONE, fileCategory: 'pdf', y: 550 + 40 + 80 })
    expect(ydoc.getArray('shapeOrder:c').toArray()).toEqual(['shape-new'])
  })
})

describe('adding a file to a document that changed during the upload', () => {
  it.each([
    ['was closed', { isClosed: true }, PROSE],
    ['is gone', { gone: { reason: 'deleted', successor: null, unsaved: false } }, PROSE],
    ['may only be read now', { level: 'view' }, CANVAS],
    ['has lost the page', {}, { ...CANVAS, id: 'lost' }],
  ] as const)('[CON-33] changes nothing where it %s', (_, change, page) => {
    const ydoc = newDocument()
    let updates = 0
    ydoc.on('update', () => updates++)
    expect([addFile({ ...live(ydoc), ...change }, page, pdf, newId), updates]).toEqual([false, 0])
  })
})

describe('a file that is removed', () => {
  it('takes figures and galleries with it that cannot be empty', () => {
    const ydoc = newDocument()
    prose(ydoc).push([
      element('figure', {}, image(ONE), element('figcaption', {})),
      element('gallery', {}, image(ONE), image(TWO)),
      element('gallery', {}, image(ONE)),
      element('paragraph', {}, element('fileRef', { blobRef: `blob://${ONE}` })),
    ])
    expect(removeFile(ydoc, ONE)).toBe(4)
    expect(
      prose(ydoc)
        .toArray()
        .map((block) => (block as Y.XmlElement).nodeName),
    ).toEqual(['gallery', 'paragraph'])
    expect(filesOf(ydoc).map(({ hash }) => hash)).toEqual([TWO])
  })

  it('takes its shapes with it, frees their connectors, and leaves a box that had it as its icon', () => {
    const ydoc = newDocument()
    addFile(live(ydoc), CANVAS, pdf, () => 'f')
    shapes(ydoc).set('line', { id: 'line', type: 'connector', startShapeId: 'shape-f', endShapeId: 'box' })
    shapes(ydoc).set('box', { id: 'box', type: 'rectangle', iconId: ONE })
    removeFile(ydoc, ONE)
    expect(Object.fromEntries(shapes(ydoc).entries())).toEqual({
      line: { id: 'line', type: 'connector', startShapeId: null, endShapeId: 'box' },
      box: { id: 'box', type: 'rectangle' },
    })
    expect(ydoc.getArray('shapeOrder:c').toArray()).toEqual([])
  })

  it('changes nothing when no page uses the file', () => {
    const ydoc = newDocument()
    addFile(live(ydoc), PROSE, pdf, newId)
    let updates = 0
    ydoc.on('update', () => updates++)
    expect([removeFile(ydoc, TWO), updates]).toEqual([0, 0])
  })
})
