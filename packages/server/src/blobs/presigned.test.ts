import { describe, expect, it } from 'vitest'
import type { DirectTransfer } from './blob-store.port.ts'
import { hashOf, someBytes } from './testing/blob-bytes.ts'
import { type BlobWorkspace, type BlobWorkspaceOptions, callerOf, refusalOf } from './testing/blob-workspace.ts'
import { blobWorkspaces } from './testing/blob-workspaces.ts'
import { type DirectStore, directStore } from './testing/direct-store.ts'

const HOUR_MS = 3_600_000
interface Presigning extends BlobWorkspace {
  readonly direct: DirectStore
  /** Requests an upload URL, puts `bytes` there and returns the staging key. */
  put(access: typeof ann, hash: string, bytes: Uint8Array, declared?: number): Promise<string>
}
const openWorkspace = blobWorkspaces()
const open = async (options: BlobWorkspaceOptions = {}): Promise<Presigning> => {
  let direct: DirectStore | undefined
  const workspace = await openWorkspace({ ...options, store: (files) => (direct = directStore(files)).store })
  if (direct === undefined) throw new Error('no store')
  const { staged } = direct
  return Object.assign(workspace, {
    direct,
    async put(access: typeof ann, hash: string, bytes: Uint8Array, declared = bytes.byteLength) {
      const ticket = await workspace.blobs.presigned.uploadUrl(access, { hash, sizeBytes: declared, mimeType: 'image/png' })
      if (ticket === 'exists') throw new Error('exists')
      staged.set(ticket.key, bytes)
      return ticket.key
    },
  })
}
const ann = callerOf()
const bytes = someBytes(1_000)
const hash = hashOf(bytes)
const asked = { hash, sizeBytes: 1_000, mimeType: 'image/png' }

describe('upload-url', () => {
  it('[BLOB-10] upload-url answers the URL, its headers and its expiry', async () => {
    const { blobs, time, ledger } = await open()
    const ticket = await blobs.presigned.uploadUrl(ann, { ...asked, mimeType: 'TEXT/HTML' })
    if (ticket === 'exists') throw new Error('exists')
    expect(ticket).toEqual({
      url: `https://store.test/${ticket.key}`,
      headers: { 'content-type': 'application/octet-stream' },
      expiresAtMs: time.clock.nowMs() + HOUR_MS,
      key: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
    })
    expect(await ledger.staged('acme', hash)).toEqual([{ id: ticket.key, workspaceId: 'acme', hash, bytes: 1_000, sub: 'ann' }])
  })

  it('[BLOB-10] upload-url checks role, size and quota in this order, and reports a held blob also over quota', async () => {
    const { blobs, upload } = await open({ settings: { maxBlobBytes: 2_000 } })
    const ask = (access: typeof ann, sizeBytes: number) =>
      refusalOf(blobs.presigned.uploadUrl(access, { hash, sizeBytes, mimeType: null }))
    const poor = callerOf({ quotaBytes: 10 })
    expect(await ask(callerOf({ role: 'viewer' }), 9_999)).toBe('EDIT_FORBIDDEN')
    expect(await ask(poor, 2_001)).toBe('BLOB_TOO_LARGE')
    expect(await ask(poor, 2_000)).toBe('STORAGE_QUOTA')
    await upload(ann, bytes)
    expect(await blobs.presigned.uploadUrl(poor, asked)).toBe('exists')
    expect(await ask(poor, 2_001)).toBe('BLOB_TOO_LARGE')
  })

  it('[BLOB-5] upload-url does not reveal blobs of another workspace', async () => {
    const { blobs, upload } = await open()
    await upload(callerOf({ workspaceId: 'other' }), bytes)
    expect(await blobs.presigned.uploadUrl(ann, asked)).toMatchObject({ key: expect.any(String) })
  })

  it('[Q2] upload-url reserves the size until the URL expires, and a repeated request only renews that', async () => {
    const { blobs, time } = await open()
    const quota = callerOf({ quotaBytes: 1_500 })
    const first = await blobs.presigned.uploadUrl(quota, asked)
    const again = await blobs.presigned.uploadUrl(quota, asked)
    expect([first, again].map((ticket) => (ticket === 'exists' ? '' : ticket.key))[0]).toBe((again as { key: string }).key)
    const other = { hash: hashOf(someBytes(600, 2)), sizeBytes: 600, mimeType: null }
    expect(await refusalOf(blobs.presigned.uploadUrl(quota, other))).toBe('STORAGE_QUOTA')
    await time.advance(HOUR_MS + 61_000)
    expect(await refusalOf(blobs.presigned.uploadUrl(quota, other))).toBe('accepted')
  })
})

