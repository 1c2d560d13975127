import { RelayError } from '@docrelay/client/errors'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { describe, expect, it } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'
import { type Body, setShape, shapesIn } from '../live-documents.ts'
import { type RelayUnderTest, saved, until } from '../relay-under-test.ts'
import { metric } from '../wire-client.ts'
import { linked, startNodesUnderTest } from './nodes-under-test.ts'
import { onNodes } from './on-nodes.ts'

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error: unknown) => (error instanceof RelayError ? error.code : String(error)),
  )
const tomorrow = () => new Date(Date.now() + 86_400_000)
const person = (sub: string) => ({ sub, role: 'member' })
const sizeOf = ({ doc }: SyncClient) => doc.getMap('shapes:canvas').size

/** Returns a function that counts how often these clients lost their connection. */
function closesOf(clients: readonly SyncClient[]): () => number {
  let closes = 0
  for (const client of clients) {
    client.on('state', ({ closed }) => {
      if (closed !== null) closes++
    })
  }
  return () => closes
}

onNodes(await startNodesUnderTest({ count: 2 }), ({ relays }) =>
  describe('two nodes', () => {
    const [a, b] = relays as [RelayUnderTest, RelayUnderTest]
    const create = (id: string, relay = a) =>
      relay.rest().putDocument(id, { name: id, pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] })
    const shapes = async (relay: RelayUnderTest, id: string) => shapesIn((await relay.rest().getDocument(id)) as unknown as Body)

    it('[LIFE-25] people on both nodes who edit one document at once see all edits of each other', async () => {
      await create('both')
      const [ann, bob] = [a.sync('both'), b.sync('both')]
      await saved(ann, bob)
      for (let i = 0; i < 20; i++) {
        setShape(ann, `a${i}`)
        setShape(bob, `b${i}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      await saved(ann, bob)
      await until('both to be equal', () => [ann, bob].every((client) => sizeOf(client) === 40))
      expect(await shapes(a, 'both')).toHaveLength(40)
      expect(await shapes(b, 'both')).toHaveLength(40)
      const kinds = await Promise.all([a, b].map((relay) => metric(relay, 'relay_rooms', { kind: 'edge' })))
      expect(kinds.toSorted()).toEqual([0, 1])
    })

    it('[LIFE-11] [LIFE-25] a PUT at an edge with expectedVersion changes the document at its owner, and conflicts when outdated', async () => {
      const { serverVersion } = await create('put')
      const ann = a.sync('put')
      await saved(ann)
      const body = { name: 'put', pages: [{ id: 'canvas', name: 'Canvas', shapes: [{ id: 's', type: 'rectangle', x: 1 }] }] }
      await b.rest().putDocument('put', body, { expectedVersion: serverVersion })
      await until('the owner to have it', () => sizeOf(ann) === 1)
      expect(await refusal(b.rest().putDocument('put', body, { expectedVersion: serverVersion }))).toBe('VERSION_CONFLICT')
      setShape(ann, 'more')
      await saved(ann)
      expect(await shapes(b, 'put')).toEqual(['more', 's'])
    })

    it('[LIFE-8] [LIFE-25] a list of one node shows a title that a person has just set at the other', async () => {
      await create('titled')
      const ann = a.sync('titled')
      await saved(ann)
      ann.doc.getMap('metadata').set('title', 'New title')
      await saved(ann)
      const listedName = async () => {
        const listed = await b.fetch('/api/docs', { headers: { authorization: `Bearer ${b.token()}` } })
        const documents = (await listed.json()) as readonly { readonly id: string; readonly name: string }[]
        return documents.find(({ id }) => id === 'titled')?.name
      }
      let name = await listedName()
      // A list waits up to a second for another node, which may need longer to store the title on a busy machine.
      for (let again = 0; again < 4 && name !== 'New title'; again++) name = await listedName()
      expect(name).toBe('New title')
    })

    it('[SHARE-4] [PERM-2] a share link of one node opens the document on the other, whose sockets learn of it', async () => {
      await a.rest(person('mia')).putDocument('shared', { name: 'shared' })
      const link = await a.rest(person('mia')).issueShareLink('shared', tomorrow())
      const mia = a.sync('shared', person('mia'))
      await saved(mia)
      const told: string[] = []
      mia.on('event', ({ eventType }) => void told.push(eventType))
      expect(await refusal(b.rest(person('ben')).getDocument('shared'))).toBe('VIEW_FORBIDDEN')
      expect(await b.rest(person('ben')).redeemShareLink(link.token)).toMatchObject({ id: 'shared', access: 'view' })
      await until('the other node to tell', () => told.length > 0)
      expect(told).toEqual(['updated'])
      const ben = a.sync('shared', person('ben'))
      await until('ben to read', () => ben.state.synced)
      await a.rest(person('mia')).shareDocument('shared', [])
      await until('ben to be out', () => ben.state.refusal !== null)
      expect(ben.state.refusal).toBe('ERR_VIEW_FORBIDDEN')
    })

    it('[WS-54] a document deleted at one node ends for people at the other', async () => {
      await create('gone')
      const [ann, bob] = [a.sync('gone'), b.sync('gone')]
      await saved(ann, bob)
      await b.rest().deleteDocument('gone')
      await until('both to be told', () => [ann, bob].every(({ state }) => state.refusal === 'ERR_DELETED'))
      expect(await refusal(a.rest().getDocument('gone'))).toBe('NOT_FOUND')
    })

    it(
      '[LIFE-25] [LIFE-26] when the owner is killed, people of the other node keep their sockets, wait at most 5 s and lose nothing',
      async () => {
        await create('kill')
        const ann = a.sync('kill')
        await saved(ann)
        const others = [b.sync('kill'), b.sync('kill'), b.sync('kill')]
        await saved(...others)
        expect(await metric(b, 'relay_rooms', { kind: 'edge' })).toBeGreaterThan(0)
        const closes = closesOf(others)
        let made = 0
        const typing = setInterval(() => {
          for (const client of others) setShape(client, `k${made++}`)
        }, 20)
        await new Promise((resolve) => setTimeout(resolve, 500))
        const beganMs = Date.now()
        await a.kill()
        const before = made
        await until('edits to be durable again', () => others.every(({ state }) => state.saved === 'saved'), 20_000)
        const pauseMs = Date.now() - beganMs
        clearInterval(typing)
        expect(made).toBeGreaterThan(before)
        await saved(...others)
        await until('all to be equal', () => others.every((client) => sizeOf(client) === made))
        expect(await shapes(b, 'kill')).toHaveLength(made)
        expect(closes()).toBe(0)
        expect(pauseMs).toBeLessThan(patience(5_000))
        await a.restart()
        await linked(relays)
      },
      patience(60_000),
    )

    it(
      '[LIFE-28] a node that gets SIGTERM hands its documents over: sockets of the other node stay, and nothing is lost',
      async () => {
        await create('term')
        const ann = a.sync('term')
        await saved(ann)
        const others = [b.sync('term'), b.sync('term')]
        await saved(...others)
        const closes = closesOf(others)
        let made = 0
        const typing = setInterval(() => {
          for (const client of [ann, ...others]) setShape(client, `t${made++}`)
        }, 20)
        await new Promise((resolve) => setTimeout(resolve, 500))
        expect(await a.stop()).toBe(0)
        // Everything was handed over or stored before the process ended.
        expect(a.logLines.filter((line) => line.includes('"room.drain.failed"'))).toEqual([])
        await new Promise((resolve) => setTimeout(resolve, 500))
        clearInterval(typing)
        await saved(...others)
        expect(closes()).toBe(0)
        const again = b.sync('term', undefined, { doc: ann.doc })
        await saved(again)
        await until('all to be equal', () => [...others, again].every((client) => sizeOf(client) === made))
        expect(await shapes(b, 'term')).toHaveLength(made)
        expect(await metric(b, 'relay_rooms', { kind: 'owned' })).toBeGreaterThan(0)
        await a.restart()
        await linked(relays)
      },
      patience(60_000),
    )
  }),
)
