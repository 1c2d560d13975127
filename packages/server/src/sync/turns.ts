/** After this time, used processor time counts only half. */
const HALF_LIFE_MS = 1_000
/** `sweep` forgets debts below this. */
const NOTHING_MS = 0.01
/** The processor time of a workspace is told to other processors once it reaches this much, because telling costs time too. */
const TELL_FROM_MS = 5

/** A piece of work that waits for a processor. It must be short: a few milliseconds, or one step that cannot be cut. */
export interface Turn<Work> {
  readonly workspaceId: string
  readonly connection: number
  /** The processor time that the work is expected to take. */
  readonly estimateMs: number
  readonly work: Work
}

/** The processor time that each key has used lately, in ms. Time that was used a second ago counts half. */
class Debts<Key> {
  readonly #debts = new Map<Key, { ms: number; atMs: number }>()

  of(key: Key, nowMs: number): number {
    const debt = this.#debts.get(key)
    return debt === undefined ? 0 : debt.ms * 2 ** ((debt.atMs - nowMs) / HALF_LIFE_MS)
  }

  add(key: Key, ms: number, nowMs: number): void {
    const debt = this.#debts.get(key)
    if (debt === undefined) {
      this.#debts.set(key, { ms: Math.max(0, ms), atMs: nowMs })
      return
    }
    // The object is changed in place: a new one for each edit would live long enough to be moved to the old objects.
    debt.ms = Math.max(0, this.of(key, nowMs) + ms)
    debt.atMs = nowMs
  }

