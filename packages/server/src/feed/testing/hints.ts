import { dice } from '../../kernel/testing/dice.ts'
import type { FeedHints } from '../hints.port.ts'
import { createLocalHints } from '../local-hints.ts'

/** A way in which hints reach their listeners, or fail to reach them. */
export type HintFate = 'given' | 'doubled' | 'reordered' | 'lost' | 'off'

/** Returns hints within one process that are all delivered in this way. `lost` loses half of the hints. */
export function troubledHints(fate: HintFate, seed = 1): FeedHints {
  const hints = createLocalHints()
  const below = dice(seed)
  const waiting: (readonly [string, number])[] = []
  return {
    ...hints,
    publish(workspaceId, id) {
      if (fate === 'off' || (fate === 'lost' && below(2) === 0)) return
      if (fate !== 'reordered') {
        hints.publish(workspaceId, id)
        if (fate === 'doubled') for (let again = below(3); again >= 0; again--) hints.publish(workspaceId, id)
        return
      }
      waiting.push([workspaceId, id])
      if (waiting.length < 8) return
      while (waiting.length > 0) {
        const [hint] = waiting.splice(below(waiting.length), 1)
        if (hint !== undefined) hints.publish(...hint)
      }
    },
  }
}
