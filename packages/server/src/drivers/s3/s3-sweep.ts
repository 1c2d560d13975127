import { RelayError } from '../../kernel/errors.ts'
import { storeError } from './s3-calls.ts'

export interface Sweep<T> {
  /** Listed as far as needed; objects that the sweep removes may still be in it. */
  readonly items: AsyncIterable<T>
  readonly isDue: (item: T) => boolean
  readonly remove: (item: T) => Promise<void>
  /** The sweep ends when it has removed so many. */
  readonly most?: number
}

/** What a sweep removed, and what kept it from removing more. */
export interface Swept {
  readonly removed: number
  /** How many calls failed, and how the first of them did. */
  readonly failed: number
  readonly failure: RelayError | null
  /** The store did not answer any more, or refused too much, so the sweep ended early. */
  readonly isGone: boolean
}

/** A sweep that fails so often is refused for a reason that holds for the rest too, such as a right that the key lacks. */
const MOST_FAILURES = 1_000

/**
 * Removes objects one after the other. One that cannot be removed keeps no other from being removed, unless the store does not answer at
 * all: each call to a store that is gone takes seconds. `reach` asks whether it answers. Never rejects. [BLOB-12]
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

/** Throws the first failure of sweeps, with the number of all: what they left is for the next run. */
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
