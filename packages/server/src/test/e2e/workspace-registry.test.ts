import { RelayError } from '@docrelay/client/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'

let relay: RelayUnderTest
let workspaces = 0
const workspace = () => `ws-${++workspaces}`
const conflictOf = (outcome: PromiseSettledResult<unknown>) =>
  outcome.status === 'rejected' && outcome.reason instanceof RelayError ? outcome.reason : null

describe.each(await storesUnderTest())('collections and style profiles of a workspace, on $name', ({ env, remove }) => {
  beforeAll(async () => {
    relay = await startRelayUnderTest({ env: { RELAY_TENANCY_MODE: 'shared', RELAY_MAX_CONFIG_BYTES: '50000', ...env } })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await remove()
  })

  it('[R-9] R-9: of sixteen PUTs of collections with one expectedVersion one wins, and each 409 has the stored collections', async () => {
    const ws = workspace()
    const clients = Array.from({ length: 16 }, (_, i) => relay.rest({ sub: `p${i}`, role: 'member', workspace: ws }))
    for (let version = 0; version < 3; version++) {
      const outcomes = await Promise.allSettled(
        clients.map((client, i) => client.putCollections([{ id: `c${i}`, name: `round ${version}` }], version)),
      )
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled')
      const stored = {
        collections: [{ id: `c${winner}`, name: `round ${version}`, color: '#808080', order: 0 }],
        version: version + 1,
      }
      const conflicts = outcomes.map(conflictOf).filter((conflict) => conflict !== null)
      expect(conflicts).toHaveLength(15)
      for (const { code, details } of conflicts) {
        expect([code, details]).toMatchObject(['VERSION_CONFLICT', { currentVersion: version + 1, ...stored }])
      }
      expect(await clients[0]?.collections()).toEqual(stored)
    }
  })

  it('[LIFE-3] [REST-25] [REST-32] registries and their versions survive kill -9, separately for each workspace', async () => {
    const [ws, other] = [workspace(), workspace()]
    const client = () => relay.rest({ role: 'member', workspace: ws })
    const profile = { id: 'p', name: 'Bold', properties: { weight: 700 }, createdAt: 5, icon: '★' }
    await client().putCollections([{ id: 'old', name: 'Old' }])
    const sent = [
      { id: 'b', name: 'B', order: 2 },
      { id: 'a', name: 'A', color: 'red', order: 1, icon: 'x' },
      { id: 'b', name: 'twice' },
    ]
    expect(await client().putCollections(sent, 1)).toEqual({ success: true, newVersion: 2 })
    expect(await client().putStyleProfiles([profile], 0)).toEqual({ success: true, newVersion: 1 })
    const { configBytes } = await client().usage()
    await relay.kill()
    await relay.restart()
    expect(await client().collections()).toEqual({
      collections: [
        { id: 'a', name: 'A', color: 'red', order: 1, icon: 'x' },
        { id: 'b', name: 'B', order: 2, color: '#808080' },
      ],
      version: 2,
    })
    expect(await client().styleProfiles()).toEqual({ profiles: [profile], version: 1 })
    expect((await client().usage()).configBytes).toBe(configBytes)
    const foreign = relay.rest({ role: 'owner', workspace: other })
    expect(await foreign.collections()).toEqual({ collections: [], version: 0 })
    expect((await foreign.usage()).configBytes).toBe(0)
  })

  it('[REST-14] max_config_bytes limits collections and style profiles together', async () => {
    const client = relay.rest({ role: 'member', workspace: workspace() })
    const profiles = ['a', 'b', 'c'].map((id) => ({ id, name: id, properties: { x: 'x'.repeat(15_000) }, createdAt: 1 }))
    await client.putStyleProfiles(profiles)
    const refused = await client.putCollections([{ id: 'c', name: 'C', note: 'x'.repeat(6000) }]).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 507, code: 'CONFIG_TOO_LARGE', details: { maxBytes: 50_000 } })
    await client.putStyleProfiles([])
    await client.putCollections([{ id: 'c', name: 'C', note: 'x'.repeat(6000) }])
  })

  it('[REST-28] [LIFE-11] usage counts joined editors, and a collection shows documents edited live', async () => {
    const ws = workspace()
    const as = { sub: 'mia', role: 'member', workspace: ws }
    const client = relay.rest(as)
    await client.putDocument('live', { name: 'Before', collectionId: 'plans' })
    await client.putDocument('loose', { name: 'Loose' })
    const quiet = await client.usage()
    expect(quiet).toMatchObject({ activeEditors: 0, blobBytes: 0, storageQuota: null, maxDocBytes: null, editorLimit: null })
    const editor = relay.sync('live', as)
    await saved(editor)
    expect((await client.usage()).activeEditors).toBe(1)
    editor.doc.getMap('metadata').set('title', 'After, and longer')
    await saved(editor)
    const listed = await client.listCollection('plans')
    expect(listed.map(({ id, title }) => [id, title])).toEqual([['live', 'After, and longer']])
    const { docBytes, storageBytes } = await client.usage()
    expect(docBytes).toBeGreaterThan(quiet.docBytes)
    expect(storageBytes).toBe(docBytes)
    editor.destroy()
    await until('the seat to be free', async () => (await client.usage()).activeEditors === 0)
    expect(await relay.rest({ ...as, sub: 'ann' }).listCollection('plans')).toEqual([])
  })
})
