const held: AsyncDisposable[] = []

/**
 * Disposes of something with the process instead of with a test, for what the files of one process use one after another. The test runner
 * ends its processes by SIGTERM, and one that ends itself closes the channel to them.
 */
export function endWithProcess(resource: AsyncDisposable): void {
  held.push(resource)
  if (held.length > 1) return
  const end = async (): Promise<void> => {
    await Promise.allSettled(held.map((each) => each[Symbol.asyncDispose]()))
    process.exit()
  }
  process.once('SIGTERM', () => void end())
  process.once('disconnect', () => void end())
}
