import type { ContentLink } from '@docrelay/model/edit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Access } from '../../access/access.ts'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import { type Bodies, openBodies } from '../../documents/bodies.ts'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import type { EditOutcome } from '../../documents/residents.port.ts'
import { type RestRelay, startRestRelay } from '../../http/testing/rest-relay.ts'
import { silentLogger } from '../../kernel/log.ts'
import { withCheckedLinks } from './checked-links.ts'

const ANN: Access = { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS }
const asked: string[] = []

/** Notes each call of the store by name. */
const noting = (real: DocumentStore): DocumentStore =>
  new Proxy(real, {
    get(store, name: keyof DocumentStore) {
      asked.push(name)
      return store[name]
    },
  })

let relay: RestRelay
let bodies: Bodies
beforeAll(async () => {
  relay = await startRestRelay({ store: noting })
  bodies = openBodies({ maxBytes: 64 * 1_048_576, log: silentLogger })
})
afterAll(async () => {
  await bodies?.[Symbol.asyncDispose]()
  await relay?.[Symbol.asyncDispose]()
})

it('[AG-84] [AG-85] fifty links to as many documents are checked with one look-up of heads and no other read', async () => {
  const bodyOf = (name: string) => ({ name, richTextPages: [{ id: 'p', name: 'P', content: '<p id="b">One</p>' }] })
  for (const [id, sub] of [
    ['own-1', 'ann'],
    ['own-2', 'ann'],
    ['of-bob', 'bob'],
  ] as const)
    expect((await relay.call('PUT', `/api/docs/${id}`, { as: { sub, role: 'member' }, body: bodyOf(id) })).status).toBe(200)
  const hrefs = [
    ...['own-1', 'own-2', 'of-bob'].map((id) => `relay://doc/${id}`),
    ...Array.from({ length: 45 }, (_, i) => `relay://doc/never-${i}`),
    'notes/own-1',
    'notes/of-bob',
  ]
  const outcome = { kind: 'edited', warnings: [], links: hrefs.map((href): ContentLink => ({ href })) } as unknown as EditOutcome
  const checked = withCheckedLinks({ documents: { ...relay.documents, edit: async () => outcome }, bodies })
  asked.length = 0
  const { warnings } = (await checked.edit(ANN, {} as never)) as unknown as { readonly warnings: readonly { reason: string }[] }
  expect(asked.filter((name) => name !== 'list')).toEqual(['heads'])
  const warned = hrefs.filter((href) => warnings.some(({ reason }) => reason.includes(` ${href} `)))
  expect(warned).toEqual(hrefs.filter((href) => !/^relay:.*own-/.test(href) && href !== 'notes/of-bob'))
})
