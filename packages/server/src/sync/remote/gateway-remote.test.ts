import { benchesWith } from '../testing/gateway-bench.ts'
import { openRemoteRooms } from '../testing/remote-bench.ts'

// The suites of the gateway again, with every room at another node. Those that look into the order of messages to document workers are left
// out, since a link comes between, and so are events of changes, which reach other nodes by another way.
benchesWith((deps) => openRemoteRooms(deps))
await import('../gateway/gateway-auth.test.ts')
await import('../gateway/gateway-frames.test.ts')
await import('../gateway/gateway-fuzz.test.ts')
await import('../gateway/gateway-join.test.ts')
await import('../gateway/gateway-life.test.ts')
await import('../gateway/gateway-opening.test.ts')
await import('../gateway/gateway-sync.test.ts')
