import { describe, expect, it } from 'vitest'
import { body, canvasPage, group, prosePage, rectangle } from '../testing/builders.ts'
import { categoryOf } from './file-category.ts'
import { fileEntry, fileReferences } from './files.ts'

const hash = (digit: string) => digit.repeat(64)
const file = (id: string, more = {}) => ({ id, type: 'file', x: 0, y: 0, blobRef: hash('a'), ...more })

describe('the files of a document', () => {
  it('[FILE-1] each file shape is listed, in page order and z-order, with bare and blob:// hashes', () => {
    const given = body({
      pages: [
        canvasPage(
          'p',
          rectangle('plain'),
          group('g', 'two'),
          file('one', { fileName: 'a.pdf', fileSize: 5, mimeType: 'application/pdf' }),
        ),
        canvasPage('q', file('three', { blobRef: `blob://${hash('b')}` }), {
          id: 'pic',
          type: 'image',
          src: `blob://${hash('c')}`,
          alt: 'Pic',
        }),
        canvasPage('r', file('bad', { blobRef: 'nothing' })),
      ],
    })
    const withMember = body({ pages: [canvasPage('p', group('g', 'two'), file('one'), file('two'))] })
    expect(fileReferences(given)).toEqual([
      {
        id: 'one',
        shapeId: 'one',
        name: 'a.pdf',
        fileName: 'a.pdf',
        source: 'canvas',
        pageId: 'p',
        hash: hash('a'),
        size: 5,
        mimeType: 'application/pdf',
      },
      { id: 'three', shapeId: 'three', name: hash('b'), source: 'canvas', pageId: 'q', hash: hash('b') },
      { id: 'pic', shapeId: 'pic', name: 'Pic', source: 'canvas', pageId: 'q', hash: hash('c') },
    ])
    expect(fileReferences(withMember).map(({ id }) => id)).toEqual(['two', 'one'])
  })

  it('[FILE-1] each hash of a prose page is listed once: images, file chips and other links', () => {
    const chip = `<span data-file-ref data-blob-ref="blob://${hash('b')}" data-file-name="b.txt" data-mime-type="text/plain" data-file-size="7">b.txt</span>`
    const given = body({
      pages: [canvasPage('p', file('one'))],
      richTextPages: [
        prosePage(
          't',
          `<p>${chip}<a href="blob://${hash('c')}">see</a></p><img src="blob://${hash('a')}" alt="A picture">${`<p>${chip}</p>`}`,
        ),
        prosePage(
          'u',
          `<figure><img src="blob://${hash('a')}"><figcaption></figcaption></figure><p>blob://short ${hash('e')}</p>`,
        ),
      ],
    })
    expect(fileReferences(given).slice(1)).toEqual([
      {
        id: hash('b'),
        name: 'b.txt',
        source: 'prose',
        pageId: 't',
        hash: hash('b'),
        fileName: 'b.txt',
        mimeType: 'text/plain',
        size: 7,
      },
      { id: hash('c'), name: hash('c'), source: 'prose', pageId: 't', hash: hash('c') },
      { id: hash('a'), name: 'A picture', source: 'prose', pageId: 't', hash: hash('a'), fileCategory: 'image' },
      { id: hash('a'), name: hash('a'), source: 'prose', pageId: 'u', hash: hash('a'), fileCategory: 'image' },
    ])
  })

  it('[FILE-2] file chips, images in prose and icons of shapes may name the bare hash', () => {
    const chip = `<p><span data-file-ref data-blob-ref="${hash('d')}" data-file-name="d">d</span> ${hash('e')}</p>`
    const given = body({
      pages: [canvasPage('p', rectangle('r', { iconId: hash('b') }), rectangle('q', { iconId: 'builtin:box' }))],
      richTextPages: [prosePage('t', `${chip}<img src="${hash('c')}" alt="C">`)],
    })
    expect(fileReferences(given).map(({ id, name, hash }) => [id, name, hash])).toEqual([
      ['r', hash('b'), hash('b')],
      [hash('d'), 'd', hash('d')],
      [hash('c'), 'C', hash('c')],
    ])
  })

  it('[FILE-1] a listed file shows the stored size and type, and null where its bytes are missing', () => {
    const [reference] = fileReferences(body({ pages: [canvasPage('p', file('one', { fileName: 'a.csv', fileSize: 5 }))] }))
    if (reference === undefined) throw new Error('no reference')
    expect(fileEntry(reference, undefined)).toEqual({
      id: 'one',
      name: 'a.csv',
      mimeType: null,
      size: 5,
      source: 'canvas',
      pageId: 'p',
      shapeId: 'one',
      hash: hash('a'),
      blobRef: null,
      fileName: 'a.csv',
      sizeBytes: null,
      fileCategory: 'spreadsheet',
      inStore: false,
    })
    expect(fileEntry(reference, { size: 6, mimeType: 'image/png' })).toMatchObject({
      size: 6,
      sizeBytes: 6,
      blobRef: hash('a'),
      mimeType: 'image/png',
      fileCategory: 'image',
      inStore: true,
    })
  })

  it('[FILE-3] the type named by the document is used when the stored type is application/octet-stream', () => {
    const [reference] = fileReferences(body({ pages: [canvasPage('p', file('one', { mimeType: 'audio/ogg' }))] }))
    if (reference === undefined) throw new Error('no reference')
    expect(fileEntry(reference, { size: 1, mimeType: 'application/octet-stream' }).mimeType).toBe('audio/ogg')
    expect(fileEntry(reference, { size: 1, mimeType: 'text/plain' }).mimeType).toBe('text/plain')
  })

  it('[FILE-7] the category of a file follows its MIME type, and its name only when the type is unknown', () => {
    expect(categoryOf('application/pdf', 'x.png')).toBe('pdf')
    expect(categoryOf('text/csv', '')).toBe('spreadsheet')
    expect(categoryOf('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '')).toBe('spreadsheet')
    expect(categoryOf('video/mp4', '')).toBe('video')
    expect(categoryOf('application/octet-stream', 'song.FLAC')).toBe('audio')
    expect(categoryOf('application/zip', 'a.txt')).toBe('generic')
    expect(categoryOf('', 'notes')).toBe('generic')
  })
})
