import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeDirectTransferContract } from './blob-store-direct.contract.ts'
import type { BlobStore } from './blob-store.port.ts'
import { collected, hashOf, inPieces, keepBytes, receiveBytes, someBytes } from './testing/blob-bytes.ts'

export interface OpenBlobStore extends AsyncDisposable {
  readonly store: BlobStore
  /** Names of all files or objects, readable as blobs or not. */
  everything(): Promise<readonly string[]>
  /** Opens the same store again, as a restart does: uploads in progress are forgotten, and nothing is removed. */
  reopen(): Promise<void>
}

/** Registers the contract of every driver of `BlobStore`. */
export function describeBlobStoreContract(name: string, open: () => Promise<OpenBlobStore>): void {
  describe(`BlobStore: ${name}`, () => {
    let opened: OpenBlobStore
    const store = () => opened.store
    const fresh = (length = 1_000) => someBytes(length, Number.parseInt(randomUUID().slice(0, 8), 16))
    /** Returns by how many files or objects `action` changed their number. */
    const changes = async (action: () => Promise<unknown>): Promise<number> => {
      const before = (await opened.everything()).length
      await action()
      return (await opened.everything()).length - before
    }

    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened[Symbol.asyncDispose]())

    describe('receiving', () => {
      it('[BLOB-3] received bytes are named by their hash and readable only after keep, also after a restart', async () => {
        const bytes = fresh(300_000)
        const received = await receiveBytes(store(), bytes)
        expect(received).toMatchObject({ hash: hashOf(bytes), sizeBytes: 300_000 })
        expect([await store().size(received.hash), await store().read(received.hash, null)]).toEqual([null, null])
        await received.keep(received.hash, 'image/png')
        await opened.reopen()
        expect(await store().size(received.hash)).toBe(300_000)
        expect(await collected(await store().read(received.hash, null))).toEqual(bytes)
      })

      it('[BLOB-3] a store receives blobs of zero bytes, of one byte, and of one piece longer than any buffer', async () => {
        for (const length of [0, 1, 65_536, 3_000_001]) {
          const bytes = fresh(length)
          const received = await store().receive(inPieces(bytes, 2_500_000), () => {})
          await received.keep(received.hash, 'application/octet-stream')
          expect(received.hash).toBe(hashOf(bytes))
          expect(await collected(await store().read(received.hash, null))).toEqual(bytes)
        }
      })

      it('[BLOB-3] discarded bytes leave nothing, and ending an upload twice is no error', async () => {
        const left = await changes(async () => {
          const received = await receiveBytes(store(), fresh())
          await received.discard()
          await received.discard()
          expect(await store().size(received.hash)).toBeNull()
        })
        expect(left).toBe(0)
      })

      it('[BLOB-3] discarding a second copy of stored bytes keeps the first copy readable', async () => {
        const bytes = fresh()
        const hash = await keepBytes(store(), bytes)
        const left = await changes(async () => {
          expect(await keepBytes(store(), bytes)).toBe(hash)
          await (await receiveBytes(store(), bytes)).discard()
        })
        expect(left).toBe(0)
        expect(await collected(await store().read(hash, null))).toEqual(bytes)
      })

      it('[Q2] the byte count is reported before more is read, and a refusal ends the source and leaves no file', async () => {
        const counts: number[] = []
        let ended = false
        async function* source() {
          try {
            for await (const piece of inPieces(fresh(1_000), 100)) yield piece
          } finally {
            ended = true
          }
        }
        const refusal = new Error('no more')
        const left = await changes(() =>
          expect(
            store().receive(source(), async (total) => {
              await new Promise((resolve) => setTimeout(resolve, 1))
              counts.push(total)
              if (total >= 400) throw refusal
            }),
          ).rejects.toBe(refusal),
        )
        expect([counts, ended, left]).toEqual([[100, 200, 300, 400], true, 0])
      })

      it('[BLOB-3] a source that fails leaves no bytes in the store, and its error is passed on', async () => {
        const failure = new Error('the client went away')
        async function* source() {
          yield fresh(200_000)
          throw failure
        }
        expect(await changes(() => expect(store().receive(source(), () => {})).rejects.toBe(failure))).toBe(0)
      })

      it('[R-7] sixteen simultaneous uploads of one blob leave it stored once and complete', async () => {
        const bytes = fresh(200_000)
        const left = await changes(async () => {
          await Promise.all(
            Array.from({ length: 16 }, async (_, i) => {
              const received = await receiveBytes(store(), bytes)
              await (i % 2 === 0 ? received.keep(received.hash, 'image/png') : received.discard())
            }),
          )
        })
        expect(left).toBe(1)
        expect(await collected(await store().read(hashOf(bytes), null))).toEqual(bytes)
      })

      it('[BLOB-3] `clearAbandoned` removes the bytes that an ended process was receiving, and no blob', async () => {
        const kept = await keepBytes(store(), fresh())
        const before = await opened.everything()
        await receiveBytes(store(), fresh(2_000))
        await opened.reopen()
        await store().clearAbandoned()
        expect((await opened.everything()).toSorted()).toEqual(before.toSorted())
        expect(await store().size(kept)).toBe(1_000)
      })
    })

    describe('reading', () => {
      it('[BLOB-7] ranges of bytes are read with first and last included', async () => {
        const bytes = fresh(700_000)
        const hash = await keepBytes(store(), bytes)
        for (const [start, end] of [
          [0, 0],
          [0, 699_999],
          [699_999, 699_999],
          [1, 2],
          [65_535, 65_536],
          [100_000, 600_000],
        ] as const) {
          expect(await collected(await store().read(hash, { start, end }))).toEqual(bytes.slice(start, end + 1))
        }
      })

      it('[BLOB-6] reading a missing blob gives null', async () => {
        const hash = hashOf(fresh())
        expect([await store().size(hash), await store().read(hash, null)]).toEqual([null, null])
        expect(await store().read(hash, { start: 0, end: 9 })).toBeNull()
      })

      it('[BLOB-7] readers of a blob may stop early or never begin, any number of times', async () => {
        const hash = await keepBytes(store(), fresh(2_000_000))
        for (let i = 0; i < 50; i++) {
          for await (const piece of (await store().read(hash, null)) ?? []) {
            expect(piece.byteLength).toBeGreaterThan(0)
            break
          }
          const unread = (await store().read(hash, null))?.[Symbol.asyncIterator]()
          await unread?.return?.()
        }
        expect(await store().size(hash)).toBe(2_000_000)
      })

      it('[BLOB-3] `check` resolves while the store works', async () => {
        await expect(store().check()).resolves.toBeUndefined()
      })
    })

    describe('removing and listing', () => {
      it('[BLOB-15] a removed blob is gone, and removing it again is no error', async () => {
        const hash = await keepBytes(store(), fresh())
        expect(await changes(() => store().remove(hash))).toBe(-1)
        await store().remove(hash)
        await opened.reopen()
        expect([await store().size(hash), await store().read(hash, null)]).toEqual([null, null])
      })

      it('[BLOB-15] a removed blob can be stored again', async () => {
        const bytes = fresh()
        const hash = await keepBytes(store(), bytes)
        await store().remove(hash)
        await keepBytes(store(), bytes)
        expect(await collected(await store().read(hash, null))).toEqual(bytes)
      })

      it('[BLOB-24] several objects of one hash are stored, read, listed and removed independently', async () => {
        const bytes = fresh()
        const plain = hashOf(bytes)
        const [one, two] = [`${plain}.00000001`, `${plain}.fedcba98`]
        for (const object of [plain, one, two]) await keepBytes(store(), bytes, object)
        await store().remove(one)
        await store().remove(one)
        await opened.reopen()
        expect([await store().size(one), await store().read(one, null)]).toEqual([null, null])
        for (const object of [plain, two]) expect(await collected(await store().read(object, null))).toEqual(bytes)
        const listed: unknown[] = []
        for await (const found of store().list()) if (found.hash === plain) listed.push(found)
        const found = (object: string) => ({ object, hash: plain, sizeBytes: bytes.byteLength })
        expect(listed).toEqual(expect.arrayContaining([found(plain), found(two)]))
        expect(listed).toHaveLength(2)
      })

      it('[OPS-11] every blob is listed with its size, without unfinished uploads', async () => {
        const hashes = await Promise.all([10, 20, 30].map(async (length) => [await keepBytes(store(), fresh(length)), length]))
        const arriving = await receiveBytes(store(), fresh(40))
        const listed = new Map<string, number>()
        for await (const { object, sizeBytes } of store().list()) {
          expect(listed.has(object)).toBe(false)
          listed.set(object, sizeBytes)
        }
        expect(hashes.map(([hash]) => listed.get(hash as string))).toEqual([10, 20, 30])
        expect(listed.has(arriving.hash)).toBe(false)
        await arriving.discard()
      })
    })

    describeDirectTransferContract(() => opened)
  })
}
