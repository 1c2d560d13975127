import { describe, expect, it } from 'vitest'
import { parseBody } from '../body-parse.ts'
import type { Json } from '../json.ts'
import { body as bodyWith, canvasPage, rectangle } from '../testing/builders.ts'
import { fileArgsFlaw, findFile } from './find-file.ts'

const [shown, chip, elsewhere] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string]

const parsed = parseBody({
  cover: `blob://${elsewhere}`,
  pages: [
    {
      id: 'p',
      name: 'P',
      shapes: [{ id: 's1', type: 'file', blobRef: `blob://${shown}`, fileName: 'a.pdf', mimeType: 'application/pdf' }],
    },
  ],
  richTextPages: [
    {
      id: 'r',
      name: 'R',
      content: `<p><span data-file-ref data-blob-ref="blob://${chip}" data-file-name="b.txt">b.txt</span></p>`,
    },
  ],
} as Json)
if (!parsed.ok) throw new Error('the example is no body')
const { body } = parsed

describe('finding a file', () => {
  it('[FILE-2, FILE-3] a file is found by shape id, by hash and by reference, bare or with blob://', () => {
    const file = { id: 's1', name: 'a.pdf', hash: shown, mimeType: 'application/pdf' }
    for (const args of [{ id: 's1' }, { hash: shown }, { blobRef: shown }, { blobRef: `blob://${shown}` }])
      expect(findFile(body, args)).toEqual(file)
  })

  it('[FILE-1] a file in prose has its hash as id, and a file without a name has its hash as name', () => {
    expect(findFile(body, { id: chip })).toMatchObject({ id: chip, name: 'b.txt', hash: chip })
    expect(findFile(body, { hash: elsewhere })).toEqual({ id: elsewhere, name: elsewhere, hash: elsewhere, mimeType: null })
  })

  it('[FILE-3] the type of a file is taken from any reference to its hash that names a type', () => {
    const silent = rectangle('icon', { iconId: `blob://${shown}` })
    const telling = { id: 'file', type: 'file', blobRef: shown, mimeType: 'application/pdf' }
    const given = bodyWith({ pages: [canvasPage('p', silent, telling)] })
    for (const args of [{ id: 'icon' }, { hash: shown }])
      expect(findFile(given, args)).toMatchObject({ id: 'icon', mimeType: 'application/pdf' })
  })

  it('[FILE-3] a file listed in the blobReferences of the body counts as referenced', () => {
    const given = bodyWith({ blobReferences: [elsewhere] })
    expect(findFile(given, { hash: elsewhere })).toMatchObject({ hash: elsewhere })
    expect(findFile(given, { hash: shown })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND' })
  })

  it('[FILE-3] a file that the document does not reference is refused', () => {
    const other = 'd'.repeat(64)
    expect(findFile(body, { hash: other })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND', facts: { hash: other } })
    expect(findFile(body, { id: 'nope' })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND', facts: { id: 'nope' } })
  })

  it('[TOOL-get_file] the call must name the file in exactly one way, in a valid form', () => {
    expect(fileArgsFlaw({})).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'id', got: 'none' } })
    expect(fileArgsFlaw({ id: 's1', hash: shown })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'hash' } })
    for (const hash of ['', 'A'.repeat(64), `${shown}0`, 'blob://x'])
      expect(findFile(body, { hash })).toMatchObject({ code: 'ERR_BAD_BLOB_REF', facts: { got: hash } })
  })
})
