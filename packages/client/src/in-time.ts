/** Settles as `promise` does; rejects with `late()` when that takes longer than `ms`, and ignores a later result. */
export function inTime<T>(
  promise: Promise<T>,
  ms: number,
  after: (ms: number, run: () => void) => () => void,
  late: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, () => reject(late()))
    void promise.then(resolve, reject).finally(cancel)
  })
}
