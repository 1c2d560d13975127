import * as Y from 'yjs'
import type { Inspection } from '../guard/guard.ts'
import { type FullDocument, fullText } from '../guard/guard-full.ts'
import { GUARD_LIMITS } from '../guard/guard-table.ts'
import { applyLater, fillsGap, type LogGap } from './log-gap.ts'
import type { LateEdit } from '../late-words/late-words.ts'
import { applyUpdateOf } from './client-index.ts'
import { countStructs, hasPending, type LiveContent, RELAY } from './room-content.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'

/** A message that may change the document and waits for its room's next turn. */
export interface Write {
  readonly ordinal: number
  /** The ordinal that is settled with this write: 0 for none, `ordinal` when absent. */
  readonly settles?: number
  readonly update: Uint8Array
  /**
   * Whether the message is a step2. A step2 holds everything that the room lacks, so content that is missing in it is missing in the
   * client's own document too.
   */
  readonly isStep2: boolean
  /** The sender had level `view` when the message arrived. Such a write is accepted only when it is a step2 that adds nothing. [WS-30] */
  readonly readOnly: boolean
  /**
   * Set when the write is to be refused whatever it contains. The refusal still waits for its turn, because an ordinal is settled only
   * together with all earlier ones. [WS-40]
   */
  readonly refusal: { readonly code: Refusal; readonly text: string } | null
}

/** Returns a write that the room refuses when its turn comes. */
export function refusedWrite(ordinal: number, refusal: NonNullable<Write['refusal']>): Write {
  return { ordinal, update: new Uint8Array(), isStep2: false, readOnly: false, refusal }
}

export type Refusal =
  | 'ERR_EDIT_FORBIDDEN'
  | 'ERR_BAD_UPDATE'
  | 'ERR_BAD_FRAME'
  | 'ERR_SYNC_GAP'
  | 'ERR_RATE_LIMIT'
  | 'ERR_DOC_FULL'

/** The part of a room that is needed to apply writes, with callbacks for refusals and failures. */
export interface TurnOwner {
  readonly host: RoomHost
  readonly id: number
  readonly workspaceId: string
  refuse(member: Member, ordinal: number, code: Refusal, text: string, full?: FullDocument): void
  /** Returns the Y clients whose content this member may not send. [WS-62] */
  formerClients(member: Member): ReadonlySet<number>
  /** Unbinds a member from the room, because a write contained content of an earlier lineage of the document. [WS-62] */
  former(member: Member, ordinal: number): void
  /** Asks a client for content that the room lacks and a write depends on. `ownPending`: the client's copy has pending content. [WS-32] */
  gap(member: Member, ownPending: boolean): void
  /** Asks a member after `waitMs` for a write again, because the write was dropped for too many new client ids. [G4] */
  dropped(member: Member, waitMs: number): void
  /** Closes the member's connection and loads the document again, because a write of the member broke the live document. [C10] */
  broken(member: Member, error: unknown): void
}

/** Result of a turn: how many writes were handled. `costly`: the next write has to be applied in pieces. */
export type Handled = { readonly count: number; readonly costly: boolean } | 'broken'

/**
 * Applies the gathered writes of one connection in one transaction until `untilMs`, each after the guard has checked it. [WS-27, WS-31,
 * G1..G9] The document's own update event carries the result. A refused write leaves the document untouched.
 */
export function applyWrites(
  owner: TurnOwner,
  live: LiveContent,
  member: Member,
  writes: readonly Write[],
  untilMs: number,
): Handled {
  const { host } = owner
  const startedAt = host.processorMs()
  let count = 0
  let costly = false
  const late: LateEdit[] = []
  const applyAll = (): void => {
    for (const write of writes) {
      if (member.former || (count > 0 && host.clock.monotonicMs() >= untilMs)) return
      costly = !applyWrite(owner, live, member, write, late)
      if (costly) return
      count++
    }
  }
  try {
    // Several writes share one transaction, except in a document with a gap. There, the write that closes the gap and the updates that
    // waited for it would become one update, which is not sent to the writer, who would then miss the waiting updates.
    if (writes.length === 1 || live.gap !== null) applyAll()
    else live.doc.transact(applyAll, member)
    placeLate(owner, live, member, late)
    if (hasPending(live.doc)) throw new Error('an accepted update left content pending')
  } catch (error) {
    owner.broken(member, error)
    return 'broken'
  } finally {
    host.watch.end()
  }
  noteStep(live, host.processorMs() - startedAt)
  return { count, costly }
}