describe('finalize', () => {
  it('[BLOB-11] finalize grants the uploaded bytes to the caller of upload-url and removes the staged object', async () => {
    const { blobs, put, direct, ledger, bytes: stored } = await open()
    await put(callerOf({ sub: 'bob' }), hash, bytes)
    const grant = await blobs.presigned.finalize(ann, { hash, mimeType: 'Image/GIF' })
    expect(grant).toMatchObject({ hash, sizeBytes: 1_000, mimeType: 'image/gif' })
    expect([direct.staged.size, await stored(hash), await ledger.staged('acme', hash)]).toEqual([0, bytes, []])
    const uploaders = await Promise.all(['ann', 'bob'].map((sub) => ledger.uploadedBy('acme', hash, sub)))
    expect(uploaders).toEqual([false, true])
  })

  it('[R-8] [Q4] finalize answers 404 before the PUT, afterwards the same answer each time, with one record', async () => {
    const { blobs, put, ledger } = await open()
    const finalize = () => blobs.presigned.finalize(ann, { hash, mimeType: 'image/png' })
    expect(await refusalOf(finalize())).toBe('OBJECT_NOT_UPLOADED')
    const ticket = await blobs.presigned.uploadUrl(ann, asked)
    expect(await refusalOf(finalize())).toBe('OBJECT_NOT_UPLOADED')
    expect(ticket).not.toBe('exists')
    await put(ann, hash, bytes)
    const answers = [...(await Promise.all([finalize(), finalize(), finalize()])), await finalize()]
    // The grants are equal except for the name of the object, which clients do not see.
    expect(new Set(answers.map((grant) => JSON.stringify({ ...grant, object: '' }))).size).toBe(1)
    expect(await ledger.meteredBytes('acme')).toBe(1_000)
  })

  it('[BLOB-11] [X36] uploaded bytes of another hash are refused and removed, and their reservation ends', async () => {
    const { blobs, put, direct, ledger } = await open()
    const quota = callerOf({ quotaBytes: 1_000 })
    await put(quota, hash, someBytes(1_000, 5))
    const refused = blobs.presigned.finalize(quota, { hash, mimeType: null })
    await expect(refused).rejects.toMatchObject({ code: 'HASH_MISMATCH', details: { expected: hash } })
    expect([direct.staged.size, await ledger.find('acme', hash), await ledger.staged('acme', hash)]).toEqual([0, null, []])
    await put(quota, hash, bytes)
    expect(await refusalOf(blobs.presigned.finalize(quota, { hash, mimeType: null }))).toBe('accepted')
  })

  it('[X12] an object larger than max_blob_bytes or the quota is refused by its real size and removed', async () => {
    const { blobs, put, direct, ledger, collect, files } = await open({ settings: { maxBlobBytes: 5_000 } })
    const big = someBytes(6_000)
    await put(ann, hashOf(big), big, 1)
    expect(await refusalOf(blobs.presigned.finalize(ann, { hash: hashOf(big), mimeType: null }))).toBe('BLOB_TOO_LARGE')
    const quota = callerOf({ quotaBytes: 900 })
    await put(quota, hash, bytes, 1)
    const refused = blobs.presigned.finalize(quota, { hash, mimeType: null })
    await expect(refused).rejects.toMatchObject({
      code: 'STORAGE_QUOTA',
      details: { usedBytes: 0, addedBytes: 1_000, quotaBytes: 900, source: 'claim' },
    })
    expect([direct.staged.size, await ledger.staged('acme', hash), await ledger.find('acme', hash)]).toEqual([0, [], null])
    // The store has no file, because nothing was copied.
    expect(files()).toEqual([])
    await collect()
    expect(files()).toEqual([])
  })

  it('[BLOB-12] finalize verifies an object again that was replaced during verification', async () => {
    const { blobs, put, direct, files } = await open()
    const key = await put(ann, hash, bytes)
    let looks = 0
    direct.afterInspect = () => {
      looks += 1
      if (looks === 1) direct.staged.set(key, someBytes(1_000, 8))
    }
    expect(await refusalOf(blobs.presigned.finalize(ann, { hash, mimeType: null }))).toBe('HASH_MISMATCH')
    expect([looks, files(), direct.staged.size]).toEqual([2, [], 0])
  })

  it('[BLOB-12] finalize refuses an object that changes at each of three looks', async () => {
    const { blobs, put, direct, files } = await open()
    const key = await put(ann, hash, bytes)
    let looks = 0
    direct.afterInspect = () => {
      looks += 1
      direct.staged.set(key, someBytes(1_000, 8))
    }
    const transfer = direct.store.direct as DirectTransfer
    const { promote } = transfer
    Object.assign(transfer, {
      async promote(...given: Parameters<typeof promote>) {
        const outcome = await promote(...given)
        direct.staged.set(key, bytes)
        return outcome
      },
    })
    expect(await refusalOf(blobs.presigned.finalize(ann, { hash, mimeType: null }))).toBe('HASH_MISMATCH')
    expect([looks, files(), direct.staged.size]).toEqual([3, [], 0])
  })

  it('[PERM-3] [BLOB-5] viewers cannot finalize, and nobody can finalize an upload of another workspace', async () => {
    const { blobs, put } = await open()
    await put(ann, hash, bytes)
    const finalize = (access: typeof ann) => refusalOf(blobs.presigned.finalize(access, { hash, mimeType: null }))
    expect(await finalize(callerOf({ role: 'viewer' }))).toBe('EDIT_FORBIDDEN')
    expect(await finalize(callerOf({ workspaceId: 'other' }))).toBe('OBJECT_NOT_UPLOADED')
  })
})

