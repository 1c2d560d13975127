import { open, stat, statfs, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { RelayError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'

const MIB = 1 << 20
const MOST_BYTES = 64 * MIB
const SHARE_OF_VOLUME = 0.05
/** With less free space than this, a write may have failed for lack of space. */
const SHORT_OF_SPACE_BYTES = 16 * MIB
/** Bytes of the reserve that one delete gets at a time. */
const RELEASED_BYTES = 8 * MIB
const PIECE_BYTES = 4 * MIB
/** The reserve is first filled after this time, because a starting relay has more urgent work than writing 64 MiB. */
const FIRST_FILL_MS = 5_000
const FILL_AGAIN_MS = 5_000

export interface Space {
  readonly availableBytes: number
  readonly totalBytes: number
}

/** Returns the size of the reserve: 64 MiB or 5 % of the volume, whichever is less. */
export function reserveTarget({ totalBytes }: Pick<Space, 'totalBytes'>): number {
  return Math.floor(Math.min(MOST_BYTES, totalBytes * SHARE_OF_VOLUME))
}

/**
 * Returns how many bytes to add to a reserve of `heldBytes`: everything that is missing, but only when the volume has room for that and for the whole
 * reserve once more. So a used reserve does not come back before the operator has made room.
 */
export function reserveGrowth(heldBytes: number, space: Space): number {
  const target = reserveTarget(space)
  const missing = Math.max(0, target - heldBytes)
  return space.availableBytes >= missing + target ? missing : 0
}

export interface ReserveOptions {
  /** Path of the store's file; the reserve is `<path>.reserve`. */
  readonly path: string
  readonly timers: Timers
  readonly log: Logger
}

/** Disk space reserved for deletes: on a full disk every other write is refused, and a delete makes room. [LIFE-31] */
export class Reserve implements AsyncDisposable {
  readonly #options: ReserveOptions
  readonly #file: string
  #cancel: () => void
  #filling: Promise<void> = Promise.resolve()
  #closed = false
  /** The last delete in the queue. Deletes on a full disk run one after the other, so that each one gets its own part of the reserve. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: ReserveOptions) {
    this.#options = options
    this.#file = `${options.path}.reserve`
    this.#cancel = options.timers.after(FIRST_FILL_MS, () => this.#fill())
  }

  /**
   * Runs a delete. When it is not stored because the disk is full, frees a part of the reserve and runs the delete again, until the reserve is used
   * up.
   */
  async withSpace<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (!isNotPersisted(error)) throw error
      const again = this.#turn.then(() => this.#runOnReserve(run, error))
      this.#turn = again.catch(() => undefined)
      return again
    }
  }

  async #runOnReserve<T>(run: () => Promise<T>, first: unknown): Promise<T> {
    let error = first
    while (isNotPersisted(error) && (await this.#release())) {
      try {
        return await run()
      } catch (next) {
        error = next
      }
    }
    throw error
  }

  /** Frees a part of the reserve when the disk is short of space. Returns whether it freed any. */
  async #release(): Promise<boolean> {
    try {
      const space = await this.#space()
      const held = await this.#held()
      if (held === 0 || space.availableBytes >= SHORT_OF_SPACE_BYTES) return false
      await truncate(this.#file, Math.max(0, held - RELEASED_BYTES))
      this.#options.log.warn('storage.reserve_used', 'The disk is full; a delete was given a part of the reserve.', {
        leftBytes: Math.max(0, held - RELEASED_BYTES),
      })
      this.#cancel()
      this.#cancel = this.#options.timers.after(FILL_AGAIN_MS, () => this.#fill())
      return true
    } catch {
      return false
    }
  }

  #fill(): void {
    this.#filling = this.#grow().catch((error: unknown) =>
      this.#options.log.debug('storage.reserve_failed', 'The reserve could not be written; it is tried again.', {
        detail: String(error),
      }),
    )
    void this.#filling.then(() => {
      if (!this.#closed) this.#cancel = this.#options.timers.after(FILL_AGAIN_MS, () => this.#fill())
    })
  }

  /**
   * Writes the missing bytes without a flush: the file system counts bytes as soon as they are written, and a file that a power cut has shortened
   * grows again.
   */
  async #grow(): Promise<void> {
    const held = await this.#held()
    let missing = reserveGrowth(held, await this.#space())
    if (missing === 0) return
    const file = await open(this.#file, 'a', 0o600)
    try {
      const piece = new Uint8Array(PIECE_BYTES)
      while (missing > 0 && !this.#closed) {
        const bytes = Math.min(missing, PIECE_BYTES)
        const { bytesWritten } = await file.write(piece, 0, bytes)
        missing -= bytesWritten
      }
    } finally {
      await file.close()
    }
  }

  async #held(): Promise<number> {
    return stat(this.#file).then(
      ({ size }) => size,
      () => 0,
    )
  }

  async #space(): Promise<Space> {
    const { bavail, blocks, bsize } = await statfs(dirname(this.#file))
    return { availableBytes: bavail * bsize, totalBytes: blocks * bsize }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#cancel()
    await this.#filling
  }
}

function isNotPersisted(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'NOT_PERSISTED'
}
