import type { Session, SessionHolder } from './sessions.ts'

export interface LiveSession {
  readonly session: Session
  readonly usedAtMs: number
}

/** Whether the session has no open stream. */
export function isIdle({ session }: LiveSession): boolean {
  return session.stream === null
}

/** Live sessions by holder. This is bookkeeping only: `createSessions` decides which session is forgotten, and when. */
export interface SessionTable {
  readonly size: number
  get(id: string): LiveSession | undefined
  /** Adds the session, or makes it the most recently used. */
  use(session: Session, usedAtMs: number): void
  remove(id: string): void
  /** Yields sessions, the least recently used first. */
  oldestFirst(): Iterable<LiveSession>
  /** Returns the oldest idle sessions of a principal that exceed `max`. */
  overPrincipal(holder: SessionHolder, max: number): readonly LiveSession[]
  /**
   * Returns the oldest idle session of the principal with the most sessions, in the workspace with the most. Skips principals whose sessions
   * all have a stream. `null` when every session has a stream.
   */
  idleOfLargest(): LiveSession | null
}

interface Workspace {
  size: number
  /** Sessions of each principal, the least recently used first. */
  readonly principals: Map<string, Map<string, LiveSession>>
}

export function createSessionTable(): SessionTable {
  const live = new Map<string, LiveSession>()
  const workspaces = new Map<string, Workspace>()

  const remove = (id: string): void => {
    const entry = live.get(id)
    if (entry === undefined) return
    live.delete(id)
    const { workspaceId, principalKey } = entry.session.holder
    const workspace = workspaces.get(workspaceId)
    const own = workspace?.principals.get(principalKey)
    if (workspace === undefined || own === undefined) return
    workspace.size--
    own.delete(id)
    if (own.size === 0) workspace.principals.delete(principalKey)
    if (workspace.size === 0) workspaces.delete(workspaceId)
  }

  return {
    get size() {
      return live.size
    },
    get: (id) => live.get(id),
    remove,
    use(session, usedAtMs) {
      remove(session.id)
      const { workspaceId, principalKey } = session.holder
      const workspace: Workspace = workspaces.get(workspaceId) ?? { size: 0, principals: new Map() }
      const own = workspace.principals.get(principalKey) ?? new Map<string, LiveSession>()
      const entry = { session, usedAtMs }
      live.set(session.id, entry)
      workspaces.set(workspaceId, workspace)
      workspace.size++
      workspace.principals.set(principalKey, own.set(session.id, entry))
    },
    oldestFirst: () => live.values(),
    overPrincipal({ workspaceId, principalKey }, max) {
      const own = workspaces.get(workspaceId)?.principals.get(principalKey)
      const above = (own?.size ?? 0) - max
      return own === undefined || above <= 0 ? [] : firstIdle(own, above)
    },
    idleOfLargest() {
      let best: { readonly sizes: readonly [number, number]; readonly entry: LiveSession } | null = null
      for (const { size, principals } of workspaces.values()) {
        for (const own of principals.values()) {
          if (best !== null && !isMore([size, own.size], best.sizes)) continue
          const [entry] = firstIdle(own, 1)
          if (entry !== undefined) best = { sizes: [size, own.size], entry }
        }
      }
      return best?.entry ?? null
    },
  }
}

function isMore([workspace, principal]: readonly [number, number], [w, p]: readonly [number, number]): boolean {
  return workspace > w || (workspace === w && principal > p)
}

/** Returns the oldest idle sessions, at most `count`. Stops early, because a principal at its limit calls this for each new session. */
function firstIdle(own: ReadonlyMap<string, LiveSession>, count: number): readonly LiveSession[] {
  const found: LiveSession[] = []
  for (const entry of own.values()) {
    if (isIdle(entry)) found.push(entry)
    if (found.length === count) break
  }
  return found
}
