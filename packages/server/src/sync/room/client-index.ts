import * as Y from 'yjs'

type Structs = (Y.Item | Y.GC)[]

/**
 * The structs of a document by client.
 *
 * For each update, Yjs goes through all clients of the document six times, though the update touches one or two of them. Each page load of an
 * editor is a client, so a document that is edited for years has thousands: an update of one letter then takes milliseconds. [C8] Here, while
 * an update is applied by `applyUpdateOf`, `forEach` passes over the touched clients only.
 */
export class ClientIndex extends Map<number, Structs> {
  #touched: Set<number> | null = null

  /** The clients over which `forEach` passes now; `null`: all. */
  get touched(): ReadonlySet<number> | null {
    return this.#touched
  }

  /** Runs `work`. Of the clients that the document knows, it may add structs to these only. */
  touching(clients: Iterable<number>, work: () => void): void {
    this.#touched = new Set(clients)
    try {
      work()
    } finally {
      this.#touched = null
    }
  }

  /** A client that is new to the document is touched too. */
  override set(client: number, structs: Structs): this {
    this.#touched?.add(client)
    return super.set(client, structs)
  }

  override forEach(each: (structs: Structs, client: number, index: Map<number, Structs>) => void): void {
    if (this.#touched === null) {
      super.forEach(each)
      return
    }
    for (const client of this.#touched) {
      const structs = this.get(client)
      if (structs !== undefined) each(structs, client, this)
    }
  }
}

/**
 * The state of each client before a transaction that touches few of them. It has entries for the touched ones; the state of any other client is the
 * present one.
 */
class StatesBefore extends Map<number, number> {
  readonly #touched: ReadonlySet<number>
  readonly #index: ReadonlyMap<number, Structs>

  constructor(states: Iterable<readonly [number, number]>, touched: ReadonlySet<number>, index: ReadonlyMap<number, Structs>) {
    super(states)
    this.#touched = touched
    this.#index = index
  }

  override get(client: number): number | undefined {
    const state = super.get(client)
    if (state !== undefined || this.#touched.has(client)) return state
    const last = this.#index.get(client)?.at(-1)
    return last === undefined ? undefined : last.id.clock + last.length
  }
}

/** Gives a new document an index of its clients. */
export function indexClients(doc: Y.Doc): void {
  const index = new ClientIndex()
  doc.store.clients = index
  doc.on('beforeTransaction', (transaction) => {
    const { touched } = index
    if (touched !== null) transaction.beforeState = new StatesBefore(transaction.beforeState, touched, index)
  })
}

/**
 * Applies an update that brings structs of no other clients than `clients`, to a document without pending content. Does what `Y.applyUpdate` does, in a
 * time that does not depend on how many clients the document has.
 */
export function applyUpdateOf(clients: readonly number[], doc: Y.Doc, update: Uint8Array, origin: unknown): void {
  const index = doc.store.clients
  const apply = (): void => Y.applyUpdate(doc, update, origin)
  // Within a transaction that began for all clients the update is a part of it.
  if (index instanceof ClientIndex && doc._transaction === null) index.touching([...clients, doc.clientID], apply)
  else apply()
}
