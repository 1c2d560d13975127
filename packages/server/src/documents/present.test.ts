import { anyCharacter } from '@docrelay/model/testing/any-character'
import { prepareBody } from '@docrelay/model/body-prepare'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentHead } from './document-store.port.ts'
import { bodyEtag, presentBody } from './present.ts'

const head = (over: Partial<DocumentHead>): DocumentHead =>
  ({
    workspaceId: 'w',
    id: 'doc',
    version: 3,
    ownerId: 'ann',
    ownerName: 'Ann "A"',
    collectionId: null,
    sharedWith: [],
    facts: {},
    ...over,
  }) as DocumentHead

const owner = { sub: 'ann', level: 'owner' } as const
const SERVER = ['serverVersion', 'version', 'ownerId', 'ownerName', 'isRelayDocument', 'collectionId', 'sharedWith']
/** Members with any names except those that the model or the relay reads. */
const members = fc.dictionary(
  fc
    .string({ unit: anyCharacter })
    .filter(
      (name) => ![...SERVER, 'id', 'pages', 'richTextPages', 'references', 'fields', 'pageOrder', 'name', 'title'].includes(name),
    ),
  fc.jsonValue({ stringUnit: anyCharacter }),
)

describe('bodies as they are returned', () => {
  it('[BODY-7] [BODY-10] any unknown members are returned as they were PUT, together with exactly the members of the relay', () => {
    fc.assert(
      fc.property(members, (given) => {
        const raw = JSON.stringify(given)
        const preparation = prepareBody(Buffer.from(raw), 'doc', null)
        // Lone surrogates and the like are refused, never changed.
        if (!preparation.ok) return expect(preparation.refusal.code).toBe('BAD_JSON')
        const { bytes: body, facts } = preparation.prepared
        const parts = presentBody({ head: head({ facts, sharedWith: ['bob'] }), body }, owner, { editorClient: false })
        const shown = Buffer.concat(parts).toString()
        const { id, pages, richTextPages, ...rest } = JSON.parse(shown) as Record<string, unknown>
        const relay = {
          version: 3,
          serverVersion: 3,
          ownerId: 'ann',
          ownerName: 'Ann "A"',
          isRelayDocument: true,
          collectionId: null,
          sharedWith: ['bob'],
        }
        expect([id, pages, richTextPages]).toEqual(['doc', [], []])
        expect(JSON.stringify(rest)).toBe(JSON.stringify({ ...(JSON.parse(raw) as object), ...relay }))
      }),
      { numRuns: 300 },
    )
  })

  it('[CFG-2] version is the stored version, and for editor clients the one the client sent, if any', () => {
    const shown = (clientVersion: number | undefined, editorClient: boolean) => {
      const facts = (clientVersion === undefined ? {} : { clientVersion }) as DocumentHead['facts']
      const parts = presentBody({ head: head({ facts }), body: Buffer.from('{"id":"doc"}') }, owner, { editorClient })
      return (JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>).version
    }
    expect([shown(7, false), shown(undefined, false), shown(7, true), shown(undefined, true), shown(0, true)]).toEqual([
      3,
      3,
      7,
      undefined,
      0,
    ])
  })

  it('[REST-20] the ETag of a body with the reduced share list of level view differs', () => {
    expect(bodyEtag(head({}), owner)).toBe('"3"')
    expect(bodyEtag(head({}), { sub: 'bob', level: 'edit' })).toBe('"3"')
    expect(bodyEtag(head({}), { sub: 'bob', level: 'view' })).toBe('"3-v"')
  })
})
