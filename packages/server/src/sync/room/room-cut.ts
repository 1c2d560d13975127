import * as Y from 'yjs'
import type { UpdatePieces } from '../guard/guard-pieces.ts'
import type { LateEdit } from '../late-words/late-words.ts'
import { fullState, hasPending, type LiveContent } from './room-content.ts'
import {
  estimatedLoadMs,
  fillGap,
  isLoadCostSuspect,
  judge,
  loadLimitMs,
  noteStep,
  placeLate,
  type TurnOwner,
  type Write,
} from './room-edits.ts'
import type { Member } from './room-members.ts'

/** An update that the document emitted, and the origin of its transaction. */
export interface Emitted {
  readonly update: Uint8Array
  readonly origin: unknown
}

/** The part of a room that `cutWrite` needs. Other writes of the room wait while `cutWrite` runs. */
export interface CutOwner extends TurnOwner {
  readonly isReady: boolean
  live(): LiveContent
  /** The log sequence of the last emitted update. */
  readonly sequence: number
  /** Runs `work` and returns the updates that the document emitted, which are neither logged nor broadcast. */
  collect<T>(work: () => T): { readonly result: T; readonly emitted: readonly Emitted[] }
}

/** `lost`: the room was closed in the meantime, or the write broke its document. */
export type CutOutcome =
  | { readonly kind: 'applied'; readonly emitted: readonly Emitted[] }
  | { readonly kind: 'refused' | 'lost' }

/** Number of structs in the first piece, and the largest number in any piece. */
const FIRST_STRUCTS = 64
const MOST_STRUCTS = 16_384
/** Target duration of one piece, during which other documents wait. */
const PIECE_MS = 4
/** Time limit of the whole write. The watchdog allows the same for a write in one piece. [C5] */
const LONGEST_MS = 2_000
const LONGEST_MS_PER_MIB = 1_000
const MIB = 1024 * 1024
/** An update with fewer structs than this is never slow by itself. If it took long, the machine was busy. */
const MANY_STRUCTS = 1_000

/**
 * Applies one costly write in pieces over several turns, so that other documents are served in between. [G9, C1] Nothing is logged
 * or broadcast before all pieces are applied and the document is known to load within its limit. A write that exceeds the time limit is
 * refused and its document is loaded again. `took` receives the processor time that was used.
 */
export async function cutWrite(owner: CutOwner, member: Member, write: Write, took: (ms: number) => void): Promise<CutOutcome> {
  const { host } = owner
  const live = owner.live()
  const inspection = host.guard.inspect(write.update, live, owner.formerClients(member))
  const structs = judge(owner, live, member, write, inspection)
  if (structs === null) return { kind: 'refused' }
  const cut = new Cut(owner, member, write, host.guard.pieces(write.update))
  let late: readonly LateEdit[] = []
  cut.watched(write.update.length, () => (late = live.late.find(write.update, host.clock.monotonicMs())))
  const applied = await cut.run()
  if (applied.kind !== 'applied') {
    took(cut.spentMs)
    return applied
  }
  live.structCount += structs
  const { emitted } = owner.collect(() => {
    fillGap(live)
    if (late.length > 0) cut.watched(write.update.length, () => placeLate(owner, live, member, late))
  })
  took(cut.spentMs)
  const outcome: CutOutcome = { kind: 'applied', emitted: [...applied.emitted, ...emitted] }
  noteStep(live, cut.spentMs)
  if (!isLoadCostSuspect(live)) return outcome
  const fault = await loadFault(owner, live, { spentMs: cut.spentMs, structs })
  if (!owner.isReady) return { kind: 'lost' }
  if (fault === null) return outcome
  owner.broken(member, fault)
  return { kind: 'lost' }
}

class Cut {
  spentMs = 0
  private readonly owner: CutOwner
  private readonly member: Member
  private readonly write: Write
  private readonly pieces: UpdatePieces
  private readonly live: LiveContent
  private readonly emitted: Emitted[] = []
  private readonly size: PieceSize

  constructor(owner: CutOwner, member: Member, write: Write, pieces: UpdatePieces) {
    this.owner = owner
    this.member = member
    this.write = write
    this.pieces = pieces
    this.live = owner.live()
    this.size = new PieceSize(owner.host.options.bounds?.pieceStructs ?? MOST_STRUCTS)
  }

  run(): Promise<CutOutcome> {
    const { owner, member } = this
    return new Promise((resolve) => {
      const ask = (): void =>
        owner.host.turns.ask({
          workspaceId: owner.workspaceId,
          connection: member.connection,
          estimateMs: owner.host.options.cutMs,
          run(untilMs) {
            const outcome = step(untilMs)
            if (outcome === null) ask()
            else resolve(outcome)
          },
        })
      const step = (untilMs: number): CutOutcome | null => this.step(untilMs)
      ask()
    })
  }

