import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StorageHost } from '../drivers/sql/storage-host.ts'
import { openHost, temporaryStore } from '../drivers/sql/testing/store-under-test.ts'
import { RelayError } from '../kernel/errors.ts'
import { type Logger, silentLogger } from '../kernel/log.ts'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import { openRevocations, type Revocations, type RevocationsOptions } from './revocations.ts'
import { startTestIssuer } from './testing/test-issuer.ts'
import { openKeySet } from './key-set.ts'
import { createTokenVerifier } from './verify-token.ts'

let file: ReturnType<typeof temporaryStore>
let storage: StorageHost
let time: ManualTime

beforeEach(async () => {
  file = temporaryStore()
  storage = await openStore()
  time = manualTime()
})
afterEach(async () => {
  await storage[Symbol.asyncDispose]()
  file.remove()
})

const openStore = (): Promise<StorageHost> => openHost(file.url, { commitDelayMs: 0 })
const open = (options: Partial<RevocationsOptions> = {}): Promise<Revocations> =>
  openRevocations({ store: storage.revocations, clock: time.clock, log: silentLogger, hasTransport: true, ...options })
const entries = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ jti: `j${from + i}`, revokedAtMs: from + i }))

describe('the revocation set', () => {
  it('[AUTH-14] [A-10] entries and cursor are loaded at the start before anything else', async () => {
    const before = await open()
    await before.add([{ jti: 'j1', revokedAtMs: 1 }], { cursor: '2026-01-01T00:00:00.000Z' })
    await storage[Symbol.asyncDispose]()
    storage = await openStore()
    const after = await open()
    expect([after.has('j1'), after.has('j2'), after.size, await after.cursor()]).toEqual([
      true,
      false,
      1,
      '2026-01-01T00:00:00.000Z',
    ])
  })

  it('[AUTH-16] a verified token is refused as soon as its entry was added', async () => {
    await using issuer = await startTestIssuer({ nowMs: () => time.clock.nowMs() })
    const keySet = openKeySet({ url: issuer.jwksUrl, log: silentLogger, ...time, fetchJson: async () => issuer.jwks })
    await keySet.firstFetch(1_000)
    const revocations = await open()
    const verify = createTokenVerifier({ ...issuer, resource: null, keySet, revocations, clock: time.clock })
    const token = issuer.token({ jti: 'j1' })
    expect((await verify(token)).kind).toBe('verified')
    await revocations.add([{ jti: 'j1', revokedAtMs: 1 }])
    expect(await verify(token)).toEqual({ kind: 'refused', reason: 'token revoked' })
    expect((await verify(issuer.token({ jti: 'j2', sub: 'ann' }))).kind).toBe('verified')
  })

  it('[REST-29] a revocation that could not be stored is not effective', async () => {
    const add = async (): Promise<never> => {
      throw new RelayError('NOT_PERSISTED', 'no')
    }
    const revocations = await open({ store: { ...storage.revocations, all: () => storage.revocations.all(), add } })
    await expect(revocations.add(entries(1))).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    expect(revocations.has('j0')).toBe(false)
  })

  it('[AUTH-16] [LIM-11] above the limit the oldest entries are removed first, in memory as in the store', async () => {
    const revocations = await open({ keep: 100 })
    await revocations.add(entries(60, 100))
    await revocations.add([{ jti: 'older', revokedAtMs: 1 }])
    await revocations.add(entries(60, 200))
    const held = [revocations.size, revocations.has('older'), revocations.has('j119'), revocations.has('j120')]
    expect(held).toEqual([100, false, false, true])
    expect((await storage.revocations.all()).map(({ jti }) => jti)[0]).toBe('j120')
    const reopened = await open({ keep: 100 })
    expect([reopened.size, reopened.has('j119'), reopened.has('j120')]).toEqual([100, false, true])
  })

  it('[LIM-11] one warning is logged when the set is nearly full', async () => {
    const events: string[] = []
    const log: Logger = { ...silentLogger, warn: (event) => events.push(event) }
    const revocations = await open({ keep: 10, log })
    await revocations.add(entries(8))
    expect(events).toEqual([])
    await revocations.add(entries(9))
    await revocations.add(entries(10))
    expect(events).toEqual(['auth.revocations.filling'])
  })

  it('[AUTH-15] the age of the revocation set counts from the last complete answer, before that from the start, and is -1 without a transport', async () => {
    const revocations = await open()
    await time.advance(30_000)
    expect(revocations.ageSec()).toBe(30)
    await revocations.add(entries(1), { partial: true })
    expect(revocations.ageSec()).toBe(30)
    await revocations.add([])
    expect(revocations.ageSec()).toBe(0)
    await time.advance(1_000)
    time.jumpWall(3_600_000)
    expect(revocations.ageSec()).toBe(1)
    expect((await open({ hasTransport: false })).ageSec()).toBe(-1)
  })

  it('[A-9] without working transports the last set still refuses after a day', async () => {
    const revocations = await open()
    await revocations.add(entries(1))
    await time.advance(24 * 3_600_000)
    expect([revocations.has('j0'), revocations.ageSec()]).toEqual([true, 86_400])
  })
})
