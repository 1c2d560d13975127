import type { FeedHintListener, FeedHints } from '../../feed/hints.port.ts'
import type { Redis } from './redis.ts'

/** Matches a positive integer below 10^16, as `String` writes it. */
const ID = /^[1-9]\d{0,15}$/

/**
 * Sends hints over the bus, with one channel for each workspace. Messages that are no id are ignored, since other programs may write to the bus.
 * [LIFE-27]
 */
export function redisHints(redis: Redis): FeedHints {
  const listeners = new Set<FeedHintListener>()
  const heard = (workspaceId: string, message: string): void => {
    if (!ID.test(message)) return
    const id = Number(message)
    if (Number.isSafeInteger(id)) for (const listener of listeners) listener(workspaceId, id)
  }
  return {
    publish: (workspaceId, id) => redis.publish(channelOf(workspaceId), String(id)),
    onHint(listener) {
      // Wraps the listener, so that the same function can be added twice.
      const added: FeedHintListener = (...hint) => listener(...hint)
      listeners.add(added)
      return () => void listeners.delete(added)
    },
    follow: followed((workspaceId) => redis.subscribe(channelOf(workspaceId), (message) => heard(workspaceId, message))),
  }
}

function channelOf(workspaceId: string): string {
  return `h:{${workspaceId}}`
}

/** Subscribes to a workspace from its first follower until its last follower leaves. */
function followed(subscribe: (workspaceId: string) => () => void): FeedHints['follow'] {
  const following = new Map<string, { count: number; readonly leave: () => void }>()
  return (workspaceId) => {
    const entry = following.get(workspaceId) ?? { count: 0, leave: subscribe(workspaceId) }
    following.set(workspaceId, entry)
    entry.count++
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      if (--entry.count > 0) return
      following.delete(workspaceId)
      entry.leave()
    }
  }
}
