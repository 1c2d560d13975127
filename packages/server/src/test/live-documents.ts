import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { afterAll, beforeAll } from 'vitest'
import { type RelayUnderTest, saved, startRelayUnderTest } from './relay-under-test.ts'

export interface Body {
  readonly serverVersion: number
  readonly pages: { readonly shapes: { readonly id: string }[] }[]
  readonly richTextPages: { readonly content: string }[]
}

export interface LiveDocuments {
  readonly relay: RelayUnderTest
  /** Puts a document with a canvas page of one shape, and two prose pages. */
  create(id: string): Promise<void>
  opened(id: string): Promise<SyncClient>
  read(id: string): Promise<Body>
}

/** One relay with few limits for the tests of a file, and helpers for its documents. */
export function liveDocuments(): LiveDocuments {
  let relay: RelayUnderTest
  beforeAll(async () => {
    relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0', RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '200' } })
  })
  afterAll(() => relay?.[Symbol.asyncDispose]())

  const read = async (id: string) => (await relay.rest().getDocument(id)) as unknown as Body
  return {
    get relay() {
      return relay
    },
    async create(id) {
      await relay.rest().putDocument(id, {
        name: id,
        pages: [{ id: 'canvas', name: 'Canvas', shapes: [{ id: 's1', type: 'rectangle', x: 1 }] }],
        richTextPages: [
          { id: 'one', name: 'One', content: '<p>first</p>' },
          { id: 'two', name: 'Two', content: '<p>second</p>' },
        ],
      })
    },
    async opened(id) {
      const client = relay.sync(id)
      await saved(client)
      // Stores what the load itself wrote, so that this does not happen during the test.
      await read(id)
      return client
    },
    read,
  }
}

export const setShape = (client: SyncClient, id: string) =>
  client.doc.getMap('shapes:canvas').set(id, { id, type: 'ellipse', x: 2 })
export const shapesIn = (body: Body) => body.pages.flatMap(({ shapes }) => shapes.map(({ id }) => id)).sort()
