/** Settles as `promise` does; rejects with `late()` when that takes longer than `ms`. What comes afterwards is ignored. */
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
