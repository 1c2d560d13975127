interface Usage {
  readonly user: number
  readonly system: number
}

/** Of Node, whose types the model does not have. */
declare const process: { threadCpuUsage(from?: Usage): Usage }

/**
 * Starts to measure; the returned function tells how much processor time this thread has had since, in milliseconds. Unlike the time on the
 * wall it does not grow when other work has the machine.
 */
export function threadTime(): () => number {
  const from = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(from)
    return (user + system) / 1000
  }
}
