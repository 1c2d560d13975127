import * as Y from 'yjs'
import { buildLive, hasPending, type LiveContent } from './room-content.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'

/** A write-bearing message that waits for its room's next turn. */
export interface Write {
  readonly ordinal: number
  readonly update: Uint8Array
  /** A step2, whose gaps are the client's own. */
  readonly isStep2: boolean
  /** Its sender had level view when it came: it passes when it is a step2 that adds nothing. [WS-30] */
  readonly readOnly: boolean
  /** Refused whatever it holds, but in its turn: an ordinal is settled only with all before it. [WS-40] */
  readonly refusal: { readonly code: Refusal; readonly text: string } | null
}

export type Refusal = 'ERR_EDIT_FORBIDDEN' | 'ERR_BAD_UPDATE' | 'ERR_BAD_FRAME' | 'ERR_SYNC_GAP' | 'ERR_RATE_LIMIT'

/** What the room does with the outcome of a turn. */
export interface TurnOwner {
  readonly host: RoomHost
  readonly id: number
  readonly workspaceId: string
  refuse(member: Member, ordinal: number, code: Refusal, text: string): void
  /** A write depends on content that the room lacks. [WS-32] */
  gap(member: Member, ownPending: boolean): void
  /** A write was dropped for processor time; ask for it again after `waitMs`. [G9] */
  dropped(member: Member, waitMs: number): void
  /** The document is no longer to be trusted. [C10] */
  broken(member: Member, error: unknown): void
}

/**
 * Applies the gathered writes of one connection in one transaction, each behind the guard. [WS-27, WS-31, G1..G9]
 * What the document emits leaves through its own update event; a refused write has not touched it. False when the document broke.
 */
export function applyWrites(owner: TurnOwner, live: LiveContent, member: Member, writes: readonly Write[]): boolean {
  const { host } = owner
  const startedAt = host.clock.monotonicMs()
  const structsBefore = live.structCount
  let chargedTo = startedAt
  const applyAll = (): void => {
    for (const write of writes) {
      if (write.refusal !== null) {
        owner.refuse(member, write.ordinal, write.refusal.code, write.refusal.text)
        continue
      }
      const waitMs = host.cpu.waitMs(member.connection, chargedTo)
      if (waitMs > 0) {
        owner.refuse(member, write.ordinal, 'ERR_RATE_LIMIT', '')
        if (!write.readOnly) owner.dropped(member, waitMs)
        continue
      }
      applyWrite(owner, live, member, write)
      const now = host.clock.monotonicMs()
      host.cpu.charge(member.connection, now - chargedTo, now)
      chargedTo = now
    }
  }
  try {
    if (writes.length === 1) applyAll()
    else live.doc.transact(applyAll, member)
    if (hasPending(live.doc)) throw new Error('an accepted update left content pending')
  } catch (error) {
    owner.broken(member, error)
    return false
  } finally {
    host.watch.end()
  }
  const tookMs = host.clock.monotonicMs() - startedAt
  if (tookMs <= SLOW_MS) return true
  const ordinal = writes.at(-1)?.ordinal ?? 0
  const fault = growLoadCost(owner, live, { member, ordinal, tookMs, structs: live.structCount - structsBefore })
  if (fault !== null) owner.broken(member, fault)
  return fault === null
}

const SLOW_MS = 20
const LOAD_COST_MS = 1_000
const LOAD_COST_MS_PER_MIB = 500
const MIB = 1024 * 1024
const ENCODED_BYTES = 30
const MANY_STRUCTS = 1_000

interface SlowTurn {
  readonly member: Member
  /** Of its last write. */
  readonly ordinal: number
  readonly tookMs: number
  readonly structs: number
}

/**
 * Adds a slow turn to what the room costs to load; beyond the limit a decode from scratch measures anew. Steps that are each within their time
 * must not add up to a document that no load admits. [G9]
 */
