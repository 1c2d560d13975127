/** A relay is running on the store, so that nothing was done; a sentence for the operator. [CFG-10] */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError'
}