const SLOW_MS = 20
const MANY_SMALL_STEPS_MS = 50
const LOAD_COST_MS = 1_000
const LOAD_COST_MS_PER_MIB = 500
const MIB = 1024 * 1024
const ENCODED_BYTES = 30
const RECOUNT_STRUCTS = GUARD_LIMITS.addedStructs / 2

/** Adds the time of a step to the estimated load time. Small steps are summed apart, because most of them add nothing to the load. */
export function noteStep(live: LiveContent, tookMs: number): void {
  if (tookMs > SLOW_MS) live.loadCostMs += tookMs
  else live.smallStepsMs += tookMs
}

/**
 * Returns the estimated load time, in ms. Small steps count only when they took 50 ms or more in sum, so that a document near its limit is
 * not measured after every small step.
 */
export function estimatedLoadMs({ loadCostMs, smallStepsMs }: LiveContent): number {
  return loadCostMs + (smallStepsMs < MANY_SMALL_STEPS_MS ? 0 : smallStepsMs)
}

/** Whether the steps since the last full decode may have made the document too slow to load. [G9] */
export function isLoadCostSuspect(live: LiveContent): boolean {
  return estimatedLoadMs(live) > loadLimitMs(Math.max(ENCODED_BYTES * live.structCount, live.full?.update.length ?? 0))
}

/** The longest time that loading a state of `bytes` may take, in ms. [G9] */
export function loadLimitMs(bytes: number): number {
  return LOAD_COST_MS + (LOAD_COST_MS_PER_MIB * bytes) / MIB
}

/**
 * The known part of a step2 is left out only up to this size. With a longer step2 this would take about as long as applying it, so the client
 * is asked again instead.
 */
const MOST_CUT_BYTES = 32 * 1024

/** Returns false when the write has to be applied in pieces, because it may take too long or the document may have become slow. */
function applyWrite(owner: TurnOwner, live: LiveContent, member: Member, write: Write, late: LateEdit[]): boolean {
  const { host } = owner
  const { ordinal, refusal } = write
  if (refusal !== null) {
    owner.refuse(member, ordinal, refusal.code, refusal.text)
    return true
  }
  host.watch.begin({ room: owner.id, connection: member.connection, join: member.join, ordinal, bytes: write.update.length })
  // `structCount` is an upper bound, since typed text merges into one struct. The structs are recounted before a limit depends on their number.
  if (live.structCount > RECOUNT_STRUCTS) live.structCount = countStructs(live.doc)
  const { update, inspection } = inspected(owner, live, member, write)
  const isGood = inspection.kind === 'ok' && !inspection.noop && !write.readOnly
  if (isGood && (inspection.worstMs > host.options.cutMs || isLoadCostSuspect(live))) return false
  // An update that closes a gap also brings what was pending, of any client.
  const clients = isGood && live.gap === null ? [...host.guard.table.blockClient] : null
  const structs = judge(owner, live, member, write, inspection)
  if (structs === null) return true
  late.push(...live.late.find(update, host.clock.monotonicMs()))
  if (clients === null) Y.applyUpdate(live.doc, update, member)
  else applyUpdateOf(clients, live.doc, update, member)
  live.structCount += structs
  fillGap(live)
  return true
}

/**
 * Inspects a write and returns it as it is to be applied. [WS-32]
 *
 * A step2 may begin within content that the room already has: the client joins letters typed in a row into one struct, and since the
 * client was asked, others may have sent the first of these letters, for example after a failed append. Then the known part is left out,
 * as the client would do if it were asked again.
 */
