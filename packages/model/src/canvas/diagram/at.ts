/** Returns the value at an index that is known to be within the array, typed or not. */
export function at<T>(values: ArrayLike<T>, place: number): T {
  return values[place] as T
}
