import type { Timers } from '../../kernel/timers.ts'
import type { ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'

const EVERY_MS = 1_000

/** Runs a call, and until it ends reports progress to the caller once a second; `doing` describes the work. [MCP-16] */
export async function withProgress(
  call: Pick<ToolCall, 'progress'>,
  timers: Timers,
  doing: string,
  run: () => Promise<ToolSuccess | ToolFailure>,
): Promise<ToolSuccess | ToolFailure> {
  let seconds = 0
  const wait = (): (() => void) =>
    timers.after(EVERY_MS, () => {
      seconds++
      call.progress({ progress: seconds, message: `${doing}, ${seconds} s` })
      stop = wait()
    })
  let stop = wait()
  try {
    return await run()
  } finally {
    stop()
  }
}
