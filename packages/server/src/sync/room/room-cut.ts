import * as Y from 'yjs'
import type { UpdatePieces } from '../guard/guard-pieces.ts'
import { fullState, hasPending, type LiveContent } from './room-content.ts'
import { fillGap, isLoadCostSuspect, judge, loadLimitMs, noteSlowness, type TurnOwner, type Write } from './room-edits.ts'
import type { Member } from './room-members.ts'

/** What a document emitted, and the origin of its transaction. */
export interface Emitted {
  readonly update: Uint8Array
  readonly origin: unknown
}

/** What cutting a write needs of its room, whose other writes wait meanwhile. */
export interface CutOwner extends TurnOwner {
  readonly isReady: boolean
  live(): LiveContent
  /** The sequence that the room's log has come to. */
  readonly sequence: number
  /** Runs `work` and answers what the document emitted, which is neither logged nor handed out. */
  collect<T>(work: () => T): { readonly result: T; readonly emitted: readonly Emitted[] }
}

/** `lost`: the room was closed meanwhile, or has just been found broken. */
export type CutOutcome =
  | { readonly kind: 'applied'; readonly emitted: readonly Emitted[] }
  | { readonly kind: 'refused' | 'lost' }

/** Structs of the first piece and of the largest one. */
const FIRST_STRUCTS = 64
const MOST_STRUCTS = 16_384
/** What a piece should take: so long others wait for it. */
const PIECE_MS = 4
/** As long as the watchdog lets an uncut write run. [C5] */
const LONGEST_MS = 2_000
const LONGEST_MS_PER_MIB = 1_000
const MIB = 1024 * 1024
/** Steps of an update with few structs are never what is slow: then it was the machine. */
const MANY_STRUCTS = 1_000

/**
 * Applies one costly write in pieces, each in a turn of its own, so that documents of others go on meanwhile. [G9, C1] Nothing of it is logged or
 * handed out before all of it is applied and the document is known to load in time; a write that takes longer than any may ends its connection.
 * `took` hears the processor time that it had.
 */
export async function cutWrite(owner: CutOwner, member: Member, write: Write, took: (ms: number) => void): Promise<CutOutcome> {
  const { host } = owner
  const live = owner.live()
  const inspection = host.guard.inspect(write.update, live, owner.formerClients(member))
  const structs = judge(owner, live, member, write, inspection)
  if (structs === null) return { kind: 'refused' }
  const cut = new Cut(owner, member, write, host.guard.pieces(write.update))
  const applied = await cut.run()
  took(cut.spentMs)
  if (applied.kind !== 'applied') return applied
  live.structCount += structs
  const { emitted } = owner.collect(() => fillGap(owner, live))
  const outcome: CutOutcome = { kind: 'applied', emitted: [...applied.emitted, ...emitted] }
  noteSlowness(live, cut.spentMs)
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
  private structs = FIRST_STRUCTS

  constructor(owner: CutOwner, member: Member, write: Write, pieces: UpdatePieces) {
    this.owner = owner
    this.member = member
    this.write = write
    this.pieces = pieces
    this.live = owner.live()
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

  /** Applies pieces until time is up; `null`: there is more. */
  private step(untilMs: number): CutOutcome | null {
    const { owner, write } = this
    const { clock } = owner.host
    try {
      for (;;) {
        if (!owner.isReady || owner.live() !== this.live) return { kind: 'lost' }
        const piece = this.pieces.next(this.structs)
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
    const { owner, member, write, live } = this
    const { processorMs, watch } = owner.host
    const { connection, join } = member
    const startedMs = processorMs()
    watch.begin({ room: owner.id, connection, join, ordinal: write.ordinal, bytes: piece.length })
    try {
      this.emitted.push(...owner.collect(() => Y.applyUpdate(live.doc, piece, member)).emitted)
    } finally {
      watch.end()
    }
    const tookMs = processorMs() - startedMs
    this.spentMs += tookMs
    this.structs = nextSize(this.structs, tookMs)
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

/** The size of the next piece after one of `structs` took `tookMs`; it grows fast and shrinks at once. */
export function nextSize(structs: number, tookMs: number): number {
  const wanted = tookMs < PIECE_MS / 8 ? structs * 4 : Math.floor((structs * PIECE_MS) / tookMs)
  return Math.max(1, Math.min(MOST_STRUCTS, structs * 4, wanted))
}

function longestMs(bytes: number): number {
  return LONGEST_MS + (bytes > MIB ? (bytes / MIB) * LONGEST_MS_PER_MIB : 0)
}

/**
 * Measures elsewhere what the document takes to load now, and says what is wrong when that is too long: steps that are each within their time
 * must not add up to a document that no load admits. [G9]
 */
async function loadFault(
  owner: CutOwner,
  live: LiveContent,
  { spentMs, structs }: { readonly spentMs: number; readonly structs: number },
): Promise<string | null> {
  const { processorMs, scratch } = owner.host
  const startedMs = processorMs()
  // Encoding counts too: whoever joins the loaded document waits for it.
  const state = fullState({ kind: 'live', live }, owner.sequence)
  const encodeMs = processorMs() - startedMs
  owner.host.turns.charge(owner.workspaceId, 0, encodeMs)
  const limitMs = loadLimitMs(state.length)
  if (live.loadCostMs <= limitMs) return null
  if (structs >= MANY_STRUCTS && spentMs > limitMs) return `applying the update took ${Math.round(spentMs)} ms`
  const loadMs = await scratch.loadMs(owner.workspaceId, state)
  if (loadMs === null) return 'the document cannot be loaded in the time that a load may take'
  live.loadCostMs = encodeMs + loadMs
  return live.loadCostMs > limitMs ? `loading the document would take ${Math.round(live.loadCostMs)} ms` : null
}
