import * as Y from 'yjs'
import { applyOnly } from '../sync/apply-only.ts'
import { mergeInTurns } from '../sync/merge-updates.ts'
import type { StoredCopy } from './persistence.ts'

/**
 * - `none`: the document was opened without `persist`.
 * - `waiting`: nothing is kept yet, because the relay has not told which life of the document this is.
 * - `on`: edits are kept on this device.
 * - `off`: the device refuses to keep them (its quota, a private window), or the copy was cleared.
 */
export type LocalCopyState = 'none' | 'waiting' | 'on' | 'off'

/** Keeps a stored copy equal to a Y.Doc. */
export class LocalCopy {
  /** Everything that was here when the copy had been opened was acknowledged before. */
  readonly beganSaved: boolean
  readonly #ydoc: Y.Doc
  readonly #stored: StoredCopy
  readonly #changed: () => void
  readonly #isUnsaved: () => boolean
  /** Whether the stored copy is marked as one with words of this tab, or of when it was opened, that are not acknowledged. */
  #marked: boolean
  #state: LocalCopyState
  #queue: Uint8Array[] = []
  #writing: Promise<void> = Promise.resolve()
  #stopped = false

  /** `isUnsaved`: whether the document has words now that the relay has not acknowledged. */
  constructor(ydoc: Y.Doc, stored: StoredCopy, changed: () => void, isUnsaved: () => boolean) {
    this.#ydoc = ydoc
    this.#stored = stored
    this.#changed = changed
    this.#isUnsaved = isUnsaved
    this.#marked = stored.content !== null && stored.content.unsaved !== false
    this.beganSaved = stored.content !== null && !this.#marked && ydoc.store.clients.size === 0
    this.#state = stored.content === null ? 'waiting' : 'on'
    // What was edited before the copy was opened is not in it.
    if (stored.content !== null) {
      if (ydoc.store.clients.size > 0) this.#queue.push(Y.encodeStateAsUpdate(ydoc))
      applyOnly(ydoc, stored.content.update, this)
    }
    ydoc.on('update', this.#updated)
    this.#write()
  }

  get state(): LocalCopyState {
    return this.#state
  }

  /** The lineage of the copy that was found. */
  get lineage(): string | null {
    return this.#stored.content?.lineage ?? null
  }

  /** Begins the copy when there is none: the document is known to be of this lineage. */
  begin(lineage: string): void {
    if (this.#state !== 'waiting' || this.#stopped) return
    this.#state = 'on'
    this.#inTurn(() => this.#stored.begin(lineage, Y.encodeStateAsUpdate(this.#ydoc), this.#mark()))
    this.#changed()
  }

  /** The relay has acknowledged everything. */
  saved(): void {
    if (!this.#marked || this.#state !== 'on' || this.#stopped) return
    this.#marked = false
    this.#inTurn(async () => {
      if (!this.#marked) await this.#stored.saved?.()
    })
  }

  /** Ends the keeping; resolves when everything before is written. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#ydoc.off('update', this.#updated)
    await this.#writing
  }

  /** Removes the copy, of any lineage, and keeps nothing any more. `keepsUnsaved`: but what another tab has not saved. */
  async remove(keepsUnsaved = false): Promise<void> {
    this.#queue = []
    await this.stop()
    await this.#stored.remove({ keepsUnsaved }).catch(() => {})
    this.#turnOff()
  }

  readonly #updated = (update: Uint8Array, origin: unknown): void => {
    if (origin === this || this.#state !== 'on') return
    this.#queue.push(update)
    this.#write()
  }

  #write(): void {
    if (this.#queue.length === 0) return
    this.#inTurn(async () => {
      if (this.#queue.length === 0 || this.#state !== 'on') return
      const update = mergeInTurns(this.#queue)
      this.#queue = []
      if (!(await this.#stored.append(update, this.#mark()))) this.#turnOff()
    })
  }

  /** Looked at when it is written: the words of a turn are counted by then. */
  #mark(): boolean {
    this.#marked = this.#isUnsaved()
    return this.#marked
  }

  #inTurn(write: () => Promise<void>): void {
    this.#writing = this.#writing.then(write).catch(() => this.#turnOff())
  }

  #turnOff(): void {
    if (this.#state === 'off') return
    this.#state = 'off'
    this.#queue = []
    this.#changed()
  }
}
