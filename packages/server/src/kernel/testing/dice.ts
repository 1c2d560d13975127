/** Gives the next number from 0 to below its argument, the same ones in every run of one seed. */
export function dice(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // The low bits of such a sequence have short periods.
    return Math.floor((state / 2 ** 32) * below)
  }
}
