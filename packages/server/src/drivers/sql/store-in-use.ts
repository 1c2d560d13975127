/** Thrown when a relay uses the store, so nothing was done. The message is a sentence for the operator. [CFG-10] */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError'
}
