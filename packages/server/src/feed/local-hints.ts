import type { FeedHintListener, FeedHints } from './hints.port.ts'

/** Hints within one process: delivered at once and to all listeners, whichever workspaces they follow. */
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
