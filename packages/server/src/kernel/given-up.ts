/**
 * Says whether a caller has given up its call, in memory that threads share: a thread sees it even while it works and
 * receives no messages.
 */
export type GivenUp = Int32Array<SharedArrayBuffer>

/** Returns memory, shared between threads, that says from now on whether the signal was aborted. */
export function sharedSignal(signal: AbortSignal): GivenUp {
  const memory = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const giveUp = (): void => void Atomics.store(memory, 0, 1)
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp, { once: true })
  return memory
}

export function isGivenUp(memory: GivenUp | undefined): boolean {
  return memory !== undefined && Atomics.load(memory, 0) === 1
}
