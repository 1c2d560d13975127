import type { ChildProcess } from 'node:child_process'

const held: AsyncDisposable[] = []
/** Processes that this one has started and that still run. */
const children = new Set<ChildProcess>()

/**
 * Disposes of something with the process instead of with a test, for what the files of one process use one after another. The test runner
 * ends its processes by SIGTERM, and one that ends itself closes the channel to them.
 */
export function endWithProcess(resource: AsyncDisposable): void {
  held.push(resource)
  if (held.length > 1) return
  const end = async (): Promise<void> => {
    // At once: the test runner waits only a moment before it ends this process by SIGKILL, and then nobody would end them.
    killChildren()
    await Promise.allSettled(held.map((each) => each[Symbol.asyncDispose]()))
    process.exit()
  }
  process.once('SIGTERM', () => void end())
  process.once('disconnect', () => void end())
}

/** Ends a process with this one, unless it ends before. */
export function tieToProcess(child: ChildProcess): void {
  if (children.size === 0) process.once('exit', killChildren)
  children.add(child)
  child.once('exit', () => {
    children.delete(child)
    if (children.size === 0) process.off('exit', killChildren)
  })
}

function killChildren(): void {
  for (const child of children) child.kill('SIGKILL')
}