  all(nowMs: number): (readonly [Key, number])[] {
    return [...this.#debts.keys()].map((key) => [key, this.of(key, nowMs)])
  }

  has(key: Key): boolean {
    return this.#debts.has(key)
  }

  /** Returns whether a key has a debt of at most `mostMs`. A debt below `NOTHING_MS` does not count. */
  anyBetween(mostMs: number, nowMs: number): boolean {
    for (const key of this.#debts.keys()) {
      const ms = this.of(key, nowMs)
      if (ms >= NOTHING_MS && ms <= mostMs) return true
    }
    return false
  }

  sweep(nowMs: number): void {
    for (const key of this.#debts.keys()) if (this.of(key, nowMs) < NOTHING_MS) this.#debts.delete(key)
  }
}

/**
 * Decides which turn comes next at one processor. The workspace that used the least processor time lately comes first, and within it the
 * connection that used the least. Among equals, the workspace or connection that has waited longest comes first. No work is dropped, and the
 * processor is never idle while work waits. [G9, C1]
 *
 * A turn is charged its estimate when it is taken, and the difference to its measured time when it is done. The workspace has a debt too, so
 * a connection that closes and opens again does not get rid of it. Pure: it uses no thread and no clock. The caller passes times, which never
 * go back.
 */
export class Turns<Work> {
  readonly #waiting = new Map<string, Map<number, Turn<Work>[]>>()
  readonly #workspaces = new Debts<string>()
  readonly #connections = new Debts<number>()
  /** The processor time that each workspace used here and that was not told yet, in ms. */
  readonly #spent = new Map<string, number>()
  /** Workspaces whose time in `#spent` has reached `TELL_FROM_MS`. */
  readonly #toTell: string[] = []
  #size = 0

  /** The number of waiting turns. */
  get size(): number {
    return this.#size
  }

  add(turn: Turn<Work>): void {
    this.#size++
    const connections = this.#waiting.get(turn.workspaceId)
    if (connections === undefined) {
      this.#waiting.set(turn.workspaceId, new Map([[turn.connection, [turn]]]))
      return
    }
    const turns = connections.get(turn.connection)
    if (turns === undefined) connections.set(turn.connection, [turn])
    else turns.push(turn)
  }

  /** Returns the debt of the workspace whose turn comes next, or `null` when no turn waits. */
  nextOwesMs(nowMs: number): number | null {
    const workspaceId = leastOwing(this.#waiting.keys(), this.#workspaces, nowMs)
    return workspaceId === null ? null : this.#workspaces.of(workspaceId, nowMs)
  }

  /** Returns whether a workspace used a processor lately and owes at most `owedMs`. */
  lighterWorks(owedMs: number, nowMs: number): boolean {
    return this.#workspaces.anyBetween(owedMs, nowMs)
  }

  /** Takes the next turn and charges its estimate. Returns `null` when no turn waits. */
  take(nowMs: number): Turn<Work> | null {
    const workspaceId = leastOwing(this.#waiting.keys(), this.#workspaces, nowMs)
    if (workspaceId === null) return null
    const connections = this.#waiting.get(workspaceId) as Map<number, Turn<Work>[]>
    const connection = leastOwing(connections.keys(), this.#connections, nowMs) as number
    const turns = connections.get(connection) as Turn<Work>[]
    const turn = turns.shift() as Turn<Work>
    this.#size--
    // The connection and the workspace move to the end, so that among equals the others come first.
    this.#waiting.delete(workspaceId)
    if (turns.length > 0 || connections.size > 1) {
      connections.delete(connection)
      if (turns.length > 0) connections.set(connection, turns)
      this.#waiting.set(workspaceId, connections)
    }
    this.#owe(workspaceId, connection, turn.estimateMs, nowMs)
    return turn
  }

  /** Ends a taken turn that really took `tookMs`. */
  done({ workspaceId, connection, estimateMs }: Turn<Work>, tookMs: number, nowMs: number): void {
    this.#owe(workspaceId, connection, tookMs - estimateMs, nowMs)
    this.#note(workspaceId, tookMs)
  }

  /** Charges work that was done outside a turn. With `connection` 0, the work belongs to no connection. */
  charge(workspaceId: string, connection: number, tookMs: number, nowMs: number): void {
    this.#owe(workspaceId, connection, tookMs, nowMs)
    this.#note(workspaceId, tookMs)
  }

  /** Charges the time that workspaces used on other processors. */
  spentElsewhere(spent: Iterable<readonly [string, number]>, nowMs: number): void {
    for (const [workspaceId, ms] of spent) this.#workspaces.add(workspaceId, ms, nowMs)
  }

  /**
   * Returns the processor time that workspaces used here, to be charged at the other processors. A sum below `TELL_FROM_MS` is kept for a later
   * call. Cheap when no workspace has used enough, since it runs after every turn.
   */
  takeSpent(): readonly (readonly [string, number])[] {
    const told: (readonly [string, number])[] = []
    for (const workspaceId of this.#toTell) {
      const ms = this.#spent.get(workspaceId)
      if (ms !== undefined) told.push([workspaceId, ms])
      this.#spent.delete(workspaceId)
    }
    this.#toTell.length = 0
    return told
  }

  /** Returns the debt of every workspace, with which a new processor starts. */
  workspaceDebts(nowMs: number): readonly (readonly [string, number])[] {
    return this.#workspaces.all(nowMs)
  }

  workspaceOwesMs(workspaceId: string, nowMs: number): number {
    return this.#workspaces.of(workspaceId, nowMs)
  }

  connectionOwesMs(connection: number, nowMs: number): number {
    return this.#connections.of(connection, nowMs)
  }

  /** Forgets the workspaces and connections that owe nothing any more. */
  sweep(nowMs: number): void {
    this.#workspaces.sweep(nowMs)
    this.#connections.sweep(nowMs)
    for (const workspaceId of this.#spent.keys()) if (!this.#workspaces.has(workspaceId)) this.#spent.delete(workspaceId)
  }

  #owe(workspaceId: string, connection: number, ms: number, nowMs: number): void {
    this.#workspaces.add(workspaceId, ms, nowMs)
    if (connection > 0) this.#connections.add(connection, ms, nowMs)
  }

  #note(workspaceId: string, ms: number): void {
    const beforeMs = this.#spent.get(workspaceId) ?? 0
    this.#spent.set(workspaceId, beforeMs + ms)
    if (beforeMs < TELL_FROM_MS && beforeMs + ms >= TELL_FROM_MS) this.#toTell.push(workspaceId)
  }
}

/** Returns the first key with the smallest debt, or `null` when there are no keys. */
function leastOwing<Key>(keys: Iterable<Key>, debts: Debts<Key>, nowMs: number): Key | null {
  let best: Key | null = null
  let least = Number.POSITIVE_INFINITY
  for (const key of keys) {
    const owed = debts.of(key, nowMs)
    if (owed >= least) continue
    best = key
    least = owed
  }
  return best
}
