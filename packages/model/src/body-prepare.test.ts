import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blankBody } from './body-blank.ts'
import { bodyFacts, isEmptyContent } from './body-facts.ts'
import { prepareBody, prepareValue } from './body-prepare.ts'
import { SERVER_MEMBERS } from './body-parse.ts'
import { settleTitle, shownTitle, stampBody, withTitle } from './body-title.ts'
import { writeStoredBody } from './body-write.ts'
import { equalJson, type Json, type JsonObject, omitMembers } from './json.ts'
import { bodyOf, bodyValue, json } from './testing/arbitrary.ts'
import { body, canvasPage, prosePage, rectangle, written } from './testing/builders.ts'

const encoder = new TextEncoder()

function prepared(value: Json, before: string | null = null) {
  const preparation = prepareBody(encoder.encode(JSON.stringify(value)), 'doc', before)
  if (!preparation.ok) throw new Error(preparation.refusal.message)
  return { ...preparation.prepared, value: JSON.parse(new TextDecoder().decode(preparation.prepared.bytes)) as JsonObject }
}

function refused(value: Json) {
  const preparation = prepareValue(value, 'doc', null)
  return preparation.ok ? null : preparation.refusal
}

describe('prepareBody', () => {
  it('[BODY-7] [BODY-8] [BODY-10] any body is refused or stored equal except for the members of the relay', () => {
    const relayMembers = fc.dictionary(
      fc.constantFrom('serverVersion', 'version', 'ownerId', 'ownerName', 'isRelayDocument'),
      json,
      {
        noNullPrototype: true,
      },
    )
    fc.assert(
      fc.property(bodyValue, relayMembers, (value, own) => {
        const single = { id: 'doc', ...omitMembers(value, 'title') }
        const stored = prepared({ ...single, ...own }).value
        expect(equalJson(stored, single)).toBe(true)
        for (const member of SERVER_MEMBERS) expect(Object.hasOwn(stored, member)).toBe(false)
      }),
      { numRuns: 300 },
    )
  })

  it('[BODY-5] [BODY-8] wrong types anywhere are refused with a path, without an exception', () => {
    fc.assert(
      fc.property(
        bodyValue,
        fc.constantFrom(
          'pages',
          'pageOrder',
          'richTextPages',
          'references',
          'fields',
          'sharedWith',
          'collectionId',
          'id',
          'name',
        ),
        json,
        (value, name, odd) => {
          const preparation = prepareBody(encoder.encode(JSON.stringify({ ...value, [name]: odd })), 'doc', null)
          if (!preparation.ok) expect(['BAD_BODY', 'ID_MISMATCH']).toContain(preparation.refusal.code)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('[BODY-8] invalid JSON is BAD_JSON with its offset', () => {
    const preparation = prepareBody(encoder.encode('{"n":1e999}'), 'doc', null)
    expect(preparation).toMatchObject({ ok: false, refusal: { code: 'BAD_JSON', details: { offset: 5 } } })
    const small = { maxBytes: 10, maxDepth: 128, maxContainers: 2, maxTokens: 9 }
    expect(prepareBody(encoder.encode('[[],[],[]]'), 'doc', null, small)).toMatchObject({
      refusal: { code: 'BODY_TOO_LARGE', details: { maxBytes: 10 } },
    })
  })

  it('[BODY-10] a body with another id than its path is ID_MISMATCH, and a missing id becomes the id of the path', () => {
    expect(refused({ id: 'other' })).toMatchObject({ code: 'ID_MISMATCH', details: { pathId: 'doc', bodyId: 'other' } })
    expect(refused({ id: 5 })).toMatchObject({ code: 'ID_MISMATCH', details: { bodyId: '5' } })
    expect(prepared({ name: 'N' }).value).toMatchObject({ id: 'doc', name: 'N' })
  })

  it('[BODY-10] collectionId and sharedWith are removed from the body, and a missing collectionId differs from null', () => {
    expect(prepared({ collectionId: 'c', sharedWith: ['u', { userId: 'v' }] })).toMatchObject({
      collectionId: 'c',
      sharedWith: ['u', { userId: 'v' }],
    })
    expect(prepared({ collectionId: null })).toMatchObject({ collectionId: null, sharedWith: undefined })
    expect(prepared({}).collectionId).toBeUndefined()
    expect(refused({ collectionId: 7 })).toMatchObject({ code: 'BAD_BODY', details: { path: '/collectionId' } })
    expect(refused({ collectionId: 'ä'.repeat(33) })).toMatchObject({ details: { path: '/collectionId' } })
    expect(refused({ collectionId: 'ä'.repeat(32) })).toBeNull()
  })

  it('[BODY-5] [BODY-13] sharedWith must be a list of at most 1,000 entries', () => {
    expect(refused({ sharedWith: {} })).toMatchObject({ code: 'BAD_BODY', details: { path: '/sharedWith' } })
    expect(refused({ sharedWith: Array.from({ length: 1001 }, (_, i) => `u${i}`) })).toMatchObject({
      details: { path: '/sharedWith' },
    })
    expect(
      prepared({ sharedWith: Array.from({ length: 1000 }, (_, i) => ({ id: `u${i}`, role: 'edit' })) }).sharedWith,
    ).toHaveLength(1000)
  })

  it('[BODY-10] when name and title differ, the changed one wins, and name wins when both changed', () => {
    expect(settleTitle('old', 'new', 'old')).toBe('new')
    expect(settleTitle('new', 'old', 'old')).toBe('new')
    expect(settleTitle('x', 'y', 'old')).toBe('x')
  })

  it('[BODY-16] [BODY-10] a title longer than a head shows is compared by its beginning, and written whole', () => {
    const long = 'ab'.repeat(2_000)
    const { facts } = prepared({ name: long, title: long })
    expect(prepared({ name: long, title: 'new' }, facts.title).value).toMatchObject({ name: 'new', title: 'new' })
    expect(prepared({ name: 'new', title: long }, facts.title).value).toMatchObject({ name: 'new', title: 'new' })
    expect(prepared({ name: long, title: long }, facts.title).value).toMatchObject({ name: long, title: long })
    expect(prepared({ name: `${long}!`, title: long }, facts.title).value).toMatchObject({ name: `${long}!`, title: `${long}!` })
    // An earlier release stored the whole title in the head.
    expect(settleTitle(long, 'new', long)).toBe('new')
    expect(prepared({ name: 'old', title: 'new' }, 'old').value).toMatchObject({ name: 'new', title: 'new' })
    expect(prepared({ name: 'x', title: 'y' })).toMatchObject({
      name: 'x',
      title: 'y',
      value: { name: 'x', title: 'x' },
      facts: { title: 'x' },
    })
    expect(prepared({ title: 'only' }).value).not.toHaveProperty('name')
  })

  it('[BODY-4] order numbers of prose pages are changed to follow the page order, and kept when they already do', () => {
    const page = (id: string, order?: number) => ({ ...prosePage(id, ''), ...(order === undefined ? {} : { order }) })
    const orders = (...pages: JsonObject[]) =>
      (prepared({ richTextPages: pages }).value.richTextPages as unknown as { order?: number }[]).map(({ order }) => order)
    expect(orders(page('a', 3), page('b', 7))).toEqual([3, 7])
    expect(orders(page('a', 7), page('b', 3))).toEqual([0, 1])
    expect(orders(page('a'), page('b', 1), page('c', 1))).toEqual([undefined, 1, 2])
  })
})

describe('titles of a document', () => {
  it('[BODY-10] the title is name, else title, else a placeholder that is not stored', () => {
    expect(shownTitle(body({ name: 'N', title: 'T' }))).toBe('N')
    expect(shownTitle(body({ name: 5, title: 'T' }))).toBe('T')
    expect(shownTitle(body({ name: '', title: '' }))).toBe('Untitled Document')
    expect(written(body({}))).not.toHaveProperty('name')
  })

  it('[BODY-10] a title change writes each of name and title that the body has, and name when it has neither', () => {
    expect(written(withTitle(body({ name: 'a', title: 'b' }), 'c'))).toMatchObject({ name: 'c', title: 'c' })
    expect(written(withTitle(body({ title: 'b' }), 'c'))).toEqual({ title: 'c', pages: [], richTextPages: [] })
    expect(written(withTitle(body({}), 'c'))).toEqual({ name: 'c', pages: [], richTextPages: [] })
    const same = body({ name: 'c' })
    expect(withTitle(same, 'c')).toBe(same)
  })

  it('[BODY-10] modifiedAt and the last writer are set where the body has them', () => {
    expect(written(stampBody(body({ modifiedAt: 1, lastModifiedBy: 'a' }), 5, 'b'))).toMatchObject({
      modifiedAt: 5,
      lastModifiedBy: 'b',
    })
    const bare = body({ name: 'x' })
    expect(stampBody(bare, 5, 'b')).toBe(bare)
  })
})

describe('bodyFacts, the stored facts of a body', () => {
  it('[BODY-15] the facts contain what metadata and checks need of a body', () => {
    const facts = bodyFacts(
      body({
        title: 'T',
        createdAt: 12,
        tags: ['a'],
        lockedBy: null,
        lastModifiedBy: 'u',
        pages: [canvasPage('p', rectangle('a'), rectangle('b')), canvasPage('q', rectangle('c'))],
        richTextPages: [prosePage('r', '<p>x</p>'), prosePage('s', '<p></p>'), prosePage('t', '')],
      }),
      7,
    )
    expect(facts).toEqual({
      title: 'T',
      createdAt: 12,
      canvasPageCount: 2,
      prosePageCount: 3,
      shapeCount: 3,
      filledProsePageCount: 1,
      carried: { tags: ['a'], lockedBy: null, lastModifiedBy: 'u' },
      clientVersion: 7,
    })
    expect(bodyFacts(body({ createdAt: 1.5 }))).toMatchObject({ createdAt: null, title: 'Untitled Document' })
    expect(bodyFacts(body({}))).not.toHaveProperty('clientVersion')
  })

  it('[BODY-10] [CFG-2] the version that a client PUT is kept in the facts and not in the body', () => {
    const { facts, value } = prepared({ version: 3, serverVersion: 9 })
    expect(facts.clientVersion).toBe(3)
    expect(value).not.toHaveProperty('version')
    expect(value).not.toHaveProperty('serverVersion')
  })

  it('[PROSE-9] [LIFE-18] a page of only inline atoms or embedded groups is not empty', () => {
    expect(['', '<p></p>', '<p></p><p id="blk-1"></p>', '<p><br></p>\n'].map(isEmptyContent)).toEqual([true, true, true, true])
    const atoms = [
      '<p><span data-math-inline data-latex="x"></span></p>',
      '<div data-type="embedded-group" data-group-id="g"></div>',
      '<p> x</p>',
      '<hr>',
    ]
    expect(atoms.map(isEmptyContent)).toEqual([false, false, false, false])
  })
})

describe('blankBody, a new document of the relay', () => {
  it.each(['list', 'keyed'] as const)('[BODY-12] a new document in %s form has its required members', (form) => {
    const blank = blankBody({ id: 'doc', title: 'T', nowMs: 5, canvasPageId: 'c', prosePageId: 'p', form })
    const value = written(blank)
    expect(value).toMatchObject({
      id: 'doc',
      name: 'T',
      title: 'T',
      createdAt: 5,
      modifiedAt: 5,
      activePageId: 'c',
      blobReferences: [],
    })
    expect(blank.canvas.pages.map((page) => [page.members.name, page.shapes])).toEqual([['Canvas', []]])
    expect(blank.prose.pages.map((page) => [page.members.name, page.content])).toEqual([['Prose', '<p></p>']])
    expect(Array.isArray(value.pages)).toBe(form === 'list')
    expect(Array.isArray(value.richTextPages)).toBe(form === 'list')
    expect(prepareBody(writeStoredBody(blank), 'doc', null)).toMatchObject({
      ok: true,
      prepared: { bytes: writeStoredBody(blank) },
    })
    expect(written(bodyOf(value))).toEqual(value)
  })
})
