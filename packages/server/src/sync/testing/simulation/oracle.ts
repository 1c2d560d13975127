import * as Y from 'yjs'
import type { DocumentHead, DocumentWrite, WriteOutcome } from '../../../documents/document-store.port.ts'
import type { FeedPlace } from '../../../feed/feed-table.port.ts'
import type { Incarnation, Tenure } from '../../ownership.port.ts'
import type { AppendOutcome, AppendRecord, Snapshot } from '../../update-log.port.ts'

/** A broken invariant. The message begins with the name of the invariant, such as I3. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** The committed log of one document. */
interface Log {
  readonly id: string
  /** The document with all updates of the log. */
  doc: Y.Doc
  readonly updates: Uint8Array[]
  /** The Yjs clocks that the log had before a failover lost its last records. */
  lostClocks: ReadonlyMap<number, number>
  lastEpoch: number
  /** The names of acknowledged shapes that no client ever removes. */
  readonly acked: Set<string>
}

interface Reader {
  readonly place: FeedPlace
  readonly told: Set<number>
}

/** The name of the map in which clients write. The stored body has its entries as the shapes of the page `c1`. */
const SHAPES = 'shapes:c1'

/**
 * Records the events of a simulation that are visible from outside: the commits of the store, and the answers to clients and readers. It
 * checks the invariants at each event.
 */
export class Oracle {
  readonly #logs = new Map<number, Log>()
  readonly #readers = new Map<string, Reader>()
  /** Returns the current owner of a document according to the tables. */
  readonly #ownerOf: (key: number) => Tenure | null
  readonly found: Violation[] = []
  readonly history: string[] = []
  readonly #nowMs: () => number

  constructor(given: { readonly ownerOf: (key: number) => Tenure | null; readonly nowMs: () => number }) {
    this.#ownerOf = given.ownerOf
    this.#nowMs = given.nowMs
  }

  note(what: string): void {
    this.history.push(`${this.#nowMs()} ${what}`)
  }

  violated(invariant: string, what: string): void {
    this.found.push(new Violation(`${invariant}: ${what}`))
    this.note(`VIOLATION ${invariant}: ${what}`)
  }

  created({ key, id }: DocumentHead): void {
    this.#logs.set(key, { id, doc: new Y.Doc(), updates: [], lostClocks: new Map(), lastEpoch: 0, acked: new Set() })
  }

  log(key: number): Log {
    const log = this.#logs.get(key)
    if (log === undefined) throw new Error(`no document ${key}`)
    return log
  }

  /** Called when the store has answered an append of `records` with `outcomes`, one per record. */
  appended(by: Incarnation, records: readonly AppendRecord[], outcomes: readonly AppendOutcome[]): void {
    for (const [i, { key, epoch, update }] of records.entries()) {
      const outcome = outcomes[i]
      if (outcome?.kind === 'appended') this.#logged(key, { owner: by, epoch: epoch ?? 0 }, [update], outcome.seq)
      else this.note(`append of ${by} to ${key} at epoch ${epoch}: ${outcome?.kind}`)
    }
  }

  /** Called when the store has answered a write of a document. Compares a body that was stored for a live document with the log. [I3] */
  wrote(by: Incarnation, { log, set }: DocumentWrite, outcome: WriteOutcome): void {
    if (outcome.kind !== 'written') return this.note(`write of ${by}: ${outcome.kind}`)
    const { key, coveredSeq, lastSeq } = outcome.head
    if (log.kind === 'live') {
      const updates = log.append.map(({ update }) => update)
      this.#logged(key, { owner: by, epoch: log.epoch ?? 0 }, updates, lastSeq)
      this.note(`body of ${key} through ${coveredSeq} by ${by} in ${log.epoch}`)
      if (set.body !== undefined) this.#bodyStored(key, set.body.bytes, coveredSeq)
    } else this.note(`write of ${by} to ${key}: version ${outcome.head.version}`)
  }

  /** Called when a node has stored a snapshot. Compares the snapshot with the log through its sequence. [I3] */
  compacted(by: Incarnation, key: number, { update, throughSeq }: Snapshot, epoch: number | undefined): void {
    this.note(`snapshot of ${key} through ${throughSeq} by ${by} in ${epoch}`)
    this.#sameOwner(key, { owner: by, epoch: epoch ?? 0 }, throughSeq)
    const through = new Y.Doc()
    for (const each of this.log(key).updates.slice(0, throughSeq)) Y.applyUpdate(through, each)
    const snapshot = new Y.Doc()
    Y.applyUpdate(snapshot, update)
    if (!sameContent(through, snapshot))
      this.violated('I3', `the snapshot of ${key} through ${throughSeq} is not the log through ${throughSeq}`)
  }

  /**
   * Called when the database has lost all records of a log after `seq`. Reads need not contain the acknowledged edits among them any more.
   * These edits are in the copies of clients, so they must be in the log again at the end.
   */
  lostAfter(key: number, seq: number): void {
    const log = this.log(key)
    if (log.updates.length <= seq) return
    this.note(`log of ${key} lost ${seq + 1} to ${log.updates.length}`)
    log.lostClocks = Y.decodeStateVector(Y.encodeStateVector(log.doc))
    log.updates.length = seq
    log.doc = new Y.Doc()
    for (const update of log.updates) Y.applyUpdate(log.doc, update)
    for (const name of log.acked) if (!log.doc.getMap(SHAPES).has(name)) log.acked.delete(name)
  }

