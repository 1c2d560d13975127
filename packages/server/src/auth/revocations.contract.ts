import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RevocationStore } from './revocations.port.ts'

export interface OpenRevocationStore extends AsyncDisposable {
  readonly revocations: RevocationStore
  /** Closes everything and opens it again, as a restart does. */
  reopen(): Promise<void>
  /** Forgets all entries and the cursor. */
  clear(): Promise<void>
}

/** Registers the tests that every driver of `RevocationStore` passes. */
export function describeRevocationStoreContract(name: string, open: () => Promise<OpenRevocationStore>): void {
  describe(`RevocationStore: ${name}`, () => {
    let store: OpenRevocationStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())
    beforeEach(() => store.clear())
    const entry = (jti: string, revokedAtMs: number) => ({ jti, revokedAtMs })

    it('[AUTH-14] entries and cursor survive a restart', async () => {
      expect([await store.revocations.all(), await store.revocations.cursor()]).toEqual([[], null])
      const odd = entry('odd \0 \ud800 \\', 3)
      await store.revocations.add([entry('b', 2), entry('a', 1), odd], { cursor: '2026-11-21T10:00:00.000Z', keep: 10 })
      await store.reopen()
      expect(await store.revocations.all()).toEqual([entry('a', 1), entry('b', 2), odd])
      expect(await store.revocations.cursor()).toBe('2026-11-21T10:00:00.000Z')
    })

    it('[AUTH-14] entries without a cursor keep the cursor, and a cursor without entries moves it', async () => {
      await store.revocations.add([], { cursor: 'one', keep: 10 })
      await store.revocations.add([entry('a', 1)], { keep: 10 })
      expect(await store.revocations.cursor()).toBe('one')
      await store.revocations.add([], { cursor: 'two', keep: 10 })
      expect([await store.revocations.cursor(), await store.revocations.all()]).toEqual(['two', [entry('a', 1)]])
    })

    it('[AUTH-16] a repeated entry keeps its earliest time, within one call and over several', async () => {
      await store.revocations.add([entry('a', 5), entry('a', 3), entry('a', 9)], { keep: 10 })
      await store.revocations.add([entry('a', 4)], { keep: 10 })
      expect(await store.revocations.all()).toEqual([entry('a', 3)])
      await store.revocations.add([entry('a', 2)], { keep: 10 })
      expect(await store.revocations.all()).toEqual([entry('a', 2)])
    })

    it('[AUTH-16] above the limit the oldest entries are removed, also in a call of thousands', async () => {
      const many = Array.from({ length: 2500 }, (_, i) => entry(`jti-${i}`, i))
      await store.revocations.add(many, { keep: 2000 })
      expect(await store.revocations.all()).toEqual(many.slice(500))
      await store.revocations.add([entry('new', 9999)], { keep: 2 })
      expect(await store.revocations.all()).toEqual([entry('jti-2499', 2499), entry('new', 9999)])
    })

    it('[AUTH-14] entries of simultaneous calls are all stored', async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.revocations.add([entry(`j${i}`, i), entry('same', i)], { keep: 100 })),
      )
      expect(await store.revocations.all()).toHaveLength(21)
      expect(await store.revocations.all()).toContainEqual(entry('same', 0))
    })
  })
}
