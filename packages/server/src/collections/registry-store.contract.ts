import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RegistryStore, RegistryWrite } from './registry-store.port.ts'

export interface OpenRegistryStore extends AsyncDisposable {
  readonly registries: RegistryStore
  /** Closes everything and opens it again, as a restart does. */
  reopen(): Promise<void>
}

/** Registers the tests that every driver of `RegistryStore` passes. */
export function describeRegistryStoreContract(name: string, open: () => Promise<OpenRegistryStore>): void {
  describe(`RegistryStore: ${name}`, () => {
    let store: OpenRegistryStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())
    const replace = (workspaceId: string, text: string, more: Partial<RegistryWrite> = {}) =>
      store.registries.replace({ workspaceId, kind: 'collections', text, expectedVersion: null, maxBytes: 1000, ...more })
    const read = (workspaceId: string) => store.registries.read(workspaceId, 'collections')

    it('[REST-25] a registry begins empty with version 0, which may be expected', async () => {
      const ws = randomUUID()
      expect(await read(ws)).toEqual({ version: 0, text: '[]' })
      expect(await store.registries.configBytes(ws)).toBe(0)
      expect(await replace(ws, '["a"]', { expectedVersion: 0 })).toEqual({ kind: 'replaced', version: 1 })
    })

    it('[REST-25] [LIFE-3] every accepted write adds 1, also with equal text, and survives a restart', async () => {
      const ws = `odd \0 \ud800 \\ ${randomUUID()}`
      const text = JSON.stringify(['é \0 \ud800 \\', { __proto__: 1 }])
      expect(await replace(ws, text)).toEqual({ kind: 'replaced', version: 1 })
      expect(await replace(ws, text)).toEqual({ kind: 'replaced', version: 2 })
      await store.reopen()
      expect(await read(ws)).toEqual({ version: 2, text })
      expect(await store.registries.configBytes(ws)).toBe(Buffer.byteLength(text))
    })

    it('[REST-14] another expected version changes nothing and answers the stored state', async () => {
      const ws = randomUUID()
      await replace(ws, '["a"]')
      const conflict = { kind: 'conflict', current: { version: 1, text: '["a"]' } }
      expect(await replace(ws, '["b"]', { expectedVersion: 0 })).toEqual(conflict)
      expect(await replace(ws, '["b"]', { expectedVersion: 2 })).toEqual(conflict)
      expect(await read(ws)).toEqual(conflict.current)
    })

    it('[REST-25] of sixteen writes that expect one version exactly one succeeds, and the others get the stored state', async () => {
      const ws = randomUUID()
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, i) => replace(ws, JSON.stringify([i]), { expectedVersion: 0 })),
      )
      expect(outcomes.filter(({ kind }) => kind === 'replaced')).toEqual([{ kind: 'replaced', version: 1 }])
      const current = await read(ws)
      expect(outcomes.filter(({ kind }) => kind === 'conflict')).toEqual(
        Array.from({ length: 15 }, () => ({ kind: 'conflict', current })),
      )
    })

    it('[REST-28] kinds and workspaces are independent; the byte count covers all kinds', async () => {
      const [ws, other] = [randomUUID(), randomUUID()]
      await replace(ws, '["é"]')
      await replace(ws, '["profile"]', { kind: 'style-profiles' })
      await replace(ws, '["profiles"]', { kind: 'style-profiles', expectedVersion: 1 })
      expect(await read(ws)).toEqual({ version: 1, text: '["é"]' })
      expect(await store.registries.read(ws, 'style-profiles')).toEqual({ version: 2, text: '["profiles"]' })
      expect(await store.registries.configBytes(ws)).toBe(6 + 12)
      expect(await read(other)).toEqual({ version: 0, text: '[]' })
      expect(await store.registries.configBytes(other)).toBe(0)
    })

    it('[REST-32] the size limit of registries covers all kinds together, and a refused write changes nothing', async () => {
      const ws = randomUUID()
      const profiles = { kind: 'style-profiles', maxBytes: 20 } as const
      await replace(ws, '"23456789"', { maxBytes: 20 })
      expect(await replace(ws, '"2345678901"', profiles)).toEqual({ kind: 'too-large', sizeBytes: 22 })
      expect(await store.registries.read(ws, 'style-profiles')).toEqual({ version: 0, text: '[]' })
      expect(await replace(ws, '"23456789"', profiles)).toEqual({ kind: 'replaced', version: 1 })
      expect(await replace(ws, '"234567890"', { maxBytes: 20 })).toEqual({ kind: 'too-large', sizeBytes: 21 })
      expect(await store.registries.configBytes(ws)).toBe(20)
    })

    it('[REST-32] above a lowered limit a write that does not grow is still accepted', async () => {
      const ws = randomUUID()
      await replace(ws, '"23456789"')
      expect(await replace(ws, '"2345678"', { maxBytes: 5 })).toEqual({ kind: 'replaced', version: 2 })
      expect(await replace(ws, '"23456789"', { maxBytes: 5 })).toEqual({ kind: 'too-large', sizeBytes: 10 })
    })
  })
}
