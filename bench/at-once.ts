/**
 * Calls `each` for every item, the earlier ones first, with at most `atOnce` calls under way. Resolves with the results in the order of the items.
 * Rejects with the first failure; after a failure no further call begins.
 */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  each: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const rest = items.entries()
  let isFailed = false
  const lane = async () => {
    for (const [index, item] of rest) {
      if (isFailed) return
      results[index] = await each(item, index)
    }
  }
  const lanes = Array.from({ length: atOnce }, () =>
    lane().catch((error: unknown) => {
      isFailed = true
      throw error
    }),
  )
  await Promise.all(lanes)
  return results
}
