import type { ChildProcess } from 'node:child_process'

const held: AsyncDisposable[] = []
/** Running child processes of this process. */
const children = new Set<ChildProcess>()

/**
 * Disposes of a resource at the end of the process, not of a test. For resources that the test files of one process share. The test runner ends
 * its processes by SIGTERM; a process that ends itself closes the channel to the runner.
 */
export function endWithProcess(resource: AsyncDisposable): void {
  held.push(resource)
  if (held.length > 1) return
  const end = async (): Promise<void> => {
    // First, because the test runner waits only a moment before it ends this process by SIGKILL, and then the children would stay.
    killChildren()
    await Promise.allSettled(held.map((each) => each[Symbol.asyncDispose]()))
    process.exit()
  }
  process.once('SIGTERM', () => void end())
  process.once('disconnect', () => void end())
}

/** Ends a child process with this process, unless the child ends before. */
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
