import { anyCharacter } from '@docrelay/model/testing/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAttachment, storedMimeType, UNKNOWN_TYPE } from './mime.ts'

describe('[BLOB-4] [X22] types that could run scripts are stored as unknown', () => {
  it.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    ' text/html ',
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'application/rss+xml',
    'application/atom+xml',
    'application/mathml+xml',
    'application/xslt+xml',
    'text/xsl',
    'application/xml-dtd',
    'text/javascript',
    'application/javascript',
    'application/x-javascript',
    'application/ecmascript',
    'text/ecmascript',
    'text/jscript',
    'text/livescript',
    'text/javascript1.5',
    'text/x-ecmascript',
    'text/vbscript',
    'application/hta',
    'text/x-component',
    'text/x-server-parsed-html',
    'application/vnd.wap.xhtml+xml',
    'application/x-shockwave-flash',
    'message/rfc822',
    'multipart/related; boundary=x',
    'multipart/x-mixed-replace',
    'application/x-mimearchive',
  ])('the script-capable type %s is stored as application/octet-stream', (given) => {
    expect(storedMimeType(given)).toBe(UNKNOWN_TYPE)
  })
})

describe('[BLOB-4] malformed types are stored as unknown', () => {
  it.each([
    undefined,
    null,
    '',
    ';',
    'png',
    'image/',
    '/png',
    'image/*',
    '*/*',
    'image/png, text/html',
    'image/png image/gif',
    'image//png',
    'image/p"ng',
    'image/png\r\nX-A: b',
    'bild/über',
    `image/${'x'.repeat(200)}`,
    '-x/y',
  ])('the malformed type %s is stored as application/octet-stream', (given) => {
    expect(storedMimeType(given)).toBe(UNKNOWN_TYPE)
  })
})

describe('[BLOB-4] other types are kept, lower case and without parameters', () => {
  it.each([
    ['image/png', 'image/png'],
    ['IMAGE/SVG+XML', 'image/svg+xml'],
    ['image/jpeg; q=1', 'image/jpeg'],
    ['\timage/webp\t;x="text/html"', 'image/webp'],
    ['application/pdf', 'application/pdf'],
    ['text/plain;charset=UTF-8', 'text/plain'],
    ['application/json', 'application/json'],
    ['application/ld+json', 'application/ld+json'],
    ['video/mp4', 'video/mp4'],
    [
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    ['model/gltf-binary', 'model/gltf-binary'],
    ['application/octet-stream', UNKNOWN_TYPE],
  ])('the type %s is stored in lower case without parameters', (given, stored) => {
    expect(storedMimeType(given)).toBe(stored)
  })
})

it('[BLOB-4] a stored media type stays the same when it is stored again, and fits into a header', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: anyCharacter }), fc.stringMatching(/^[a-zA-Z+.-]+\/[a-zA-Z+.-]+$/)),
      (given) => {
        const stored = storedMimeType(given)
        expect(storedMimeType(stored)).toBe(stored)
        expect(stored).toMatch(/^[a-z0-9!#$&^_.+/-]+$/)
        expect(stored.length).toBeLessThanOrEqual(255)
      },
    ),
    { seed: 4, numRuns: 500 },
  )
})

it('[BLOB-7] SVG and types that could run scripts are served as a download, all other types inline', () => {
  const types = ['image/svg+xml', 'text/html', 'application/xml', 'image/png', 'application/pdf', UNKNOWN_TYPE]
  expect(types.map(isAttachment)).toEqual([true, true, true, false, false, false])
})
