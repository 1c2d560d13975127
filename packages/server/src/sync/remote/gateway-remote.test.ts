import { benchesWith } from '../testing/gateway-bench.ts'
import { openRemoteRooms } from '../testing/remote-bench.ts'

// Runs the suites of the gateway with every room at another node. Two kinds of suites are left out: the suites that check the order
// of messages to document workers, because a link is in between, and the suites about events, which reach other nodes by the feed.
benchesWith((deps) => openRemoteRooms(deps))
await import('../gateway/gateway-auth.test.ts')
await import('../gateway/gateway-frames.test.ts')
await import('../gateway/gateway-fuzz.test.ts')
await import('../gateway/gateway-join.test.ts')
await import('../gateway/gateway-life.test.ts')
await import('../gateway/gateway-opening.test.ts')
await import('../gateway/gateway-sync.test.ts')
