import { RelayError } from '../../kernel/errors.ts'
import { storeError } from './s3-calls.ts'

export interface Sweep<T> {
  /** The candidates, listed as far as needed. Objects that the sweep removes may still be listed. */
  readonly items: AsyncIterable<T>
  readonly isDue: (item: T) => boolean
  readonly remove: (item: T) => Promise<void>
  /** The sweep ends when it has removed this many objects. */
  readonly most?: number
}

/** The outcome of a sweep. */
export interface Swept {
  readonly removed: number
  /** The number of calls that failed, and the first failure. */
  readonly failed: number
  readonly failure: RelayError | null
  /** True when the sweep ended early, because the store no longer answered or refused too many calls. */
  readonly isGone: boolean
}

/** After so many failures a sweep ends: the reason, such as a right that the key lacks, then holds for the other objects too. */
const MOST_FAILURES = 1_000

/**
 * Removes objects one after the other. An object that cannot be removed does not stop the removal of others, unless the store does not answer at all,
 * because each call to a store that is gone takes seconds. `reach` finds out whether the store answers. Never rejects. [BLOB-12]
 */
export async function sweep<T>({ items, isDue, remove, most }: Sweep<T>, reach: () => Promise<void>): Promise<Swept> {
  let removed = 0
  let failed = 0
  let failure: RelayError | null = null
  let isGone = false
  const failedWith = async (error: unknown): Promise<void> => {
    failed++
    failure ??= storeError(error)
    const answers = await reach().then(
      () => true,
      () => false,
    )
    isGone = !answers || failed >= MOST_FAILURES
  }
  try {
    for await (const item of items) {
      if (removed === most || isGone) break
      if (!isDue(item)) continue
      try {
        await remove(item)
        removed++
      } catch (error) {
        await failedWith(error)
      }
    }
  } catch (error) {
    await failedWith(error)
  }
  return { removed, failed, failure, isGone }
}

/** Throws the first failure of the sweeps, with the number of all failures. Objects that a sweep could not remove are left for the next run. */
export function throwFailures(...sweeps: readonly Swept[]): void {
  const first = sweeps.find(({ failure }) => failure !== null)?.failure
  if (first === undefined || first === null) return
  const failures = sweeps.reduce((sum, { failed }) => sum + failed, 0)
  if (failures === 1) throw first
  throw new RelayError(first.code, `${first.message} ${failures} calls failed; what they would have removed stays for now.`, {
    ...first.details,
    failures,
  })
}
