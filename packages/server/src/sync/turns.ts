/** How long it takes until half of what somebody used of a processor no longer counts. */
const HALF_LIFE_MS = 1_000
/** Debts below this are forgotten. */
const NOTHING_MS = 0.01

/** A piece of work that waits for a processor. Whoever gives it keeps it short: a few milliseconds, or one step that cannot be cut. */
export interface Turn<Work> {
  readonly workspaceId: string
  readonly connection: number
  /** Processor time that it is expected to take. */
  readonly estimateMs: number
  readonly work: Work
}

/** Processor time that each of many has used lately, in ms; what was used a second ago counts half. */
class Debts<Key> {
  readonly #debts = new Map<Key, { ms: number; atMs: number }>()

  of(key: Key, nowMs: number): number {
    const debt = this.#debts.get(key)
    return debt === undefined ? 0 : debt.ms * 2 ** ((debt.atMs - nowMs) / HALF_LIFE_MS)
  }

  add(key: Key, ms: number, nowMs: number): void {
    this.#debts.set(key, { ms: Math.max(0, this.of(key, nowMs) + ms), atMs: nowMs })
  }

  all(nowMs: number): (readonly [Key, number])[] {
    return [...this.#debts.keys()].map((key) => [key, this.of(key, nowMs)])
  }

  has(key: Key): boolean {
    return this.#debts.has(key)
  }

  /** Whether anybody owes more than nothing and at most `mostMs`. */
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
 * Whose turn it is at one processor: that of the workspace which used the least of it lately, and within it that of the connection which used the
 * least; between equals, that of who has waited longest. Nobody's work is dropped, and the processor does not rest while work waits. [G9, C1]
 *
 * A turn is charged by its estimate when it is taken and by its measured time when it is done. Debts belong to workspaces, so a connection that
 * comes back has not got rid of what its workspace owes. Pure: knows no thread and no clock, times are given by the caller and never go back.
 */
export class Turns<Work> {
  readonly #waiting = new Map<string, Map<number, Turn<Work>[]>>()
  readonly #workspaces = new Debts<string>()
  readonly #connections = new Debts<number>()
  readonly #spent = new Map<string, number>()
  /** No time in `#spent` is above this. */
  #mostSpentMs = 0
  #size = 0

  /** How many turns wait. */
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

  /** What the workspace owes whose turn is next; `null` when none waits. */
  nextOwesMs(nowMs: number): number | null {
    const workspaceId = leastOwing(this.#waiting.keys(), this.#workspaces, nowMs)
    return workspaceId === null ? null : this.#workspaces.of(workspaceId, nowMs)
  }

  /** Whether some workspace used a processor lately, and less of it than `owedMs`. */
  lighterWorks(owedMs: number, nowMs: number): boolean {
    return this.#workspaces.anyBetween(owedMs, nowMs)
  }

  /** Takes the next turn and charges its estimate; `null` when none waits. */
  take(nowMs: number): Turn<Work> | null {
    const workspaceId = leastOwing(this.#waiting.keys(), this.#workspaces, nowMs)
    if (workspaceId === null) return null
    const connections = this.#waiting.get(workspaceId) as Map<number, Turn<Work>[]>
    const connection = leastOwing(connections.keys(), this.#connections, nowMs) as number
    const turns = connections.get(connection) as Turn<Work>[]
    const turn = turns.shift() as Turn<Work>
    this.#size--
    // Taken out and put in again at the end: between equals it is the others' turn.
    connections.delete(connection)
    if (turns.length > 0) connections.set(connection, turns)
    this.#waiting.delete(workspaceId)
    if (connections.size > 0) this.#waiting.set(workspaceId, connections)
    this.#owe(workspaceId, connection, turn.estimateMs, nowMs)
    return turn
  }

  /** Says how long a taken turn really took. */
  done({ workspaceId, connection, estimateMs }: Turn<Work>, tookMs: number, nowMs: number): void {
    this.#owe(workspaceId, connection, tookMs - estimateMs, nowMs)
    this.#note(workspaceId, tookMs)
  }

  /** Charges work that was done outside a turn. `connection` 0: that of no connection. */
  charge(workspaceId: string, connection: number, tookMs: number, nowMs: number): void {
    this.#owe(workspaceId, connection, tookMs, nowMs)
    this.#note(workspaceId, tookMs)
  }

  /** Charges what workspaces used of other processors. */
  spentElsewhere(spent: Iterable<readonly [string, number]>, nowMs: number): void {
    for (const [workspaceId, ms] of spent) this.#workspaces.add(workspaceId, ms, nowMs)
  }

  /** What workspaces used here and was not answered before, for the other processors; sums below `leastMs` wait until they have grown. */
  takeSpent(leastMs = 0): readonly (readonly [string, number])[] {
    // This runs after every turn, and mostly no workspace has used enough.
    if (this.#mostSpentMs < leastMs) return []
    const told = [...this.#spent].filter(([, ms]) => ms >= leastMs)
    for (const [workspaceId] of told) this.#spent.delete(workspaceId)
    this.#mostSpentMs = Math.max(0, ...this.#spent.values())
    return told
  }

  /** What every workspace owes, for a processor that is new. */
  workspaceDebts(nowMs: number): readonly (readonly [string, number])[] {
    return this.#workspaces.all(nowMs)
  }

  workspaceOwesMs(workspaceId: string, nowMs: number): number {
    return this.#workspaces.of(workspaceId, nowMs)
  }

  connectionOwesMs(connection: number, nowMs: number): number {
    return this.#connections.of(connection, nowMs)
  }

  /** Forgets who owes nothing any more. */
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
    const spentMs = (this.#spent.get(workspaceId) ?? 0) + ms
    this.#spent.set(workspaceId, spentMs)
    this.#mostSpentMs = Math.max(this.#mostSpentMs, spentMs)
  }
}

/** The first of those that owe the least; `null` of none. */
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
