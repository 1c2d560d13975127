import type { RoomHost } from './room-host.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'

const BUSY_RETRY_MS = 5_000

/** Outcome of a call whose workspace owes so much processor time that its turn did not come. */
const BUSY: TaskOutcome = {
  kind: 'failed',
  code: 'UNAVAILABLE',
  message: 'The workspace has used more than its share of the processors, and the call did not get its turn in time.',
  details: { retryAfterMs: BUSY_RETRY_MS },
}

/** Runs the tasks of one room for which a caller waits. They take turns with the tasks of other workspaces. [WS-12] */
export class WaitingCalls {
  /** Number of calls that run or wait for their turn. */
  count = 0
  private readonly calls: RoomHost['calls']
  private readonly workspaceId: string

  constructor({ calls }: Pick<RoomHost, 'calls'>, workspaceId: string) {
    this.calls = calls
    this.workspaceId = workspaceId
  }

  async run(task: RoomTask, perform: () => Promise<TaskOutcome>): Promise<TaskOutcome> {
    if (!isCall(task)) return perform()
    this.count++
    try {
      const outcome = await this.calls.run(this.workspaceId, perform)
      return outcome === 'busy' ? BUSY : outcome
    } finally {
      this.count--
    }
  }
}

/** A settle with `quietMs`, which begins a restore, does not wait for a turn, because the edits of people wait for it. */
function isCall(task: RoomTask): boolean {
  return task.kind === 'put' || task.kind === 'edit' || task.kind === 'encode' || (task.kind === 'settle' && !task.quietMs)
}
