import { expect, it } from 'vitest'
import { formatBytes } from './amounts.ts'

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [1536, '1.54 kB'],
  [999_949, '1 MB'],
  [52_428_800, '52.4 MB'],
  [3_000_000_000_000_000, '3,000 TB'],
])('%i bytes are shown as %s', (count, shown) => {
  expect(formatBytes(count)).toBe(shown)
})
