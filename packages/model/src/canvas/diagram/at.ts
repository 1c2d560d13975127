/** The value at a place that is known to be in the array; typed arrays and lists alike. */
export function at<T>(values: ArrayLike<T>, place: number): T {
  return values[place] as T
}
