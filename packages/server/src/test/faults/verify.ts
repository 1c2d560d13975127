import { parseArgs } from 'node:util'
import { flipOneBit, findingsIn } from '../../verify/testing/bit-flips.ts'
import { startRelayUnderTest } from '../relay-under-test.ts'
import { generator } from './mixed-load.ts'
import { fillSmallStore } from './verify-store.ts'

/** Changes one bit of a store at a time and counts how often `relay verify` finds it. `npm run faults:verify [-- --flips 200 --seed 1]` [OPS-11] */
const { values } = parseArgs({ options: { flips: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } } })
const random = generator(Number(values.seed))

await using relay = await startRelayUnderTest()
await fillSmallStore(relay)
const before = (await findingsIn(relay.dataDir)).filter(({ level }) => level === 'damage')
let missed = before.length
for (const { detail } of before) console.log(`found in a store that nobody touched: ${detail}`)
const counts = { row: 0, page: 0, blob: 0 }
for (let i = 0; i < Number(values.flips); i++) {
  const { place, where, found } = await flipOneBit(relay.dataDir, random)
  counts[place]++
  if (found.length > 0) continue
  missed++
  console.log(`not found: a bit of ${where}`)
}
console.log(
  `${values.flips} flips (${counts.row} in rows, ${counts.page} in pages, ${counts.blob} in blobs), ${missed} not found`,
)
process.exitCode = missed === 0 ? 0 : 1
