import { describe, expect, it } from 'vitest'
import { body, canvasPage, rectangle } from '../testing/builders.ts'
import { type AddFile, addFile, addFileFlaw, type FileSource } from './add-file.ts'
import { fileReferences } from './files.ts'
import { done, idsOf, now, page, provenance, stored } from './testing/shape-editing.ts'

const hash = 'ab'.repeat(32)
const file = { hash, mimeType: 'application/pdf', sizeBytes: 2048 }
const add = (given: ReturnType<typeof page>, more: Partial<AddFile> = {}) =>
  addFile(
    given,
    { pageId: 'p', fileName: 'plan.pdf', stored: file, ...more },
    { nowMs: now, random: (count) => 'x'.repeat(count) },
  )
const id = 'shape-xxxxxxxxxx'

describe('adding a file to a page', () => {
  it('[FILE-7] [CANVAS-2] an added file is stored with default size and place, a bare hash and its file category', () => {
    const { body: after, result, fixes, warnings } = done(add(page()))
    expect(stored(after, id)).toEqual({
      ...{ id, type: 'file', x: 0, y: 0, width: 200, height: 160, rotation: 0, opacity: 1, locked: false, visible: true },
      ...{ fill: '#f8fafc', stroke: '#cbd5e1', strokeWidth: 1, labelFontSize: 12, labelColor: '#475569' },
      ...{ blobRef: hash, fileName: 'plan.pdf', mimeType: 'application/pdf', fileSize: 2048, fileCategory: 'pdf', provenance },
    })
    expect(result).toEqual({
      ...{ shapeId: id, pageId: 'p', hash, blobRef: hash, fileName: 'plan.pdf' },
      ...{ mimeType: 'application/pdf', size: 2048, fileCategory: 'pdf' },
    })
    expect([fixes, warnings]).toEqual([[], []])
  })

  it('[FILE-7] [FILE-1] an added file takes place, size and label from the call, lies on top of the page, and is in the list of files', () => {
    const before = page(rectangle('a', { x: 0, y: 0, width: 10, height: 10 }))
    const { body: after } = done(add(before, { x: 500, y: -20.5, width: 40, height: 30, label: 'Plan' }))
    expect(stored(after, id)).toMatchObject({ x: 500, y: -20.5, width: 40, height: 30, label: 'Plan' })
    expect(idsOf(after)).toEqual(['a', id])
    expect(fileReferences(after)).toMatchObject([{ id, name: 'plan.pdf', hash, size: 2048, fileCategory: 'pdf' }])
  })

  it('[TOOL-17] [TOOL-19] fixes and warnings of add_file use the names of its arguments, such as width and label', () => {
    const before = page(rectangle('a', { x: 0, y: 0, width: 10, height: 10 }))
    const { fixes, warnings, body: after } = done(add(before, { width: 0, height: 1e9, label: 'a\u0000b' }))
    expect(fixes.map(({ action, field }) => [action, field])).toEqual([
      ['clamped', 'width'],
      ['clamped', 'height'],
      ['dropped_invalid', 'label'],
    ])
    expect(stored(after, id)).toMatchObject({ width: 1, height: 100_000, label: 'ab' })
    expect(warnings.map(({ field, reason }) => [field, reason])).toEqual([
      ['label', `the text is longer than ${id} has room for`],
      [undefined, `${id} covers a`],
    ])
  })

  it('[FILE-8] [ERR_PAGE_NOT_FOUND] a file on a missing page is refused', () => {
    const other = body({ pages: [canvasPage('q')] })
    expect(add(other)).toMatchObject({ kind: 'refused', code: 'ERR_PAGE_NOT_FOUND' })
  })
})

describe('the source of a file', () => {
  const flaw = (more: Partial<FileSource>) => addFileFlaw({ fileName: 'a.txt', ...more })

  it.each([
    [{}, []],
    [{ url: 'u', base64: '' }, ['url', 'base64']],
    [{ url: 'u', base64: '', blobRef: hash }, ['url', 'base64', 'blobRef']],
  ])('[TOOL-add_file] the call must name exactly one source (%#)', (sources, given) => {
    expect(flaw(sources)).toMatchObject({ code: 'ERR_BAD_SOURCE', facts: { given } })
  })

  it.each(['', ' ', '.', '..', 'a/b', 'a\\b', 'a\u0000', 'a\nb', '\u007f', '\ud800', 'x'.repeat(256), 'ä'.repeat(128)])(
    '[TOOL-add_file] the file name %j is refused',
    (fileName) => {
      expect(flaw({ fileName, base64: '' })).toMatchObject({ code: 'ERR_BAD_FILE_NAME' })
    },
  )

  it.each(['x'.repeat(255), 'ä'.repeat(127), '.profile', 'a..b', 'Plan 2 (final).PDF', '🙂.png'])(
    '[TOOL-add_file] the file name %j is accepted',
    (fileName) => {
      expect(flaw({ fileName, base64: '' })).toBeNull()
    },
  )

  it('[FILE-2] [FILE-5] a hash is accepted bare or as blob:// and in no other form', () => {
    expect([flaw({ blobRef: hash }), flaw({ blobRef: `blob://${hash}` })]).toEqual([null, null])
    for (const blobRef of ['', hash.toUpperCase(), hash.slice(1), `blob:${hash}`, `${hash} `])
      expect(flaw({ blobRef })).toMatchObject({ code: 'ERR_BAD_BLOB_REF' })
  })

  it('[FILE-5] an authorization is accepted only with a url, and a refusal does not quote it', () => {
    expect(flaw({ url: 'u', authorization: 'secret' })).toBeNull()
    const refused = flaw({ base64: '', authorization: 'secret' })
    expect(refused).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'authorization' } })
    expect(JSON.stringify(refused)).not.toContain('secret')
  })
})
