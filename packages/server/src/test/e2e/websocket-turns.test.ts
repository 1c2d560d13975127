import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestClient } from '../../sync/testing/test-client.ts'
import { acknowledged, attackersDocuments, costlyUpdate, joinAs } from '../faults/noisy-attacks.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { openWire, type WireClient } from '../wire-client.ts'
import { patience } from '../../kernel/testing/patience.ts'

let relay: RelayUnderTest
beforeAll(async () => {
  relay = await startRelayUnderTest({ env: { RELAY_TENANCY_MODE: 'shared' } })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Opens typists in documents of one quiet workspace. */
async function quietTypists(count: number, workspace: string): Promise<WireClient[]> {
  const typists: WireClient[] = []
  for (let i = 0; i < count; i++) {
    await relay.rest({ workspace }).putDocument(`quiet-${i}`, {})
    typists.push(await (await openWire(relay)).enter(relay.token({ workspace }), `quiet-${i}`, ['ack']))
  }
  return typists
}

/** Types one edit. Resolves when it is acknowledged. */
async function typeOne(typist: WireClient, key: string): Promise<void> {
  const before = acknowledged(typist)
  typist.update(typist.put(key))
  await until('the edit to be acknowledged', () => acknowledged(typist) > before, 30_000)
}

/** Sends one costly update on each socket. */
function flood(noise: readonly TestClient[], items: number): void {
  for (const [i, client] of noise.entries()) client.send(syncFrame(SYNC.update, costlyUpdate(items, i + 1)))
}

describe('sharing processors between workspaces', () => {
  it(
    '[WS-12] edits of one workspace are acknowledged while costly updates of another workspace wait',
    async () => {
      const target = { relay, workspace: 'noisy' }
      const noise: TestClient[] = []
      for (const id of await attackersDocuments(target, 12)) noise.push(await joinAs(target, id))
      const typists = await quietTypists(4, 'quiet')
      flood(noise, 8_000)
      await Promise.all(typists.map((typist) => typeOne(typist, 'typed')))
      expect(sum(noise.map(acknowledged))).toBeLessThanOrEqual(4)
      await until('the costly updates to be acknowledged', () => sum(noise.map(acknowledged)) === 12, 60_000)
      expect(noise.flatMap((client) => client.of(TAG.error))).toEqual([])
    },
    patience(90_000),
  )
})
