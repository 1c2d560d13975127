import { isRefusal } from '@docrelay/model/edit'
import { expect, it } from 'vitest'
import type { CallStore, StoredCall } from './call-store.port.ts'
import { lastTargets, type Undoing } from './undo-targets.ts'

const CALL: StoredCall = {
  ...{ callId: 'call', tool: 'set_prose', sub: 'ann', client: 'Scribe', caller: 'me', changed: 1, removed: 0 },
  ...{ atMs: 0, version: 2, hasRecord: true, undoneBy: null, record: new TextEncoder().encode('{}'), answer: null },
}

/** Returns the ids of the last calls of the caller `me`, who uses the client Scribe. `stored`: the stored calls, newest first. */
async function lastOf(...stored: readonly Partial<StoredCall>[]): Promise<readonly string[]> {
  const all = stored.map((call): StoredCall => ({ ...CALL, ...call }))
  const calls: Pick<CallStore, 'list' | 'read'> = {
    list: async () => all,
    read: async (_, callIds) => all.filter(({ callId }) => callIds.includes(callId)),
  }
  const undoing: Undoing = { calls, key: 1, sub: 'ann', client: 'Scribe', caller: 'me', nowMs: 0 }
  const found = await lastTargets(undoing, 20)
  return isRefusal(found) ? [] : found.map(({ callId }) => callId)
}

it('[AG-68] the last calls of a caller include those made under another client name', async () => {
  const others = [
    { callId: 'other', caller: 'another' },
    { callId: 'foreign', sub: 'bob' },
  ]
  expect(await lastOf({ callId: 'new' }, ...others, { callId: 'old', client: 'Renamed' })).toEqual(['new', 'old'])
})

it('[AG-68] a call that was stored without a caller belongs to every caller with its principal and client name', async () => {
  const older = (callId: string, more: Partial<StoredCall> = {}) => ({ callId, caller: null, ...more })
  expect(
    await lastOf(
      older('same'),
      older('client', { client: 'Other' }),
      older('person', { client: null }),
      older('sub', { sub: 'bob' }),
    ),
  ).toEqual(['same'])
})
