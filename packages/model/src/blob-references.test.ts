import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blobReferencesIn } from './blob-references.ts'
import { prepareValue } from './body-prepare.ts'
import { readStoredBody } from './body-parse.ts'
import { writeSettledBody } from './body-write.ts'
import type { Json, JsonObject } from './json.ts'
import { threadTime } from './testing/thread-time.ts'

const hash = (digit: string) => digit.repeat(64)
const [A, B, C, D] = [hash('a'), hash('b'), hash('c'), hash('0')]

const inText = (value: Json) => blobReferencesIn(JSON.stringify(value))

function prepared(value: JsonObject) {
  const preparation = prepareValue(value, 'doc', null)
  if (!preparation.ok) throw new Error(preparation.refusal.message)
  const stored = JSON.parse(new TextDecoder().decode(preparation.prepared.bytes)) as JsonObject
  return { ...preparation.prepared, stored }
}

/** Finds the blob references of a JSON value by visiting every value in it, as the rule BLOB-1 says. */
function byVisiting(value: Json, found = new Set<string>()): Set<string> {
  if (typeof value === 'string') {
    for (const match of value.matchAll(/blob:\/\/([0-9a-f]{64})(?![0-9a-f])/g)) found.add(match[1] as string)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value) as [string, Json][]) {
      if (!Array.isArray(value)) byVisiting(name, found)
      if (name === 'blobRef' && typeof member === 'string' && /^[0-9a-f]{64}$/.test(member) && !Array.isArray(value))
        found.add(member)
      byVisiting(member, found)
    }
  }
  return found
}

describe('blob references in a text', () => {
  it('[BLOB-1] a bare hash counts under blobRef and blob://<hash> anywhere in a string, each once and sorted', () => {
    const shapes: readonly Json[] = [{ blobRef: B }, { blobRef: A, text: `see blob://${B}` }]
    expect(
      inText({ pages: [{ shapes }], richTextPages: [{ content: `<img src="blob://${D}?w=1"><img src='blob://${C}'>` }] }),
    ).toEqual([D, A, B, C])
  })

  it.each([
    ['63 digits', { blobRef: A.slice(1), text: `blob://${A.slice(1)}` }],
    ['65 digits', { blobRef: `${A}a`, text: `blob://${A}a` }],
    ['upper case', { blobRef: A.toUpperCase(), text: `blob://${A.toUpperCase()}` }],
    ['another key', { ref: A, xblobRef: A, blobRefs: A, 'x"blobRef': A, 'x\\"blobRef': A }],
    ['text that looks like the key', { text: `"blobRef":"${A}"` }],
    ['a list under the key', { blobRef: [A] }],
    ['another scheme', { text: `blob:/${A} blob:${A} blob///${A} BLOB://${A}` }],
    ['a list of its own', { blobReferences: [A] }],
  ])('[BLOB-1] %s is not a reference', (_name, value) => {
    expect(inText(value as JsonObject)).toEqual([])
  })

  it('[BLOB-1] scanning the text finds what visiting every value finds', () => {
    const digits = fc.constantFrom(A, B, C, D, `${A}0`, A.slice(1), `${B}G`)
    const word = fc.oneof(
      fc.string({ unit: fc.constantFrom('"', '\\', 'b', 'l', 'o', 'blob', 'blobRef', '://', ':', '/', A, '\n', 'é', '😀') }),
      digits.map((of) => `blob://${of}`),
      digits,
    )
    const key = fc.oneof(fc.constant('blobRef'), word)
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, word, fc.integer(), fc.array(tie('tree')), fc.dictionary(key, tie('tree'))),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Json
        expect(inText(plain)).toEqual([...byVisiting(plain)].sort())
      }),
      { seed: 7, numRuns: 400 },
    )
  })

  it('[BLOB-2] a body with many near matches is scanned in linear time', () => {
    const took = threadTime()
    expect(blobReferencesIn('blob blobRef blob:// "blobRef":"'.repeat(400_000) + `blob://${A}`)).toEqual([A])
    expect(took()).toBeLessThan(5_000)
  })
})

describe('blobReferences, the member of a body', () => {
  it('[BLOB-2] a save counts its content and the valid entries of its own list, and gets the sorted set back', () => {
    const { stored, blobReferences } = prepared({
      name: 'x',
      blobReferences: [C, C, 'no hash', 7, `blob://${D}`, B],
      pages: [{ id: 'p', name: 'p', shapes: [{ id: 's', blobRef: A }] }],
    })
    expect(blobReferences).toEqual([A, B, C])
    expect(stored.blobReferences).toEqual([A, B, C])
    expect(Object.keys(stored)).toEqual(['id', 'name', 'blobReferences', 'pages', 'richTextPages'])
  })

  it('[BLOB-2] the member is added only when there is a reference', () => {
    expect(prepared({ name: 'x' }).stored).not.toHaveProperty('blobReferences')
    expect(prepared({ name: 'x', blobReferences: [] }).stored.blobReferences).toEqual([])
    expect(prepared({ name: 'x', blobReferences: { odd: A } }).stored.blobReferences).toEqual([])
    expect(prepared({ name: 'x', cover: { blobRef: A } }).stored.blobReferences).toEqual([A])
  })

  it('[BLOB-2] storing a live body counts its content only', () => {
    const { bytes } = prepared({ name: 'x', blobReferences: [B], cover: { blobRef: A } })
    const settled = writeSettledBody(readStoredBody(bytes), false)
    expect(settled.blobReferences).toEqual([A])
    expect(settled.body.members.get('blobReferences')).toEqual([A])
    expect(writeSettledBody(settled.body, false).body).toBe(settled.body)
    expect(readStoredBody(settled.bytes).members.get('blobReferences')).toEqual([A])
  })
})