  /** Applies pieces until `untilMs`. Returns `null` when pieces are left. */
  private step(untilMs: number): CutOutcome | null {
    const { owner, write } = this
    const { clock } = owner.host
    try {
      for (;;) {
        if (!owner.isReady || owner.live() !== this.live) return { kind: 'lost' }
        const piece = this.pieces.next(this.size.next)
        if (piece === null) return this.finish()
        this.apply(piece)
        if (this.spentMs > longestMs(write.update.length)) return this.tooLong()
        if (clock.monotonicMs() >= untilMs) return null
      }
    } catch (error) {
      owner.broken(this.member, error)
      return { kind: 'lost' }
    }
  }

  private apply(piece: Uint8Array): void {
    const { owner, member, live } = this
    const work = (): void => Y.applyUpdate(live.doc, piece, member)
    this.size.took(this.watched(piece.length, () => this.emitted.push(...owner.collect(work).emitted)))
  }

  /** Runs a step under the watchdog and returns its processor time, which counts as time of the write. [C5] */
  watched(bytes: number, work: () => void): number {
    const { owner, member, write } = this
    const { processorMs, watch } = owner.host
    const startedMs = processorMs()
    watch.begin({ room: owner.id, connection: member.connection, join: member.join, ordinal: write.ordinal, bytes })
    try {
      work()
    } finally {
      watch.end()
    }
    const tookMs = processorMs() - startedMs
    this.spentMs += tookMs
    return tookMs
  }

  private finish(): CutOutcome {
    if (hasPending(this.live.doc)) throw new Error('an accepted update left content pending')
    return { kind: 'applied', emitted: this.emitted }
  }

  private tooLong(): CutOutcome {
    const { owner, member, write } = this
    owner.refuse(member, write.ordinal, 'ERR_BAD_UPDATE', 'the update could not be applied in the time an update may take')
    owner.broken(member, `applying the update took ${Math.round(this.spentMs)} ms`)
    return { kind: 'lost' }
  }
}

/**
 * Decides how many structs each piece gets, so that the structs of a piece take about `PIECE_MS`. Any transaction in this document also takes
 * a fixed time, which is long with many clients, for example. This fixed time does not count, because smaller pieces would only spend it more
 * often.
 */
export class PieceSize {
  private readonly most: number
  private structs: number
  private before: { readonly structs: number; readonly tookMs: number } | null = null
  /** The part of a piece's time that does not depend on its structs, estimated from the last two sizes. */
  private fixedMs = 0

  constructor(most: number) {
    this.most = most
    this.structs = Math.min(FIRST_STRUCTS, most)
  }

  get next(): number {
    return this.structs
  }

  /** Notes how long a piece took. The next piece is at most four times as large, and smaller when this piece took too long. */
  took(ms: number): void {
    const { structs, before } = this
    if (before !== null && before.structs !== structs) {
      const fixedMs = (before.tookMs * structs - ms * before.structs) / (structs - before.structs)
      this.fixedMs = Math.min(ms * 0.9, Math.max(0, fixedMs))
    }
    this.before = { structs, tookMs: ms }
    const variableMs = ms - Math.min(ms * 0.9, this.fixedMs)
    const wanted = variableMs < PIECE_MS / 8 ? structs * 4 : Math.floor((structs * PIECE_MS) / variableMs)
    this.structs = Math.max(1, Math.min(this.most, structs * 4, wanted))
  }
}

function longestMs(bytes: number): number {
  return LONGEST_MS + (bytes > MIB ? (bytes / MIB) * LONGEST_MS_PER_MIB : 0)
}

/**
 * Measures in another thread how long the document now takes to load. Returns a description of the problem when the load takes too long,
 * else `null`. Without this check, many steps that are each fast enough could make a document that takes too long to load. [G9]
 */
async function loadFault(
  owner: CutOwner,
  live: LiveContent,
  { spentMs, structs }: { readonly spentMs: number; readonly structs: number },
): Promise<string | null> {
  const { processorMs, scratch } = owner.host
  const startedMs = processorMs()
  // The cache is stale when the trial of another write encoded the state between two pieces: pieces do not raise the sequence.
  live.full = null
  // Encoding counts as well: a connection that joins the loaded document waits for it.
  const state = fullState({ kind: 'live', live }, owner.sequence)
  const encodeMs = processorMs() - startedMs
  owner.host.turns.charge(owner.workspaceId, 0, encodeMs)
  const limitMs = loadLimitMs(state.length)
  if (estimatedLoadMs(live) <= limitMs) return null
  if (structs >= MANY_STRUCTS && spentMs > limitMs) return `applying the update took ${Math.round(spentMs)} ms`
  const loadMs = await scratch.loadMs(owner.workspaceId, state)
  if (loadMs === null) return 'the document cannot be loaded in the time that a load may take'
  live.loadCostMs = encodeMs + loadMs
  live.smallStepsMs = 0
  return live.loadCostMs > limitMs ? `loading the document would take ${Math.round(live.loadCostMs)} ms` : null
}
