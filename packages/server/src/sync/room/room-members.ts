/** One connection that joined a room, as the room knows it. */
export interface Member {
  readonly connection: number
  readonly join: number
  readonly sub: string
  canWrite: boolean
  /** `null`: unlimited. [LIFE-16] */
  maxDocBytes: number | null
  readonly knowsLineage: boolean
  /** True when the client's copy is of an earlier lineage of the document. Then the room drops its writes until it leaves. [WS-62] */
  former: boolean
  /** Ordinals that wait for a log sequence, as pairs in one array: ordinal, sequence, ordinal, sequence. Both rise. [WS-40] */
  readonly waiting: number[]
  /** Monotonic times of the last step1 sent to resync, and of the last full state sent to resolve the client's pending content. [WS-32] */
  resyncAtMs: number
  fullStateAtMs: number
  resyncTimer: (() => void) | null
  /** True from when the connection asks for a turn to apply its writes until that turn begins. */
  hasAsked: boolean
  /** Whether `AckWaiters` has this member. */
  isAckWaiter: boolean
  /** Total bytes of the writes of this connection that wait for a turn. */
  waitingBytes: number
  /** True when the connection is being closed. Then the room accepts no more writes from it. */
  isExpelled: boolean
}

export function newMember(
  given: Pick<Member, 'connection' | 'join' | 'sub' | 'canWrite' | 'maxDocBytes' | 'knowsLineage'>,
): Member {
  return {
    ...given,
    former: false,
    waiting: [],
    resyncAtMs: Number.NEGATIVE_INFINITY,
    fullStateAtMs: Number.NEGATIVE_INFINITY,
    resyncTimer: null,
    hasAsked: false,
    isAckWaiter: false,
    waitingBytes: 0,
    isExpelled: false,
  }
}

/** Notes that all messages up to `ordinal` are handled and may be acknowledged once the log is durable through `sequence`. [WS-40] */
export function awaitOrdinal(member: Member, ordinal: number, sequence: number): void {
  const { waiting } = member
  const last = waiting.length - 2
  if (last >= 0 && waiting[last + 1] === sequence) waiting[last] = ordinal
  else waiting.push(ordinal, sequence)
}

/** Removes the ordinals whose log sequence is durable. Returns the highest of these ordinals; 0 when there is none. */
export function settleOrdinals(member: Member, durable: number): number {
  const { waiting } = member
  let taken = 0
  while (taken < waiting.length && (waiting[taken + 1] as number) <= durable) taken += 2
  if (taken === 0) return 0
  const ordinal = waiting[taken - 2] as number
  waiting.splice(0, taken)
  return ordinal
}
