import { expect, it } from 'vitest'
import { descriptorLimit, descriptorsIn, tooFewDescriptors } from './descriptors.ts'

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             63432                63432                processes
Max open files            65536                524288               files
Max locked memory         8388608              8388608              bytes
`

it('[H11] the limit of descriptors is the soft limit, and `null` when it is unlimited or missing', () => {
  expect(descriptorsIn(LIMITS)).toBe(65_536)
  expect(descriptorsIn(LIMITS.replace('65536 ', 'unlimited '))).toBeNull()
  expect(descriptorsIn('')).toBeNull()
})

it.runIf(process.platform === 'linux')('[H11] the limit of descriptors of this process is read, or is `null`', () => {
  expect(descriptorLimit() ?? 1_000_000).toBeGreaterThan(100)
})

it('[H11] the warning of too few descriptors says how many are needed and open, and what to do', () => {
  const warning = tooFewDescriptors(10_000, 14_095)
  expect(warning).toMatch(/max_connections = 10000 needs 14096 file descriptors, and this process may open 14095\./)
  expect(warning).toMatch(/LimitNOFILE.*lower the key/)
})

it('[H11] the relay does not warn when there are enough descriptors or their limit is unknown', () => {
  expect([tooFewDescriptors(10_000, 14_096), tooFewDescriptors(10_000, 1_048_576), tooFewDescriptors(10_000, null)]).toEqual([
    null,
    null,
    null,
  ])
})
