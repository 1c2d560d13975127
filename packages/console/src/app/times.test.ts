import { expect, it } from 'vitest'
import { formatAge, formatMoment } from './times.ts'

const NOW = Date.UTC(2026, 10, 23, 7, 30)

it.each([
  [0, 'now'],
  [4_999, 'now'],
  [-4_000, 'now'],
  [45_000, '45 seconds ago'],
  [60_000, '1 minute ago'],
  [3_599_999, '59 minutes ago'],
  [3_600_000, '1 hour ago'],
  [86_400_000, 'yesterday'],
  [-2 * 86_400_000, 'in 2 days'],
  [-7 * 86_400_000 + 60_000, 'in 7 days'],
  [29 * 86_400_000, '29 days ago'],
  [30 * 86_400_000, 'Oct 24, 2026'],
])('%i ms before now are shown as %s', (ms, shown) => {
  expect(formatAge(NOW - ms, NOW)).toBe(shown)
})

it('shows date and time in the language of the reader', () => {
  expect(formatMoment(NOW, 'de', 'UTC')).toBe('23.11.2026, 07:30')
})
