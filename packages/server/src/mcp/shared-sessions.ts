import type { Clock } from '../kernel/clock.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { KeptFacts, SessionFacts, SessionHint } from './session-facts.port.ts'
import { ClosedIds, makeRoom, SESSION_LIMITS, type SessionLimits } from './session-room.ts'
import { openSession, sealSession, sessionName } from './session-seal.ts'
import { createSessionTable, type LiveSession } from './session-table.ts'
import {
  type FoundSession,
  LOG_LEVELS,
  type LogLevel,
  newSession,
  type Session,
  type SessionOwner,
  type Sessions,
  type SessionStart,
} from './sessions.ts'

const TOKEN_LENGTH = 22
/** After an outage of the bus, a node reads this many sessions at a time. */
const SESSIONS_AT_ONCE = 50

export interface SharedSessionsDeps {
  readonly clock: Clock
  readonly random: Random
  /** Secrets of session ids: the first one seals new ids, and an id sealed with any of them is accepted. */
  readonly keys: readonly Uint8Array[]
  readonly facts: SessionFacts
  readonly limits?: SessionLimits
}

/** The latest announcement of a session's stream by this node. `isHeard`: the bus has delivered the announcement back. */
interface Announced {
  readonly token: string
  isHeard: boolean
}

/**
 * Makes sessions that any node can serve. The id itself carries version, client name and owner. Each request reads subscriptions, log level
 * and whether the session was closed; while the bus does not answer, this node uses what it read last. A session that this node forgot is
 * restored by its next request. [MCP-31, MCP-32, MCP-34, LIFE-27]
 */
export function createSharedSessions(deps: SharedSessionsDeps): Sessions {
  return new SharedSessions(deps)
}

class SharedSessions implements Sessions {
  readonly #deps: SharedSessionsDeps
  readonly #limits: SessionLimits
  readonly #live = createSessionTable()
  readonly #closed: ClosedIds
  /** By session id: stops listening to hints of the session. */
  readonly #listening = new Map<string, () => void>()
  readonly #announced = new WeakMap<Session, Announced>()
  /** Outages of the bus so far. */
  #gaps = 0

  constructor(deps: SharedSessionsDeps) {
    this.#deps = deps
    this.#limits = deps.limits ?? SESSION_LIMITS
    this.#closed = new ClosedIds(this.#limits.closedIds)
    deps.facts.onGap(() => void this.#catchUp())
  }

  get size(): number {
    return this.#live.size
  }

  open(owner: SessionOwner, facts: SessionStart): Session {
    const { keys, random } = this.#deps
    const [key] = keys
    if (key === undefined) throw new Error('sessions of several nodes need a key')
    return this.#adopt(sealSession(facts, owner.key, key, random), owner, facts)
  }

  async find(id: string | undefined, owner: SessionOwner): Promise<FoundSession> {
    const sealed = id === undefined ? null : openSession(id, owner.key, this.#deps.keys)
    if (id === undefined || sealed === null) return { kind: 'none' }
    if (this.#closed.has(id)) return { kind: 'closed' }
    const session = this.#live.get(id)?.session ?? this.#adopt(id, owner, sealed)
    this.#live.use(session, this.#deps.clock.monotonicMs())
    return (await this.#refresh(session)) ? { kind: 'live', session } : { kind: 'closed' }
  }

  async close(id: string | undefined, owner: SessionOwner): Promise<void> {
    if (id === undefined || openSession(id, owner.key, this.#deps.keys) === null) return
    this.#end(id)
    const { facts } = this.#deps
    await facts.close(sessionName(id))
    facts.tell(sessionName(id), { kind: 'changed' })
  }

  #adopt(id: string, owner: SessionOwner, start: SessionStart): Session {
    const { clock, facts } = this.#deps
    const session: Session = newSession(id, owner, start, {
      setLogLevel: (level) => facts.setLogLevel(sessionName(id), owner.key, level),
      subscribe: async (uri, most) => {
        const outcome = await facts.subscribe(sessionName(id), owner.key, uri, most)
        if (outcome === 'added') facts.tell(sessionName(id), { kind: 'changed' })
        return outcome
      },
      unsubscribe: async (uri) => {
        await facts.unsubscribe(sessionName(id), uri)
        facts.tell(sessionName(id), { kind: 'changed' })
      },
      cancelElsewhere: (requestId) => facts.tell(sessionName(id), { kind: 'cancel', requestId }),
      takeOver: () => this.#takeOver(session),
    })
    const nowMs = clock.monotonicMs()
    makeRoom(this.#live, owner, { limits: this.#limits, nowMs, forget: (entry) => this.#forget(entry) })
    this.#live.use(session, nowMs)
    this.#listening.set(
      id,
      facts.listen(sessionName(id), (hint) => this.#heard(session, hint)),
    )
    return session
  }

  #forget({ session }: LiveSession): void {
    session.stream?.close()
    this.#live.remove(session.id)
    this.#listening.get(session.id)?.()
    this.#listening.delete(session.id)
  }

  #end(id: string): void {
    const entry = this.#live.get(id)
    if (entry !== undefined) this.#forget(entry)
    this.#closed.add(id, this.#deps.clock.monotonicMs())
  }

  /** Reads the shared facts of a session into it; resolves to `false` when the session was closed. */
  async #refresh(session: Session): Promise<boolean> {
    const kept = await this.#deps.facts.read(sessionName(session.id))
    if (kept?.isClosed === true) {
      this.#end(session.id)
      return false
    }
    if (kept !== null) apply(session, kept)
    return true
  }

  #takeOver(session: Session): void {
    const token = newId('', TOKEN_LENGTH, this.#deps.random)
    this.#announced.set(session, { token, isHeard: false })
    this.#deps.facts.tell(sessionName(session.id), { kind: 'stream', token })
  }

  #heard(session: Session, hint: SessionHint): void {
    switch (hint.kind) {
      case 'cancel':
        return session.running.get(hint.requestId)?.abort()
      case 'changed':
        return void this.#refresh(session)
      case 'stream': {
        const own = this.#announced.get(session)
        // All nodes receive announcements in the same order. The last announced stream stays, and an older one ends here.
        if (own?.token === hint.token) own.isHeard = true
        else if (own?.isHeard === true) session.stream?.close()
      }
    }
  }

  /**
   * Reads each session with a stream again, because hints sent while the bus was down are lost. Reads a few at a time, because a flood of
   * requests would break the connection again.
   */
  async #catchUp(): Promise<void> {
    const gap = ++this.#gaps
    const streaming = [...this.#live.oldestFirst()].map(({ session }) => session).filter(({ stream }) => stream !== null)
    for (let from = 0; from < streaming.length && gap === this.#gaps; from += SESSIONS_AT_ONCE) {
      const open = streaming.slice(from, from + SESSIONS_AT_ONCE).filter(({ stream }) => stream !== null)
      for (const session of open) this.#takeOver(session)
      await Promise.all(open.map((session) => this.#refresh(session)))
    }
  }
}

function apply(session: Session, { logLevel, subscriptions }: KeptFacts): void {
  session.logLevel = LOG_LEVELS.find((level): level is LogLevel => level === logLevel) ?? 'info'
  const kept = new Set(subscriptions)
  for (const uri of session.subscriptions) {
    if (kept.has(uri)) continue
    session.subscriptions.delete(uri)
    session.stream?.watch.remove(uri)
  }
  for (const uri of kept) {
    if (session.subscriptions.has(uri)) continue
    session.subscriptions.add(uri)
    session.stream?.watch.add(uri)
  }
}
