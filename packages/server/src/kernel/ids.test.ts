import { expect, it } from 'vitest'
import { pooledRandom } from './ids.ts'

it('each drawn random byte is returned once, whatever amounts are requested', () => {
  let drawn = 0
  // Each drawn byte differs from the 255 bytes before it.
  const random = pooledRandom((count) => Uint8Array.from({ length: count }, () => drawn++ % 256))
  let given = 0
  for (let n = 0; n < 5000; n++) {
    const bytes = random.bytes((n * 7) % 40)
    given += bytes.length
    for (let at = 1; at < bytes.length; at++) expect(((bytes[at] ?? 0) - (bytes[at - 1] ?? 0) + 256) % 256).toBe(1)
  }
  expect(drawn).toBeGreaterThanOrEqual(given)
  expect(random.bytes(5000)).toHaveLength(5000)
})