function growLoadCost({ host, id }: TurnOwner, live: LiveContent, turn: SlowTurn): string | null {
  live.loadCostMs += turn.tookMs
  if (live.loadCostMs <= LOAD_COST_MS) return null
  const encodedBytes = ENCODED_BYTES * live.structCount
  // Measuring would hold the worker's other rooms up as long again. A few structs are never what is slow: then it was the machine.
  if (turn.structs >= MANY_STRUCTS && turn.tookMs > loadLimitMs(encodedBytes))
    return `applying the update took ${Math.round(turn.tookMs)} ms`
  const { member, ordinal } = turn
  const startedAt = host.clock.monotonicMs()
  const measured = <T>(bytes: number, work: () => T): T => {
    host.watch.begin({ room: id, connection: member.connection, join: member.join, ordinal, bytes })
    try {
      return work()
    } finally {
      host.watch.end()
    }
  }
  // Encoding counts too: whoever joins the loaded document waits for it.
  const state = measured(encodedBytes, () => Y.encodeStateAsUpdate(live.doc))
  const limitMs = loadLimitMs(state.length)
  if (live.loadCostMs <= limitMs) return null
  measured(state.length, () => buildLive([state], host.random).doc.destroy())
  live.loadCostMs = host.clock.monotonicMs() - startedAt
  return live.loadCostMs > limitMs ? `loading the document would take ${Math.round(live.loadCostMs)} ms` : null
}

function loadLimitMs(bytes: number): number {
  return LOAD_COST_MS + (LOAD_COST_MS_PER_MIB * bytes) / MIB
}

function applyWrite(owner: TurnOwner, live: LiveContent, member: Member, write: Write): void {
  const { host } = owner
  const { update, ordinal } = write
  host.watch.begin({ room: owner.id, connection: member.connection, join: member.join, ordinal, bytes: update.length })
  const inspection = host.guard.inspect(update, live)
  if (write.readOnly) {
    const addsNothing = write.isStep2 && inspection.kind === 'ok' && inspection.noop
    if (!addsNothing) owner.refuse(member, ordinal, 'ERR_EDIT_FORBIDDEN', 'you may read this document, not write it')
    return
  }
  switch (inspection.kind) {
    case 'bad':
      host.count(`guard_${inspection.rule}`)
      host.log.debug('sync.refused', 'An update was refused.', { rule: inspection.rule, bytes: update.length, sub: member.sub })
      owner.refuse(member, ordinal, 'ERR_BAD_UPDATE', `the update breaks the rule "${inspection.rule}"`)
      return
    case 'gap':
      owner.refuse(member, ordinal, 'ERR_SYNC_GAP', 'the update depends on content the relay does not hold')
      owner.gap(member, write.isStep2 && inspection.skips)
      return
    case 'ok':
      if (inspection.noop) return
      if (inspection.newClients > 0 && !host.clientIds.take(owner.workspaceId, inspection.newClients, host.clock.monotonicMs())) {
        owner.refuse(member, ordinal, 'ERR_RATE_LIMIT', '')
        owner.dropped(member, 5_000)
        return
      }
      Y.applyUpdate(live.doc, update, member)
      live.structCount += inspection.structs
  }
}

/**
 * How long a room's next edits are gathered: not at all while it is quiet, then growing with its load. A lone edit leaves at once.
 * The load is a decaying count of writes over about a tenth of a second.
 */
export class EditWindow {
  private load = 0
  private atMs = 0
  private readonly widestMs: number

  constructor(widestMs: number) {
    this.widestMs = widestMs
  }

  /** Notes `writes` that leave now; answers the window to open behind them. */
  next(writes: number, nowMs: number): number {
    this.load = this.load * Math.exp((this.atMs - nowMs) / 100) + writes
    this.atMs = nowMs
    const perSecond = this.load * 10
    return Math.min(this.widestMs, Math.max(0, Math.floor((perSecond - 40) / 4)))
  }
}
