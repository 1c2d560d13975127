import * as Y from 'yjs'
import type { KnownContent } from './guard-table.ts'

/**
 * Tells an `UpdateTable` which structs and deletions a document already has. Queries in ascending order of clocks are fast, because each
 * search starts where the previous search ended.
 */
export class KnownDoc implements KnownContent {
  readonly clients: number
  private readonly doc: Y.Doc
  private client = -1
  private structs: readonly (Y.Item | Y.GC)[] = []
  private at = 0

  constructor(doc: Y.Doc) {
    this.doc = doc
    this.clients = doc.store.clients.size
  }

  state(client: number): number {
    return stateOf(this.doc, client)
  }

  isDeleted(client: number, clock: number, length: number): boolean {
    if (clock + length > stateOf(this.doc, client)) return false
    this.seek(client, clock)
    for (let i = this.at; i < this.structs.length; i++) {
      const struct = this.structs[i] as Y.Item | Y.GC
      if (struct.id.clock >= clock + length) break
      if (!struct.deleted) return false
    }
    return true
  }

  beginsAt(client: number, clock: number): boolean {
    if (clock >= stateOf(this.doc, client)) return true
    this.seek(client, clock)
    const struct = this.structs[this.at] as Y.Item | Y.GC
    return struct.id.clock === clock || !(struct instanceof Y.Item)
  }

  /** Moves to the struct that holds `clock`, in doubling steps from the current position. */
  private seek(client: number, clock: number): void {
    if (client !== this.client) {
      this.client = client
      this.structs = this.doc.store.clients.get(client) as (Y.Item | Y.GC)[]
      this.at = 0
    }
    const { structs } = this
    if ((structs[this.at] as Y.Item | Y.GC).id.clock > clock) this.at = 0
    let low = this.at
    let high = low + 1
    for (let step = 1; high < structs.length && (structs[high] as Y.Item | Y.GC).id.clock <= clock; step *= 2) {
      low = high
      high = Math.min(structs.length, high + step)
    }
    while (low + 1 < high) {
      const middle = (low + high) >> 1
      if ((structs[middle] as Y.Item | Y.GC).id.clock <= clock) low = middle
      else high = middle
    }
    this.at = low
  }
}

/** Returns the clock after the last struct of a client in a document. Returns 0 when the document has no struct of the client. */
export function stateOf(doc: Y.Doc, client: number): number {
  const structs = doc.store.clients.get(client)
  if (structs === undefined) return 0
  const last = structs[structs.length - 1] as Y.Item | Y.GC
  return last.id.clock + last.length
}
