/** Makes a generator of integers from 0 to below its argument. The same seed always gives the same numbers. */
export function dice(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // The low bits of a linear congruential generator have short periods, so the high bits are used.
    return Math.floor((state / 2 ** 32) * below)
  }
}
