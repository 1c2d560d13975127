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
  /** Whether the relay had acknowledged everything in the copy and the document when the copy was opened. */
  readonly beganSaved: boolean
  readonly #ydoc: Y.Doc
  readonly #stored: StoredCopy
  readonly #changed: () => void
  readonly #isUnsaved: () => boolean
  /** Whether the stored copy is marked as unsaved, by this tab or since before it was opened. */
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
    // Edits made before the copy was opened are not in it, so they are written to it.
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

  /** Stores a copy when there is none yet, now that the lineage of the document is known. */
  begin(lineage: string): void {
    if (this.#state !== 'waiting' || this.#stopped) return
    this.#state = 'on'
    this.#inTurn(() => this.#stored.begin(lineage, Y.encodeStateAsUpdate(this.#ydoc), this.#mark()))
    this.#changed()
  }

  /** Removes the mark of the stored copy: the relay has acknowledged everything. */
  saved(): void {
    if (!this.#marked || this.#state !== 'on' || this.#stopped) return
    this.#marked = false
    this.#inTurn(async () => {
      if (!this.#marked) await this.#stored.saved?.()
    })
  }

  /** Stops keeping the copy; resolves when all earlier writes have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#ydoc.off('update', this.#updated)
    await this.#writing
  }

  /** Removes the copy of every lineage and keeps none from now on. With `keepsUnsaved`, a copy with unsaved words of another tab stays. */
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

  /** Evaluated when the write runs: by then the edits of the turn are counted. */
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
