import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import { DocumentMemory } from './caller-memory.ts'

/** A memory is forgotten this long after the last answer about its document. [AG-17] */
export const LASTS_MS = 30 * 60_000
const SWEEP_MS = 60_000
const MOST_DOCUMENTS = 32
const MOST_BYTES = 64 * 1_048_576
const ENTRY_BYTES = 1_024

export interface MemoriesDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  /** Called when a memory of a document is created; the returned function is called when it is forgotten. */
  readonly hold: (ref: DocumentRef) => () => void
  readonly maxBytes?: number
}

interface Entry {
  readonly caller: string
  readonly memory: DocumentMemory
  readonly release: () => void
  atMs: number
  bytes: number
}

/**
 * What each caller last saw of each document, in the memory of this process only. Over a limit, the least recently used is forgotten first.
 * [AG-17, AG-18]
 */
export class Memories {
  readonly #deps: MemoriesDeps
  /** Ordered by last use; the most recently used entry is last. */
  readonly #entries = new Map<string, Entry>()
  readonly #counts = new Map<string, number>()
  #bytes = 0
  #isSweeping = false

  constructor(deps: MemoriesDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns `null` when the caller saw nothing of the document in the last LASTS_MS. */
  of(caller: string, ref: DocumentRef): DocumentMemory | null {
    const entry = this.#entries.get(keyOf(caller, ref))
    return entry === undefined || this.#isOver(entry) ? null : entry.memory
  }

  /** Changes what a caller saw of a document, creating the memory when there is none, and restarts its lifetime. */
  update(caller: string, ref: DocumentRef, change: (memory: DocumentMemory) => void): void {
    const key = keyOf(caller, ref)
    let entry = this.#entries.get(key)
    if (entry !== undefined && this.#isOver(entry)) {
      this.#forget(key, entry)
      entry = undefined
    }
    if (entry === undefined) {
      entry = { caller, memory: new DocumentMemory(), release: this.#deps.hold(ref), atMs: 0, bytes: 0 }
      this.#counts.set(caller, (this.#counts.get(caller) ?? 0) + 1)
    }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.atMs = this.#deps.clock.monotonicMs()
    change(entry.memory)
    this.#bytes -= entry.bytes
    entry.bytes = ENTRY_BYTES + entry.memory.bytes
    this.#bytes += entry.bytes
    this.#bound(caller)
    if (!this.#isSweeping) this.#sweepLater()
  }

  forget(caller: string, ref: DocumentRef): void {
    const key = keyOf(caller, ref)
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#forget(key, entry)
  }

  #isOver({ atMs }: Entry): boolean {
    return this.#deps.clock.monotonicMs() - atMs > LASTS_MS
  }

  #bound(caller: string): void {
    if ((this.#counts.get(caller) ?? 0) > MOST_DOCUMENTS)
      for (const [key, entry] of this.#entries)
        if (entry.caller === caller) {
          this.#forget(key, entry)
          break
        }
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= (this.#deps.maxBytes ?? MOST_BYTES)) break
      this.#forget(key, entry)
    }
  }

  #sweepLater(): void {
    this.#isSweeping = true
    this.#deps.timers.after(SWEEP_MS, () => this.#sweep())
  }

  #sweep(): void {
    for (const [key, entry] of this.#entries) {
      if (!this.#isOver(entry)) break
      this.#forget(key, entry)
    }
    this.#isSweeping = false
    if (this.#entries.size > 0) this.#sweepLater()
  }

  #forget(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
    const left = (this.#counts.get(entry.caller) ?? 1) - 1
    if (left === 0) this.#counts.delete(entry.caller)
    else this.#counts.set(entry.caller, left)
    entry.release()
  }
}

function keyOf(caller: string, { workspaceId, id }: DocumentRef): string {
  return JSON.stringify([caller, workspaceId, id])
}
