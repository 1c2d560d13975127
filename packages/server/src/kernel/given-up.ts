/** Whether a caller has given its call up, in memory that threads share: seen also by a thread that takes no message while it works. */
export type GivenUp = Int32Array<SharedArrayBuffer>

/** Follows the signal from now on. */
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
