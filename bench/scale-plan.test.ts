import { expect, it } from 'vitest'
import { RATIOS } from './scale-figures.ts'
import { forwardedShare, ownedBy, placesOf, RUNS, type Run, SHAPES } from './scale-plan.ts'

const placesOfRun = (name: string) => placesOf(RUNS.find((run) => run.name === name) as Run)

it('each ratio of the scale bench compares two runs that a round makes', () => {
  const names = RUNS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(RATIOS.flatMap(({ of, to }) => [of, to]).filter((name) => !names.includes(name))).toEqual([])
})

it('each shape spreads the same total load over each number of nodes', () => {
  for (const run of RUNS) {
    const { docs, clientsPerDoc } = SHAPES[run.shape]
    const places = placesOf(run)
    expect(places.map((at) => at.length)).toEqual(Array.from({ length: docs }, () => clientsPerDoc))
    expect(new Set(places.flat())).toEqual(new Set(Array.from({ length: run.nodes }, (_, node) => node)))
  }
})

it('sticky clients forward nothing, and their documents are spread evenly', () => {
  expect(forwardedShare(placesOfRun('many-4-sticky'))).toBe(0)
  expect(ownedBy(placesOfRun('many-4-sticky'), 4)).toEqual([100, 100, 100, 100])
  expect(forwardedShare(placesOfRun('hot-1'))).toBe(0)
})

it('random clients connect to all nodes about equally often, and to the same node in each round', () => {
  const places = placesOfRun('many-4-random')
  expect(placesOfRun('many-4-random')).toEqual(places)
  for (let node = 0; node < 4; node++) {
    const share = places.flat().filter((at) => at === node).length / places.flat().length
    expect(share).toBeGreaterThan(0.22)
    expect(share).toBeLessThan(0.28)
  }
  // The first client of a document makes its node the owner, so its edits are never forwarded. Of the edits of the four others three quarters are.
  expect(forwardedShare(places)).toBeGreaterThan(0.55)
  expect(forwardedShare(places)).toBeLessThan(0.65)
})

it('the forwarded share counts only clients that edit', () => {
  const places = [
    [0, 1, 0, 1],
    [1, 1, 0, 0],
  ]
  expect(forwardedShare(places)).toBe(0.5)
  expect(forwardedShare(places, 2)).toBe(0.25)
  expect(forwardedShare(placesOfRun('readers-4'), 4)).toBe(0.75)
  expect(ownedBy(places, 2)).toEqual([1, 1])
})
