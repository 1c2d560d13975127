import { expect, it } from 'vitest'
import { AckWaiters } from './ack-waiters.ts'
import { awaitOrdinal, type Member, newMember, settleOrdinals } from './room-members.ts'

function room() {
  const waiters = new AckWaiters()
  let durable = 0
  return {
    member: (connection: number): Member =>
      newMember({ connection, join: 1, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: false }),
    sends(member: Member, ordinal: number, sequence: number): void {
      awaitOrdinal(member, ordinal, sequence)
      waiters.add(member)
      settleOrdinals(member, durable)
    },
    logMoved(to: number): void {
      durable = to
      waiters.settleAll((member) => settleOrdinals(member, durable))
    },
    forget: (member: Member) => waiters.forget(member),
    waiting: () => waiters.ordinals().map(([{ connection }, ordinal]) => [connection, ordinal]),
  }
}

it('[WS-40] a member waits with its highest ordinal until the log is durable through that message', () => {
  const { member, sends, logMoved, waiting } = room()
  const [ann, bob] = [member(1), member(2)]
  sends(ann, 1, 10)
  sends(bob, 1, 11)
  sends(ann, 2, 12)
  expect(waiting()).toEqual([
    [1, 2],
    [2, 1],
  ])
  logMoved(11)
  expect(waiting()).toEqual([[1, 2]])
  sends(bob, 2, 13)
  logMoved(12)
  expect(waiting()).toEqual([[2, 2]])
  logMoved(13)
  expect(waiting()).toEqual([])
})

it('[WS-40] a message that is settled at once leaves its member out of those that wait, also when the log does not move afterwards', () => {
  const { member, sends, logMoved, waiting } = room()
  const ann = member(1)
  logMoved(20)
  sends(ann, 1, 20)
  expect(waiting()).toEqual([])
  sends(ann, 2, 21)
  sends(ann, 3, 21)
  expect(waiting()).toEqual([[1, 3]])
})

it('[WS-40] a member that left waits no more, and the others go on waiting', () => {
  const { member, sends, logMoved, forget, waiting } = room()
  const [ann, bob] = [member(1), member(2)]
  sends(ann, 1, 10)
  sends(bob, 1, 10)
  forget(ann)
  forget(ann)
  expect(waiting()).toEqual([[2, 1]])
  sends(ann, 2, 11)
  logMoved(10)
  expect(waiting()).toEqual([[1, 2]])
})
