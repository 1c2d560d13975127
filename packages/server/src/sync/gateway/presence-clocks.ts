import { Reader } from '@docrelay/protocol/bytes'
import { readAwareness } from '@docrelay/protocol/codec'
import type { PresenceClocks } from '../worker-messages.ts'

/** At most this many clocks are remembered. A room remembers the same number. */
const MOST_CLOCKS = 2_048

/**
 * Notes clocks that others have seen. A noted clock never falls, and the ids that were seen longest ago are forgotten first.
 * [WS-47]
 */
export function noteClocks(seen: Map<number, number>, clocks: PresenceClocks): void {
  for (const [client, clock] of clocks) {
    const before = seen.get(client) ?? 0
    seen.delete(client)
    seen.set(client, Math.max(before, clock))
  }
  for (const oldest of seen.keys()) {
    if (seen.size <= MOST_CLOCKS) break
    seen.delete(oldest)
  }
}

/** Returns the clocks in an AWARENESS frame of a room. */
export function clocksIn(frame: Uint8Array): PresenceClocks {
  const reader = new Reader(readAwareness(frame.subarray(1)) ?? new Uint8Array())
  const clocks: (readonly [number, number])[] = []
  for (let left = reader.varUint(); left > 0; left--) {
    const [client, clock] = [reader.varUint(), reader.varUint()]
    reader.varBytes()
    if (reader.failed) break
    clocks.push([client, clock])
  }
  return clocks
}
