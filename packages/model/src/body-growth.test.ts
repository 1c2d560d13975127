import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentBody, Shape } from './body.ts'
import { bodyGrowth } from './body-growth.ts'
import { readStoredBody } from './body-parse.ts'
import type { JsonObject } from './json.ts'
import { writeStoredBody } from './body-write.ts'
import { documentBody } from './testing/arbitrary.ts'

const HASH = 'ab'.repeat(32)

/** Puts parts of `other` in the place of some parts of `body`, and keeps the other parts of `body` as they are. */
function mixed(body: DocumentBody, other: DocumentBody, picks: readonly boolean[]): DocumentBody {
  const mix = <T>(own: readonly T[], theirs: readonly T[]): readonly T[] => [
    ...own.filter((_, i) => picks[i % picks.length]),
    ...theirs.filter((_, i) => picks[(i + 1) % picks.length]),
  ]
  return {
    ...body,
    canvas: { ...body.canvas, pages: mix(body.canvas.pages, other.canvas.pages) },
    prose: { ...body.prose, pages: mix(body.prose.pages, other.prose.pages).toReversed() },
    fields: picks[0] ? other.fields : body.fields,
    references: picks[1] ? other.references : body.references,
  }
}

describe('growth of a body', () => {
  it('[BODY-14] [CONC-9] the size difference of the changed parts equals that of the whole stored bodies', () => {
    fc.assert(
      fc.property(documentBody, documentBody, fc.array(fc.boolean(), { minLength: 2, maxLength: 5 }), (body, other, picks) => {
        const after = mixed(body, other, picks)
        expect(bodyGrowth(body, after).bytes).toBe(writeStoredBody(after).length - writeStoredBody(body).length)
        expect(bodyGrowth(body, body)).toEqual({ bytes: 0, addsBlobs: false })
      }),
      { seed: 14, numRuns: 300 },
    )
  })

  it('[BODY-14] [BLOB-2] pages that differ in the middle are measured by their difference, whatever stands around it', () => {
    const part = fc.array(
      fc.constantFrom('a', '"', '\u{1F600}', '\u{1F601}', '\ud83d', 'é', '\n', `blob://${HASH} `, 'x'.repeat(130)),
      { maxLength: 6 },
    )
    const text = part.map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, text, text, (start, a, b, end) => {
        const [before, after] = [a, b].map((middle) => {
          const richTextPages = [{ id: 'p', name: 'P', content: start + middle + end }]
          return readStoredBody(new TextEncoder().encode(JSON.stringify({ pages: [], richTextPages })))
        }) as [DocumentBody, DocumentBody]
        const { bytes, addsBlobs } = bodyGrowth(before, after)
        expect(bytes).toBe(writeStoredBody(after).length - writeStoredBody(before).length)
        const names = (body: DocumentBody) => body.prose.pages[0]?.content.includes(HASH)
        if (names(after) && !names(before)) expect(addsBlobs).toBe(true)
      }),
      { seed: 15, numRuns: 500 },
    )
  })

  it('[BODY-14] [BLOB-2] shapes that are the same in both are left out of the measure, whatever the form of the page and its groups', () => {
    const shape = (id: string) => {
      const value = fc.constantFrom<JsonObject>(
        { id, type: 'rectangle', label: 'é' },
        { id, type: 'file', blobRef: HASH },
        { id, type: 'group', childIds: ['s0', 's1'] },
      )
      return value.map((given): Shape => ({ id, value: given }))
    }
    const shapes = fc.tuple(...['s0', 's1', 's2', 's3'].map(shape))
    const picks = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(fc.constantFrom('[]', '{}'), shapes, shapes, picks, picks, picks, (form, own, others, has, keeps, gains) => {
        const text = `{"pages":[{"id":"c","name":"C","shapes":${form}}],"richTextPages":[]}`
        const given = readStoredBody(new TextEncoder().encode(text))
        const withShapes = (list: readonly Shape[]): DocumentBody => ({
          ...given,
          canvas: { ...given.canvas, pages: given.canvas.pages.map((page) => ({ ...page, shapes: list })) },
        })
        const before = withShapes(own.filter((_, i) => has[i]))
        const after = withShapes(own.flatMap((each, i) => (has[i] && keeps[i] ? [each] : gains[i] ? [others[i] as Shape] : [])))
        const { bytes, addsBlobs } = bodyGrowth(before, after)
        const [old, now] = [before, after].map((body) => new TextDecoder().decode(writeStoredBody(body))) as [string, string]
        expect(bytes).toBe(writeStoredBody(after).length - writeStoredBody(before).length)
        expect(addsBlobs).toBe(now.includes(HASH) && !old.includes(HASH))
      }),
      { seed: 16, numRuns: 500 },
    )
  })

  it('[BLOB-2] a new blob reference in a changed part is found', () => {
    fc.assert(
      fc.property(documentBody, (body) => {
        const [page] = body.prose.pages
        if (page === undefined) return
        const named = { ...page, content: `<p data-blob-ref="blob://${HASH}">x</p>` }
        const withPage = (first: typeof page) => ({
          ...body,
          prose: { ...body.prose, pages: [first, ...body.prose.pages.slice(1)] },
        })
        expect(bodyGrowth(body, withPage(named)).addsBlobs).toBe(true)
        expect(bodyGrowth(withPage(named), withPage({ ...named, id: page.id })).addsBlobs).toBe(false)
        expect(bodyGrowth(withPage(named), body).addsBlobs).toBe(false)
      }),
      { seed: 2, numRuns: 50 },
    )
  })
})
