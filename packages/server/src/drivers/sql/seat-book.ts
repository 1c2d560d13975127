import { type SeatLimits, type SeatOutcome, seatOutcome } from '../../access/seats.port.ts'

/** A wish of a connection of this node for a seat. */
export type SeatWish =
  | {
      readonly kind: 'place'
      readonly workspaceId: string
      readonly connectionId: string
      readonly editor: boolean
      readonly limits: SeatLimits
    }
  | { readonly kind: 'release'; readonly workspaceId: string; readonly connectionId: string }

export interface SeatRow {
  readonly workspaceId: string
  readonly connectionId: string
  readonly editor: boolean
}

/** The number of seats that the living nodes hold in a workspace. */
export interface SeatCount {
  readonly connections: number
  readonly editors: number
}

/** The answers to wishes in their order, and the changed seats by key; `null` for a released seat. */
export interface SeatAnswers {
  /** `later`: the seats of a living node are not known yet, and the wish cannot be decided without them. */
  readonly outcomes: readonly (SeatOutcome | 'later')[]
  readonly changes: ReadonlyMap<string, SeatRow | null>
}

export function seatKey({ workspaceId, connectionId }: Pick<SeatRow, 'workspaceId' | 'connectionId'>): string {
  return JSON.stringify([workspaceId, connectionId])
}

export function needsCount(wish: SeatWish): boolean {
  return wish.kind === 'place' && (wish.limits.connections !== null || wish.limits.editors !== null)
}

/**
 * Answers wishes in order; each counts the seats that earlier ones took or released. `held`: the seats of this node. `counts`:
 * the seats of all nodes, by workspace. `isComplete`: whether `counts` includes the seats of every living node. [WS-15, WS-17,
 * WS-19]
 */
export function answerWishes(
  wishes: readonly SeatWish[],
  held: ReadonlyMap<string, SeatRow>,
  counts: ReadonlyMap<string, SeatCount>,
  isComplete: boolean,
): SeatAnswers {
  const changes = new Map<string, SeatRow | null>()
  const now = new Map(counts)
  const outcomes = wishes.map((wish): SeatOutcome | 'later' => {
    const key = seatKey(wish)
    const changed = changes.get(key)
    const before = changed === undefined ? (held.get(key) ?? null) : changed
    const count = now.get(wish.workspaceId) ?? { connections: 0, editors: 0 }
    const after =
      wish.kind === 'release' ? null : { workspaceId: wish.workspaceId, connectionId: wish.connectionId, editor: wish.editor }
    if (wish.kind === 'place') {
      if (!isComplete && needsCount(wish)) return 'later'
      const own = before === null ? null : before.editor ? 'editor' : 'viewer'
      const outcome = seatOutcome({ held: own, ...count }, wish.editor, wish.limits)
      if (outcome !== 'taken') return outcome
    }
    changes.set(key, after)
    now.set(wish.workspaceId, {
      connections: count.connections + sizeOf(after) - sizeOf(before),
      editors: count.editors + editorsIn(after) - editorsIn(before),
    })
    return 'taken'
  })
  return { outcomes, changes }
}

function sizeOf(row: SeatRow | null): number {
  return row === null ? 0 : 1
}

function editorsIn(row: SeatRow | null): number {
  return row?.editor === true ? 1 : 0
}
