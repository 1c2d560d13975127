import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aGrant, granted } from '../blobs/testing/ledger-requests.ts'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({ limits: { storageQuotaBytes: 9000, maxEditorsPerWorkspace: 4 } })
})
afterAll(() => relay[Symbol.asyncDispose]())

const usage = (workspace: string, claims: Record<string, unknown> = {}) =>
  relay.call('GET', '/api/v1/usage', { as: { sub: 'vic', wsp: [{ id: workspace, role: 'viewer', ...claims }] } })

describe('GET /api/v1/usage', () => {
  it('[REST-28] [REST-10] usage begins at zero for any role, with the configured limits, and must not be cached', async () => {
    const answer = await usage('empty')
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(answer.json).toEqual({
      storageBytes: 0,
      docBytes: 0,
      blobBytes: 0,
      configBytes: 0,
      storageQuota: 9000,
      maxDocBytes: null,
      activeEditors: 0,
      editorLimit: 4,
      connections: 0,
      connectionLimit: 25,
      writes: { perSecond: 40, burst: 80, left: 80 },
      sources: { storageQuota: 'config', maxDocBytes: 'config', editorLimit: 'config' },
    })
    const refused = await relay.call('GET', '/api/v1/usage')
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([401, 'no-store'])
  })

  it('[REST-28] stored bytes, config bytes and editor seats are counted for the own workspace only, always current', async () => {
    const as = { sub: 'mia', role: 'member', workspace: 'ws' }
    const saved = await relay.call('PUT', '/api/docs/one', { as, body: { name: 'Ünïcode' } })
    await relay.call('PUT', '/api/docs/two', { as, body: {} })
    await relay.call('PUT', '/api/docs/one', { as: { ...as, workspace: 'other' }, body: { x: 'x'.repeat(500) } })
    await relay.call('PUT', '/api/collections', { as, body: { collections: [{ id: 'c', name: 'C' }] } })
    const two = await relay.call('GET', '/api/docs', { as })
    const docBytes = two.list.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0)
    expect(docBytes).toBeGreaterThan(Number(saved.json.sizeBytes))
    const hash = 'a'.repeat(64)
    await granted(relay.storage.blobs, aGrant('ws', hash, { sizeBytes: 321, sub: 'mia', nowMs: 1 }))
    for (const [connectionId, editor] of [
      ['1', true],
      ['2', true],
      ['3', false],
    ] as const) {
      await relay.seats.take({ workspaceId: 'ws', connectionId, editor }, { connections: null, editors: null })
    }
    const configBytes = JSON.stringify([{ id: 'c', name: 'C', color: '#808080', order: 0 }]).length
    expect((await usage('ws')).json).toMatchObject({
      storageBytes: docBytes + 321,
      docBytes,
      blobBytes: 321,
      configBytes,
      activeEditors: 2,
      connections: 3,
    })
    await relay.seats.release('ws', '1')
    await relay.call('DELETE', '/api/docs/two', { as })
    expect((await usage('ws')).json).toMatchObject({ docBytes: saved.json.sizeBytes, activeEditors: 1 })
  })

  it('[REST-28] the write bucket of the own workspace is shown as it is now', async () => {
    relay.rateLimiter.take('write:busy', { ratePerSec: 40, burst: 80 }, 75)
    const { left } = (await usage('busy')).json['writes'] as { readonly left: number }
    expect(left).toBeGreaterThanOrEqual(5)
    expect(left).toBeLessThan(80)
    expect((await usage('calm')).json['writes']).toEqual({ perSecond: 40, burst: 80, left: 80 })
  })

  it('[REST-28] each limit is shown with its source', async () => {
    const { sources } = (await usage('claims', { quota_bytes: 7, editor_limit: 0 })).json
    expect(sources).toEqual({ storageQuota: 'claim', maxDocBytes: 'config', editorLimit: 'claim' })
  })

  it('[LIM-1] limits of the claim are shown before configured ones, and 0 as unlimited', async () => {
    const limits = async (claims: Record<string, unknown>) => {
      const { storageQuota, maxDocBytes, editorLimit } = (await usage('claims', claims)).json
      return { storageQuota, maxDocBytes, editorLimit }
    }
    expect(await limits({ quota_bytes: 7, max_doc_bytes: 8, editor_limit: 9 })).toEqual({
      storageQuota: 7,
      maxDocBytes: 8,
      editorLimit: 9,
    })
    expect(await limits({ quota_bytes: 0, editor_limit: 0 })).toEqual({
      storageQuota: null,
      maxDocBytes: null,
      editorLimit: null,
    })
  })
})
