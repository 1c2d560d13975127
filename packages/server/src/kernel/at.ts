/**
 * Returns the entry of a list at an index that must exist. For lists that belong together, such as the columns of one table: a wrong length must
 * fail and never become an invented value in the store.
 *
 * @throws RangeError with the index and the length
 */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const entry = list[index]
  if (entry === undefined) throw new RangeError(`there is no entry ${index} in a list of ${list.length}`)
  return entry
}
