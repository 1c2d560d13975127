import { randomUUID } from 'node:crypto'
import { describe, expect, it, type TestContext } from 'vitest'
import type { OpenBlobStore } from './blob-store.contract.ts'
import type { DirectTransfer } from './blob-store.port.ts'
import { collected, hashOf, keepBytes, someBytes } from './testing/blob-bytes.ts'

const TTL_SECS = 600

/** Registers the contract of direct transfer. Its tests are skipped for a store without `direct`. */
export function describeDirectTransferContract(opened: () => OpenBlobStore): void {
  describe('direct transfer', () => {
    const fresh = (length = 1_000) => someBytes(length, Number.parseInt(randomUUID().slice(0, 8), 16))
    const stagingKey = () => randomUUID().replaceAll('-', '')
    const directOf = (context: TestContext): DirectTransfer => {
      const { direct } = opened().store
      if (direct === null) return context.skip('this store has no direct transfer')
      return direct
    }
    const uploadUrl = (direct: DirectTransfer, key: string, bytes: Uint8Array, mimeType = 'image/png') =>
      direct.uploadUrl({
        stagingKey: key,
        hash: hashOf(bytes),
        sizeBytes: bytes.byteLength,
        mimeType,
        ttlSecs: TTL_SECS,
        nowMs: Date.now(),
      })
    const put = async (
      { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
      bytes: Uint8Array,
    ) => (await fetch(url, { method: 'PUT', headers, body: bytes as Uint8Array<ArrayBuffer> })).status
    /** Stages an object as a client does. */
    const stage = async (direct: DirectTransfer, bytes: Uint8Array): Promise<string> => {
      const key = stagingKey()
      expect(await put(await uploadUrl(direct, key, bytes), bytes)).toBe(200)
      return key
    }

    it('[BLOB-10] [BLOB-12] a PUT to an upload URL stages bytes that are no blob until promoted', async (context) => {
      const direct = directOf(context)
      const bytes = fresh(200_000)
      const hash = hashOf(bytes)
      const key = await stage(direct, bytes)
      expect(await opened().store.size(hash)).toBeNull()
      expect(await direct.inspect(key, null)).toEqual({ kind: 'object', hash, sizeBytes: 200_000 })
      expect(await direct.promote(key, hash, 'image/png')).toBe('promoted')
      await direct.removeStaged(key)
      expect(await collected(await opened().store.read(hash, null))).toEqual(bytes)
      expect(await direct.inspect(key, null)).toEqual({ kind: 'missing' })
    })

    it('[BLOB-24] staged bytes are promoted only to a name with their hash, independently of other objects with that hash', async (context) => {
      const direct = directOf(context)
      const bytes = fresh()
      const hash = hashOf(bytes)
      const former = await keepBytes(opened().store, bytes)
      const key = await stage(direct, bytes)
      await direct.inspect(key, null)
      expect(await direct.promote(key, `${hashOf(fresh())}.00000001`, 'image/png')).toBe('changed')
      expect(await direct.promote(key, `${hash}.00000001`, 'image/png')).toBe('promoted')
      await opened().store.remove(former)
      expect(await collected(await opened().store.read(`${hash}.00000001`, null))).toEqual(bytes)
      expect(await direct.isIntact(`${hash}.00000001`, bytes.byteLength)).toBe(true)
      expect(await direct.isIntact(former, bytes.byteLength)).toBe(false)
      await direct.removeStaged(key)
    })

    it('[BLOB-10] an upload URL is valid for one type, length and key only', async (context) => {
      const direct = directOf(context)
      const bytes = fresh()
      const upload = await uploadUrl(direct, stagingKey(), bytes)
      const otherType = Object.fromEntries(
        Object.entries(upload.headers).map(([name, value]) => [
          name,
          name.toLowerCase() === 'content-type' ? 'text/html' : value,
        ]),
      )
      expect(await put({ url: upload.url, headers: otherType }, bytes)).toBeGreaterThanOrEqual(400)
      expect(await put(upload, fresh(1_001))).toBeGreaterThanOrEqual(400)
      const otherKey = upload.url.replace(new URL(upload.url).pathname, `${new URL(upload.url).pathname}x`)
      expect(await put({ url: otherKey, headers: upload.headers }, bytes)).toBeGreaterThanOrEqual(400)
      expect(await put(upload, bytes)).toBe(200)
    })

    it('[BLOB-11] inspect reports the staged bytes by their hash, an object that is too large, and a missing one', async (context) => {
      const direct = directOf(context)
      const bytes = fresh()
      const key = await stage(direct, bytes)
      expect(await direct.inspect(key, 1_000)).toEqual({ kind: 'object', hash: hashOf(bytes), sizeBytes: 1_000 })
      expect(await direct.inspect(key, 999)).toEqual({ kind: 'too-large', sizeBytes: 1_000 })
      expect(await direct.inspect(stagingKey(), null)).toEqual({ kind: 'missing' })
      await direct.removeStaged(key)
      await direct.removeStaged(key)
      expect(await direct.inspect(key, null)).toEqual({ kind: 'missing' })
    })

    it('[BLOB-12] a staged object that was replaced after its inspection is not promoted', async (context) => {
      const direct = directOf(context)
      const [first, second] = [fresh(), fresh()]
      const key = await stage(direct, first)
      await direct.inspect(key, null)
      expect(await put(await uploadUrl(direct, key, second), second)).toBe(200)
      expect(await direct.promote(key, hashOf(first), 'image/png')).toBe('changed')
      expect(await opened().store.size(hashOf(first))).toBeNull()
    })

    it('[BLOB-12] an upload URL cannot change a promoted blob', async (context) => {
      const direct = directOf(context)
      const bytes = fresh()
      const key = stagingKey()
      const upload = await uploadUrl(direct, key, bytes)
      await put(upload, bytes)
      await direct.inspect(key, null)
      await direct.promote(key, hashOf(bytes), 'image/png')
      await direct.removeStaged(key)
      await put(upload, fresh())
      expect(await collected(await opened().store.read(hashOf(bytes), null))).toEqual(bytes)
      await direct.removeStaged(key)
    })

    it('[BLOB-12] objects staged after their upload ended are removed by age, a limited number at a time', async (context) => {
      const direct = directOf(context)
      const bytes = fresh()
      const keys = [await stage(direct, bytes), await stage(direct, bytes), await stage(direct, bytes)]
      const left = async () => {
        const found = await Promise.all(keys.map((key) => direct.inspect(key, null)))
        return found.filter(({ kind }) => kind === 'object').length
      }
      await direct.removeStagedBefore(Date.now() - 60_000, 100)
      expect(await left()).toBe(3)
      expect(await direct.removeStagedBefore(Date.now() + 60_000, 1)).toBe(1)
      while ((await direct.removeStagedBefore(Date.now() + 60_000, 100)) > 0);
      expect(await left()).toBe(0)
    })

    it('[BLOB-9] a download URL answers the bytes with the type and disposition for which it was made', async (context) => {
      const direct = directOf(context)
      const bytes = fresh()
      const hash = await keepBytes(opened().store, bytes)
      const download = (attachment: boolean, mimeType: string) =>
        direct.downloadUrl({ object: hash, mimeType, attachment, ttlSecs: TTL_SECS, nowMs: Date.now() })
      const inline = await fetch(await download(false, 'image/png'))
      expect([inline.status, inline.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(inline.headers.get('content-disposition') ?? '').not.toContain('attachment')
      expect(new Uint8Array(await inline.arrayBuffer())).toEqual(bytes)
      const attached = await fetch(await download(true, 'image/svg+xml'))
      expect(attached.headers.get('content-type')).toBe('image/svg+xml')
      expect(attached.headers.get('content-disposition')).toMatch(/^attachment/)
    })

    it('[BLOB-9] a download URL expires', async (context) => {
      const direct = directOf(context)
      const hash = await keepBytes(opened().store, fresh())
      const nowMs = Date.now() - 3_600_000
      const url = await direct.downloadUrl({ object: hash, mimeType: 'image/png', attachment: false, ttlSecs: 60, nowMs })
      expect((await fetch(url)).status).toBe(403)
    })
  })
}
