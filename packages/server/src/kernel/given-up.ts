/**
 * Memory shared by threads that says whether a caller has aborted its call. A busy thread can read it, although it receives no messages.
 */
export type GivenUp = Int32Array<SharedArrayBuffer>

/** Makes shared memory that follows the signal: it says from now on whether the signal was aborted. */
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