  /** Called when a client has got the acknowledgement that all of its edits up to `clock` are durable. [I1] */
  acked(key: number, client: number, clock: number, names: readonly string[]): void {
    const { doc, acked, lostClocks } = this.log(key)
    this.note(`acked ${client}@${clock} in ${key}`)
    const stored = Y.getState(doc.store, client)
    const isLost = stored < clock && (lostClocks.get(client) ?? 0) >= clock
    if (!isLost) for (const name of names) acked.add(name)
    if (stored < clock && !isLost)
      this.violated('I1', `client ${client} was acknowledged through ${clock}, the log of ${key} has ${stored}`)
  }

  ackedNames(key: number): readonly string[] {
    return [...this.log(key).acked]
  }

  /** Called when a node has answered a read with `body`. The edits in `acked` were acknowledged before the read began. [I4] */
  read(key: number, by: Incarnation | null, body: Uint8Array, acked: readonly string[]): void {
    const shown = new Set(shapesOf(body))
    const lacking = acked.filter((name) => !shown.has(name) && this.log(key).acked.has(name))
    this.note(`read of ${key} at ${by}: ${shown.size}`)
    if (lacking.length > 0) this.violated('I4', `a read of ${key} at ${by} lacks ${lacking.join()}`)
  }

  /** Called when a process begins to read the feed at `place`. */
  reads(reader: string, place: FeedPlace): void {
    this.#readers.set(reader, { place, told: new Set() })
  }

  /** Called when a process has got a row of the feed. It may get each row only once. [I8] */
  told(reader: string, id: number): void {
    this.note(`told ${reader} of ${id}`)
    const { told } = this.#readers.get(reader) as Reader
    if (told.has(id)) this.violated('I8', `${reader} was told of row ${id} twice`)
    told.add(id)
  }

  /** Returns the rows among `ids` that the process should have got and has not got. [I8] */
  untold(reader: string, ids: readonly number[]): readonly number[] {
    const { place, told } = this.#readers.get(reader) as Reader
    const isDue = (id: number): boolean => id > place.top || place.gaps.some(({ from, to }) => from <= id && id <= to)
    return ids.filter((id) => isDue(id) && !told.has(id))
  }

  /** Returns whether a replica has the same content as the log. [I6] */
  equalsLog(key: number, replica: Y.Doc): boolean {
    return sameContent(this.log(key).doc, replica)
  }

  #logged(key: number, by: Tenure, updates: readonly Uint8Array[], lastSeq: number): void {
    const log = this.log(key)
    this.#sameOwner(key, by, lastSeq)
    if (by.epoch < log.lastEpoch)
      this.violated('I2', `record ${lastSeq} of ${key} has epoch ${by.epoch}, behind one of ${log.lastEpoch}`)
    log.lastEpoch = Math.max(log.lastEpoch, by.epoch)
    for (const update of updates) {
      log.updates.push(update)
      Y.applyUpdate(log.doc, update)
    }
    if (updates.length > 0) this.note(`log of ${key} through ${lastSeq} by ${by.owner} in ${by.epoch}`)
    if (log.doc.store.pendingStructs !== null)
      this.violated('I5', `record ${lastSeq} of ${key} builds on what the log does not have`)
    if (log.updates.length !== lastSeq)
      this.violated('I5', `the log of ${key} ends at ${lastSeq}, with ${log.updates.length} records`)
  }

  /** Checks that the owner makes this change of a document. [I5] */
  #sameOwner(key: number, by: Tenure, seq: number): void {
    const owner = this.#ownerOf(key)
    if (owner?.owner !== by.owner || owner.epoch !== by.epoch)
      this.violated('I5', `${by.owner} in ${by.epoch} changed ${key} at ${seq}, which ${owner?.owner} owns in ${owner?.epoch}`)
  }

  #bodyStored(key: number, body: Uint8Array, coveredSeq: number): void {
    const { doc, updates } = this.log(key)
    if (coveredSeq !== updates.length) return
    const [stored, logged] = [shapesOf(body).sort().join(), [...doc.getMap(SHAPES).keys()].sort().join()]
    if (stored !== logged) this.violated('I3', `the body of ${key} through ${coveredSeq} has ${stored}, its log ${logged}`)
  }
}

function sameContent(a: Y.Doc, b: Y.Doc): boolean {
  return contentOf(a) === contentOf(b)
}

/** Returns the content of a document as text, with the Yjs clock of each client. */
function contentOf(doc: Y.Doc): string {
  const clocks = [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(([a], [b]) => a - b)
  const shapes = Object.entries(doc.getMap(SHAPES).toJSON()).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([clocks, shapes, doc.getText('text').toString()])
}

function shapesOf(body: Uint8Array): string[] {
  const { pages } = JSON.parse(new TextDecoder().decode(body)) as {
    readonly pages?: readonly { readonly shapes?: readonly { readonly id: string }[] }[]
  }
  return (pages?.[0]?.shapes ?? []).map(({ id }) => id)
}

export function editShape(doc: Y.Doc, name: string, value: number): void {
  doc.getMap(SHAPES).set(name, { id: name, type: 'rect', x: value })
}

export function removeShape(doc: Y.Doc, name: string): void {
  doc.getMap(SHAPES).delete(name)
}
