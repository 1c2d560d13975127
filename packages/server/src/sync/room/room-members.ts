/** One connection joined to a room, as its worker knows it. */
export interface Member {
  readonly connection: number
  readonly join: number
  readonly sub: string
  canWrite: boolean
  /** `null`: unlimited. [LIFE-16] */
  maxDocBytes: number | null
  readonly knowsLineage: boolean
  /** Its copy is of a former life of the document: what it sends until it has left is dropped. [WS-62] */
  former: boolean
  /** Ordinals that wait for a log sequence: ordinal, sequence, ordinal, sequence; both rise. [WS-40] */
  readonly waiting: number[]
  /** Monotonic times of the last resync step1 and of the last full state sent to clear pending content. [WS-32] */
  resyncAtMs: number
  fullStateAtMs: number
  resyncTimer: (() => void) | null
  /** Bytes of its writes that wait for their turn. */
  waitingBytes: number
  /** It is being closed: nothing more of it is taken. */
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
    waitingBytes: 0,
    isExpelled: false,
  }
}

/** Notes that everything up to `ordinal` has been handled and is true once the log is durable through `sequence`. [WS-40] */
export function awaitOrdinal(member: Member, ordinal: number, sequence: number): void {
  const { waiting } = member
  const last = waiting.length - 2
  if (last >= 0 && waiting[last + 1] === sequence) waiting[last] = ordinal
  else waiting.push(ordinal, sequence)
}

/** Takes what has become durable off the list; answers the highest ordinal now settled, 0 when none. */
export function settleOrdinals(member: Member, durable: number): number {
  const { waiting } = member
  let taken = 0
  while (taken < waiting.length && (waiting[taken + 1] as number) <= durable) taken += 2
  if (taken === 0) return 0
  const ordinal = waiting[taken - 2] as number
  waiting.splice(0, taken)
  return ordinal
}
