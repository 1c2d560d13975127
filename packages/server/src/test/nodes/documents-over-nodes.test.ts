import { TAG } from '@docrelay/protocol/frames'
import { describe, expect, it } from 'vitest'
import { rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, until } from '../relay-under-test.ts'
import { openWire, storedKeys, type WireClient } from '../wire-client.ts'
import { onNodes } from './on-nodes.ts'
import { sharedNodes } from './shared-nodes.ts'

const ANN = { sub: 'ann', role: 'member' }
const VIC = { sub: 'vic', role: 'viewer' }
const tomorrow = () => new Date(Date.now() + 86_400_000)

onNodes(await sharedNodes(), ({ relays, workspace }) =>
  describe('documents that are open at another node', () => {
    const [a, b] = relays

    const create = (id: string, more: object = {}, options = {}) => a.rest(ANN).putDocument(id, { name: id, ...more }, options)
    const enter = async (relay: RelayUnderTest, docId: string, claims = ANN): Promise<WireClient> =>
      (await openWire(relay)).enter(relay.token(claims), docId, ['ack', 'joined'])
    const joinedFrames = (client: WireClient) => client.jsonOf(TAG.joined)
    const lineageAt = async (relay: RelayUnderTest, id: string) =>
      (await relay.rest(ANN).listDocuments()).find((document) => document.id === id)?.['lineage']
    /** Returns the DOC_EVENTs of a document. */
    const told = (client: WireClient, docId: string) => client.jsonOf(TAG.docEvent).filter((event) => event['docId'] === docId)
    const statusOf = (call: Promise<unknown>) =>
      call.then(
        () => 200,
        (error: { readonly status?: number }) => error.status,
      )

    it('[WS-61] JOINED at an edge has the lineage of the owner and the level of the person, also after a change', async () => {
      const share = (permission: 'view' | 'edit') => [{ userId: 'mel', permission }]
      await create('joined', { sharedWith: share('view') })
      const ann = await enter(a, 'joined')
      await ann.write(ann.put('x'))
      const [far, mel] = [await enter(b, 'joined'), await enter(b, 'joined', { sub: 'mel', role: 'member' })]
      const [own] = joinedFrames(ann)
      expect(own).toMatchObject({ docId: 'joined', level: 'owner', lineage: expect.stringMatching(/^[\w-]{16}$/) })
      const { lineage } = own as { readonly lineage: string }
      expect([far, mel].map((client) => joinedFrames(client)[0])).toMatchObject([
        { docId: 'joined', level: 'owner', lineage },
        { docId: 'joined', level: 'view', lineage },
      ])
      expect([await lineageAt(a, 'joined'), await lineageAt(b, 'joined')]).toEqual([lineage, lineage])
      await a.rest(ANN).shareDocument('joined', share('edit'))
      await until('the new level', () => joinedFrames(mel).length > 1)
      expect(joinedFrames(mel)[1]).toEqual({ docId: 'joined', level: 'edit' })
      await mel.write(mel.put('y'))
      await until('her words at the owner', () => ann.has('y'))
    })

    it('[WS-62] an edge refuses a copy of a deleted document for the new one, with and without a named lineage', async () => {
      await create('again')
      const [named, nameless] = [await enter(b, 'again'), await enter(b, 'again')]
      const [joined] = joinedFrames(named)
      await nameless.write(nameless.put('old'))
      await until('the words to be there', () => named.has('old'))
      await b.rest(ANN).deleteDocument('again')
      await create('again', {}, { overrideTombstone: true })
      const fresh = await enter(a, 'again')
      await fresh.write(fresh.put('new'))
      named.joinLineage('again', joined?.['lineage'])
      await until('the refusal by lineage', () => named.errors().some(({ code }) => code === 'ERR_LINEAGE'))
      expect(named.errors().at(-1)).toMatchObject({ code: 'ERR_LINEAGE', lineage: await lineageAt(b, 'again') })
      nameless.join('again')
      nameless.step1()
      await until('the refusal of old words', () =>
        nameless.errors().some(({ code, frame }) => code === 'ERR_DELETED' && frame === 1),
      )
      await fresh.write(fresh.put('newer'))
      expect(await storedKeys(b, 'again', workspace)).toEqual(['new', 'newer'])
      expect(fresh.keys()).toEqual(['new', 'newer'])
    })

    it('[SHARE-3] [SHARE-4] a share link of one node is listed, redeemed and withdrawn at the other, then refused at both', async () => {
      await create('linked')
      const link = await a.rest(ANN).issueShareLink('linked', tomorrow())
      expect(await b.rest(ANN).listShareLinks('linked')).toEqual(await a.rest(ANN).listShareLinks('linked'))
      expect(await b.rest(VIC).redeemShareLink(link.token)).toMatchObject({ id: 'linked', access: 'view' })
      expect(await a.rest(VIC).getDocument('linked')).toMatchObject({ name: 'linked' })
      await b.rest(ANN).revokeShareLink('linked', link.id)
      const late = { sub: 'late', role: 'viewer' }
      expect([
        await statusOf(a.rest(late).redeemShareLink(link.token)),
        await statusOf(b.rest(late).redeemShareLink(link.token)),
      ]).toEqual([404, 404])
      expect([await a.rest(ANN).listShareLinks('linked'), await b.rest(ANN).listShareLinks('linked')]).toEqual([[], []])
    })

    it('[WS-54] a deletion at an edge is one event for each connection of each node', async () => {
      await create('told')
      const clients = [await enter(a, 'told'), await enter(b, 'told'), await enter(a, 'told'), await enter(b, 'told')]
      await b.rest(ANN).deleteDocument('told')
      await until('all to be told', () =>
        clients.every((client) => told(client, 'told').some(({ eventType }) => eventType === 'deleted')),
      )
      // Later changes through the same feed show that the deletion causes no further event.
      for (const relay of relays) await relay.rest(ANN).putDocument(`after-${relay === a ? 'a' : 'b'}`, { name: 'after' })
      await until('all to be told of what came after', () =>
        clients.every((client) => told(client, 'after-a').length > 0 && told(client, 'after-b').length > 0),
      )
      // The event of the creation may come late.
      const endsOf = (client: (typeof clients)[number]) =>
        told(client, 'told')
          .map(({ eventType }) => eventType)
          .filter((type) => type !== 'created')
      for (const client of clients) expect(endsOf(client)).toEqual(['deleted'])
    })

    it('[LIFE-19] [WS-63] a recovery point taken and restored at an edge has all words, and both nodes name the successor', async () => {
      await create('restored')
      const [ann, bob] = [await enter(a, 'restored'), await enter(b, 'restored')]
      await ann.write(ann.put('first'))
      expect(await b.rest(ANN).captureRecoveryPoint('restored')).toBe(true)
      const points = await b.rest(ANN).recoveryPoints('restored')
      expect(await a.rest(ANN).recoveryPoints('restored')).toEqual(points)
      await ann.write(ann.put('second'))
      const newest = points.toSorted((one, other) => one.serverVersion - other.serverVersion).at(-1)
      const { newDocId } = await b.rest(ANN).restoreRecoveryPoint('restored', newest?.id ?? '')
      for (const client of [ann, bob]) {
        // The event of the creation may come late.
        const ends = () => told(client, 'restored').filter(({ eventType }) => eventType !== 'created')
        await until('the deletion to be told', () => ends().length > 0)
        expect(ends()).toMatchObject([{ eventType: 'deleted', successor: newDocId }])
        client.join('restored')
        await until('the refusal of the old id', () => client.errors().some(({ successor }) => successor === newDocId))
      }
      for (const relay of relays) {
        const gone = await rawHttp(relay, { as: ANN })('GET', '/api/docs/restored')
        expect([gone.status, gone.json]).toMatchObject([404, { successor: newDocId }])
        expect(await storedKeys(relay, newDocId, workspace)).toEqual(['first'])
      }
      const [here, there] = [await enter(b, newDocId), await enter(a, newDocId)]
      await there.write(there.put('third'))
      await until('the words of the other node', () => here.has('third'))
    })
  }),
)