describe('download-url', () => {
  it('[BLOB-13] download-url answers 404 without a grant, and a link to the uploader, the workspace owner and readers of a referencing document', async () => {
    let mayRead = false
    const { blobs, upload, ledger, time } = await open({ deps: { readers: { mayRead: () => Promise.resolve(mayRead) } } })
    const ask = (access: typeof ann) => refusalOf(blobs.downloadUrl(access, hash))
    expect(await ask(ann)).toBe('NOT_FOUND')
    await upload(ann, bytes)
    const bob = callerOf({ sub: 'bob' })
    expect([await ask(ann), await ask(callerOf({ sub: 'eve', role: 'owner' })), await ask(bob)]).toEqual([
      'accepted',
      'accepted',
      'NOT_FOUND',
    ])
    mayRead = true
    expect(await blobs.downloadUrl(bob, hash)).toEqual({
      url: `https://store.test/blobs/${(await ledger.find('acme', hash))?.object}`,
      expiresAtMs: time.clock.nowMs() + HOUR_MS,
    })
    expect(await ask(callerOf({ workspaceId: 'other' }))).toBe('NOT_FOUND')
  })

  it('[BLOB-13] without private blobs every caller of the workspace gets a link', async () => {
    const { blobs, upload } = await open({ settings: { enforcePrivateDocs: false } })
    await upload(ann, bytes)
    expect(await refusalOf(blobs.downloadUrl(callerOf({ sub: 'bob', role: 'viewer' }), hash))).toBe('accepted')
  })

  it('[BLOB-9] a download link fixes type and disposition', async () => {
    const { blobs, upload, direct } = await open()
    const svg = await upload(ann, someBytes(10, 1), { mimeType: 'image/svg+xml' })
    const png = await upload(ann, someBytes(10, 2), { mimeType: 'image/png' })
    for (const each of [svg, png]) {
      expect(await blobs.deliver(await blobs.find(ann, each))).toMatchObject({ kind: 'redirect' })
      await blobs.downloadUrl(ann, each)
    }
    expect(direct.links.map(({ mimeType, attachment }) => [mimeType, attachment])).toEqual([
      ['image/svg+xml', true],
      ['image/svg+xml', true],
      ['image/png', false],
      ['image/png', false],
    ])
  })
})

it('[BLOB-10] [BLOB-11] [BLOB-13] on disk presigned verbs are refused right after the check of the role', async () => {
  const { blobs, upload } = await openWorkspace()
  await upload(ann, bytes)
  const verbs = (access: typeof ann) =>
    Promise.all([
      refusalOf(blobs.presigned.uploadUrl(access, { ...asked, sizeBytes: Number.MAX_SAFE_INTEGER })),
      refusalOf(blobs.presigned.finalize(access, { hash, mimeType: null })),
      refusalOf(blobs.downloadUrl(access, hash)),
      refusalOf(blobs.downloadUrl(access, hashOf(someBytes(3)))),
    ])
  expect(await verbs(ann)).toEqual(Array(4).fill('PRESIGN_UNSUPPORTED'))
  expect((await verbs(callerOf({ role: 'viewer' }))).slice(0, 2)).toEqual(['EDIT_FORBIDDEN', 'EDIT_FORBIDDEN'])
})
