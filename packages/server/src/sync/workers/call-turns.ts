import type { Timers } from '../../kernel/timers.ts'
import type { RoomCalls, RoomTurns } from '../room/room-host.ts'

/** A call waits at most this long for its turn. The call needs the rest of its time limit for its work. */
const LONGEST_WAIT_MS = 20_000
const LONGEST_REST_MS = 1_000

interface Waiting {
  begin(): void
}

/** The waiting calls of one workspace. `isBusy` is true while a call runs, while the workspace rests, and while a turn is asked for. */
interface Queue {
  readonly waiting: Set<Waiting>
  isBusy: boolean
}

export interface CallTurnsOptions {
  readonly turns: Pick<RoomTurns, 'ask' | 'isInDebt' | 'workspaceOwesMs'>
  readonly timers: Timers
}

/**
 * Makes the PUTs and tool calls of a workspace in debt wait for a turn at the processor of their worker. These calls run one at a time, and
 * after each call the workspace rests for as long as the call worked. All other workspaces start their calls at once. [WS-12]
 */
export class CallTurns implements RoomCalls {
  private readonly given: CallTurnsOptions
  private readonly queues = new Map<string, Queue>()

  constructor(given: CallTurnsOptions) {
    this.given = given
  }

  async run<T>(workspaceId: string, call: () => Promise<T>): Promise<T | 'busy'> {
    const { turns } = this.given
    if (!this.queues.has(workspaceId) && !turns.isInDebt(workspaceId)) return call()
    if (!(await this.turnOf(workspaceId))) return 'busy'
    const owedMs = turns.workspaceOwesMs(workspaceId)
    try {
      return await call()
    } finally {
      this.ended(workspaceId, turns.workspaceOwesMs(workspaceId) - owedMs)
    }
  }

  /** Resolves with true when the turn comes, and with false when it does not come within `LONGEST_WAIT_MS`. */
  private turnOf(workspaceId: string): Promise<boolean> {
    const queue = this.queues.get(workspaceId) ?? { waiting: new Set(), isBusy: false }
    this.queues.set(workspaceId, queue)
    return new Promise((resolve) => {
      const waiting: Waiting = {
        begin() {
          cancel()
          resolve(true)
        },
      }
      const cancel = this.given.timers.after(LONGEST_WAIT_MS, () => {
        queue.waiting.delete(waiting)
        resolve(false)
      })
      queue.waiting.add(waiting)
      if (!queue.isBusy) this.next(workspaceId, queue)
    })
  }

  private next(workspaceId: string, queue: Queue): void {
    queue.isBusy = queue.waiting.size > 0
    if (!queue.isBusy) {
      this.queues.delete(workspaceId)
      return
    }
    this.given.turns.ask({ workspaceId, connection: 0, estimateMs: 0, run: () => this.begin(workspaceId, queue) })
  }

  private begin(workspaceId: string, queue: Queue): void {
    const [first] = queue.waiting
    if (first === undefined) return this.next(workspaceId, queue)
    queue.waiting.delete(first)
    first.begin()
  }

  private ended(workspaceId: string, workedMs: number): void {
    const queue = this.queues.get(workspaceId)
    if (queue === undefined) return
    const restMs = this.given.turns.isInDebt(workspaceId) ? Math.min(LONGEST_REST_MS, workedMs) : 0
    if (restMs < 1) this.next(workspaceId, queue)
    else this.given.timers.after(restMs, () => this.next(workspaceId, queue))
  }
}
