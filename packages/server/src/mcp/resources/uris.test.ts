import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDocumentId } from '../../documents/document-id.ts'
import { documentUri, PAGE_PARTS, pageUri, readUri, skillUri } from './uris.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
const documentId = text.filter(isDocumentId)

describe('resource URIs', () => {
  it('[RES-7] the URI of any document and page is read back as it was written', () => {
    fc.assert(
      fc.property(documentId, text, fc.constantFrom(...PAGE_PARTS), (id, pageId, kind) => {
        expect(readUri(documentUri(id))).toEqual({ kind: 'document', id })
        expect(readUri(pageUri(kind, id, pageId))).toEqual({ kind, id, pageId })
        expect(pageUri(kind, id, pageId)).toMatch(/^relay:\/\/doc\/[^/?#\s]+\/(prose|outline|page)\/[^/?#\s]+$/)
      }),
      { seed: 1 },
    )
  })

  it('[RES-6] the URI of a skill is written and read', () =>
    expect(readUri(skillUri('contract'))).toEqual({ kind: 'skill', name: 'contract' }))

  it.each([
    ...['', 'relay:', 'relay://', 'relay://doc', 'relay://doc/', 'relay://icons/', 'relay://icons/x', 'RELAY://icons'],
    ...['relay://doc/a/', 'relay://doc/a/prose', 'relay://doc/a/prose/', 'relay://doc/a/prose/.md', 'relay://doc/a/prose/x.html'],
    ...['relay://doc/a/page/x.png', 'relay://doc/a/outline/', 'relay://doc/a/outline/x/y', 'relay://doc/a/shapes/x'],
    ...[
      'relay://doc/%ff',
      'relay://doc/a%2Fb',
      'relay://doc/..',
      `relay://doc/${'x'.repeat(257)}`,
      'http://doc/a',
      ' relay://icons',
    ],
  ])('[RES-8] %j is not a resource URI', (uri) => expect(readUri(uri)).toBeNull())
})
