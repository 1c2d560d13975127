import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const client = () => relay.rest({ sub: 'mia', role: 'member' })

describe('RelayClient', () => {
  it('[BLOB-3] [BLOB-8] RelayClient uploads, checks and downloads a blob', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256)
    const hash = await client().uploadBlob(bytes, 'image/png')
    expect(hash).toBe(createHash('sha256').update(bytes).digest('hex'))
    const downloaded = await client().downloadBlob(hash)
    expect([downloaded.mimeType, Buffer.compare(downloaded.bytes, bytes)]).toEqual(['image/png', 0])
    expect(await client().blobInfo(hash)).toEqual({
      size: bytes.length,
      mimeType: 'image/png',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    })
    expect(await client().blobInfo('0'.repeat(64))).toBe(null)
    await expect(client().downloadBlob('0'.repeat(64))).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect((await client().usage()).blobBytes).toBe(bytes.length)
  })

  it('[LIFE-20] [REST-26] [REST-27] RelayClient captures, lists, reads and restores recovery points', async () => {
    await client().putDocument('doc', { name: 'First', extra: [1] })
    expect(await client().captureRecoveryPoint('doc')).toBe(true)
    expect(await client().captureRecoveryPoint('doc')).toBe(false)
    await client().putDocument('doc', { name: 'Second' })
    const [point] = await client().recoveryPoints('doc')
    expect(point).toEqual({
      id: expect.stringMatching(/^\d+-v1$/),
      createdAt: expect.any(Number),
      reason: 'demand',
      serverVersion: 1,
      sizeBytes: expect.any(Number),
    })
    const id = point?.id ?? ''
    expect(await client().getRecoveryPoint('doc', id)).toMatchObject({ id: 'doc', name: 'First', extra: [1] })
    const { newDocId, serverVersion } = await client().restoreRecoveryPoint('doc', id)
    expect(serverVersion).toBe(1)
    expect(await client().getDocument(newDocId)).toMatchObject({ name: 'First (Restored)', restoredFrom: 'doc' })
    await expect(client().getDocument('doc')).rejects.toMatchObject({ status: 404 })
  })
})
