import type { Socket } from 'node:net'

interface Delayed {
  readonly bytes: Uint8Array
  readonly dueMs: number
}

/**
 * Returns a function that writes to a socket after a delay. Bytes with a shorter delay wait for the bytes of earlier calls, so that the order of
 * the calls is kept, as in a TCP stream.
 */
export function delayedWrites(
  write: (to: Socket, bytes: Uint8Array) => void,
): (to: Socket, bytes: Uint8Array, delayMs: number) => void {
  const queues = new WeakMap<Socket, Delayed[]>()
  const writeDue = (to: Socket, queue: Delayed[]): void => {
    while (queue[0] !== undefined && queue[0].dueMs <= performance.now()) {
      const { bytes } = queue.shift() as Delayed
      if (!to.destroyed) write(to, bytes)
    }
    const [next] = queue
    if (next === undefined) queues.delete(to)
    else setTimeout(() => writeDue(to, queue), next.dueMs - performance.now())
  }
  return (to, bytes, delayMs) => {
    const queue = queues.get(to)
    const dueMs = performance.now() + delayMs
    if (queue !== undefined) queue.push({ bytes, dueMs })
    else if (delayMs === 0) write(to, bytes)
    else {
      const begun = [{ bytes, dueMs }]
      queues.set(to, begun)
      setTimeout(() => writeDue(to, begun), delayMs)
    }
  }
}
