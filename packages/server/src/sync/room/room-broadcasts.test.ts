import type { FromWorker } from '../worker-messages.ts'
import { expect, it } from 'vitest'
import { Broadcasts } from './room-broadcasts.ts'
import type { SyncRoom } from './sync-room.ts'

const BEN = 7
const RELAY = 0

/**
 * Returns the broadcasts of a room whose log the test moves. `add` emits an update that contains only its sequence. `sent` lists the sequences
 * of the broadcast updates.
 */
function room() {
  const log = { emitted: 0, durable: 0 }
  const sent: number[] = []
  const emit = (message: FromWorker): void => {
    if (message.kind === 'updates') for (const update of message.updates) sent.push(update[0] as number)
  }
  const broadcasts = new Broadcasts({ log, host: { emit }, id: 1, epoch: null } as unknown as SyncRoom)
  const add = (connection: number): void => {
    log.emitted++
    broadcasts.add(Uint8Array.of(log.emitted), connection)
  }
  return { log, sent, broadcasts, add }
}

it('[LIFE-2] a write of the relay is broadcast when it is durable, although the relay has written again meanwhile', () => {
  const { log, sent, broadcasts, add } = room()
  add(BEN)
  add(RELAY)
  add(BEN)
  broadcasts.handOut()
  expect([sent, broadcasts.isHeldBack]).toEqual([[1], true])
  add(RELAY)
  log.durable = 2
  broadcasts.handOut()
  expect([sent, broadcasts.isHeldBack]).toEqual([[1, 2, 3], true])
  log.durable = 4
  broadcasts.handOut()
  expect([sent, broadcasts.isHeldBack]).toEqual([[1, 2, 3, 4], false])
})

it('[LIFE-13] when an edit is taken back, the durable updates before it are broadcast, and the edit is not', () => {
  const { log, sent, broadcasts, add } = room()
  add(BEN)
  add(RELAY)
  log.durable = 2
  add(RELAY)
  broadcasts.takeBack()
  log.emitted = 2
  broadcasts.handOut()
  add(RELAY)
  broadcasts.handOut()
  expect([sent, broadcasts.isHeldBack]).toEqual([[1, 2], true])
})
