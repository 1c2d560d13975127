import type { FeedHintListener, FeedHints } from './hints.port.ts'

/** Creates hints within one process. Every hint reaches all listeners at once, no matter which workspaces are followed. */
export function createLocalHints(): FeedHints {
  const listeners = new Set<FeedHintListener>()
  return {
    publish(workspaceId, id) {
      for (const listener of [...listeners]) listener(workspaceId, id)
    },
    onHint(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    follow: () => () => undefined,
  }
}