function inspected(
  owner: TurnOwner,
  live: LiveContent,
  member: Member,
  { update, isStep2, readOnly }: Write,
): { readonly update: Uint8Array; readonly inspection: Inspection } {
  const { guard } = owner.host
  const former = owner.formerClients(member)
  const inspection = guard.inspect(update, live, former)
  const mayBeCut = isStep2 && !readOnly && live.gap === null && update.length <= MOST_CUT_BYTES
  if (inspection.kind !== 'gap' || inspection.skips || !mayBeCut) return { update, inspection }
  const unknown = Y.diffUpdate(update, Y.encodeStateVector(live.doc))
  return { update: unknown, inspection: guard.inspect(unknown, live, former) }
}

/**
 * Writes characters that were typed into removed blocks to their new places. This is an edit of the relay, which is also sent to the writer of
 * the characters. [AG-110]
 */
export function placeLate({ host }: TurnOwner, live: LiveContent, member: Member, late: readonly LateEdit[]): void {
  if (late.length === 0) return
  const unplaced = live.late.place(late, RELAY, member)
  live.structCount += late.length
  if (unplaced > 0)
    host.log.info('sync.late_words_dropped', 'Characters that were typed into a removed page have no place.', {
      characters: unplaced,
    })
}

/** Refuses a write that the guard or the sender's level does not allow. Otherwise returns how many structs the write adds. */
export function judge(owner: TurnOwner, live: LiveContent, member: Member, write: Write, inspection: Inspection): number | null {
  const { host } = owner
  const { update, ordinal } = write
  if (write.readOnly) {
    const addsNothing = write.isStep2 && inspection.kind === 'ok' && inspection.noop
    if (!addsNothing) owner.refuse(member, ordinal, 'ERR_EDIT_FORBIDDEN', 'you may read this document, not write it')
    return null
  }
  if (live.gap !== null && !fits(live.gap, inspection, update)) {
    const text = 'the log of this document lacks an edit; it takes no other one before that is closed'
    owner.refuse(member, ordinal, 'ERR_EDIT_FORBIDDEN', text)
    return null
  }
  switch (inspection.kind) {
    case 'bad':
      host.count(`guard_${inspection.rule}`)
      host.log.debug('sync.refused', 'An update was refused.', { rule: inspection.rule, bytes: update.length, sub: member.sub })
      owner.refuse(member, ordinal, 'ERR_BAD_UPDATE', `the update breaks the rule "${inspection.rule}"`)
      return null
    case 'full':
      host.count(`guard_full_${inspection.bound}`)
      owner.refuse(member, ordinal, 'ERR_DOC_FULL', fullText(inspection), inspection)
      return null
    case 'former':
      owner.former(member, ordinal)
      return null
    case 'gap':
      owner.refuse(member, ordinal, 'ERR_SYNC_GAP', 'the update depends on content the relay does not hold')
      owner.gap(member, write.isStep2 && inspection.skips)
      return null
    case 'ok':
      if (inspection.noop) return null
      if (inspection.newClients > 0 && !host.clientIds.take(owner.workspaceId, inspection.newClients, host.clock.monotonicMs())) {
        owner.refuse(member, ordinal, 'ERR_RATE_LIMIT', '')
        owner.dropped(member, 5_000)
        return null
      }
      return inspection.structs
  }
}

/**
 * Whether a document with a gap treats an update like any other document: the update supplies missing content, adds nothing, or is refused
 * anyway because it is malformed or too much. All other updates are forbidden until the gap is closed. [LIFE-5]
 */
function fits(gap: LogGap, inspection: Inspection, update: Uint8Array): boolean {
  if (inspection.kind === 'ok') return inspection.noop || fillsGap(gap, update)
  return inspection.kind === 'bad' || inspection.kind === 'full'
}

/**
 * Applies the updates of the gap that wait for an update which has just been applied. The waiting updates have no writer among the
 * connections: they are broadcast to everybody and do not change the last writer. [LIFE-5, LIFE-16]
 */
export function fillGap(live: LiveContent): void {
  if (live.gap === null) return
  live.gap = applyLater(live.doc, live.gap)
  live.structCount = countStructs(live.doc)
}

/** Whether an update is the empty update, which a client sends as its step2 when it has nothing to add. */
export function isEmptyUpdate(update: Uint8Array): boolean {
  return update.length === 2 && update[0] === 0 && update[1] === 0
}
