import type { Member } from './room-members.ts'

/**
 * The members of a room whose messages wait for the log. A flag in the member and a list take the place of a set: a set gets a new table whenever it
 * becomes empty, here with most edits.
 */
export class AckWaiters {
  private readonly members: Member[] = []

  add(member: Member): void {
    if (member.isAckWaiter) return
    member.isAckWaiter = true
    this.members.push(member)
  }

  /** Settles each member, and forgets those that wait no more. */
  settleAll(settle: (member: Member) => void): void {
    let kept = 0
    for (const member of this.members) {
      settle(member)
      member.isAckWaiter = member.waiting.length > 0
      if (member.isAckWaiter) this.members[kept++] = member
    }
    this.members.length = kept
  }

  forget(member: Member): void {
    if (!member.isAckWaiter) return
    member.isAckWaiter = false
    this.members.splice(this.members.indexOf(member), 1)
  }

  /** Returns the highest ordinal of each member that waits. */
  ordinals(): (readonly [Member, number])[] {
    return this.members.flatMap((member) => (member.waiting.length === 0 ? [] : [[member, member.waiting.at(-2) as number]]))
  }
}
