import type { Agent } from '../../documents/residents.port.ts'
import type { RoomAwareness } from './awareness-room.ts'
import type { AgentCursor } from './agent-cursor.ts'
import type { RoomHost } from './room-host.ts'

const SHOWN_MS = 8_000
const CLIENT_IDS = 2 ** 32
const NULL = new TextEncoder().encode('null')

/** The parts of the document that an agent's edit touched. */
export interface Written {
  readonly page: string | undefined
  /** Ids of shapes or blocks. */
  readonly selection: readonly string[]
  readonly cursor: AgentCursor | null
  /** Id of the tool call, by which people can undo it. [AG-29] */
  readonly callId: string | undefined
}

const SELECTED = 50
/** Limit on the total length of the selected ids, so that the state of an agent stays below the limit of 16 KiB for a state. [WS-43] */
const SELECTED_LENGTH = 2_048

function bounded(ids: readonly string[]): readonly string[] {
  let length = 0
  return ids.slice(0, SELECTED).filter((id) => (length += id.length) <= SELECTED_LENGTH)
}

interface Shown {
  readonly connection: number
  readonly client: number
  clock: number
  /** Cancels the timer that hides the state; `null` while no state is shown. */
  timer: (() => void) | null
}

/**
 * Shows which agents edit a document through tools. Each principal has one awareness client id, which is shown until 8 s after the last write
 * of the principal. An agent has no connection and does not count towards any connection's limits. [PRES-1..PRES-3]
 */
export class AgentPresence {
  private readonly shown = new Map<string, Shown>()
  private isEnded = false
  private readonly host: RoomHost
  private readonly awareness: RoomAwareness

  constructor(host: RoomHost, awareness: RoomAwareness) {
    this.host = host
    this.awareness = awareness
  }

  /** Shows the agent at its last edit for 8 s. Call it before the update of the edit is broadcast. */
  show(principal: string, agent: Agent, { page, selection, cursor, callId }: Written): void {
    if (this.isEnded) return
    const entry = this.entryOf(principal)
    const { name, color } = agent
    const selected = bounded(selection)
    const where = {
      ...(page !== undefined && { page }),
      ...(selected.length > 0 && { selection: selected }),
      ...(callId !== undefined && { callId }),
    }
    const state = { user: { id: principal, name, color, kind: 'agent', ...where }, ...(cursor !== null && { cursor }) }
    this.set(principal, entry, new TextEncoder().encode(JSON.stringify(state)))
    entry.timer?.()
    entry.timer = this.host.after(SHOWN_MS, () => this.hide(principal, entry))
  }

  /** Hides every state; later calls of `show` do nothing. */
  end(): void {
    this.isEnded = true
    for (const [principal, entry] of this.shown) this.hide(principal, entry)
  }

  private entryOf(principal: string): Shown {
    const known = this.shown.get(principal)
    if (known !== undefined) return known
    // Agents have negative connection numbers, because connections have positive numbers.
    const entry: Shown = { connection: -1 - this.shown.size, client: this.freshClient(), clock: 0, timer: null }
    this.shown.set(principal, entry)
    return entry
  }

  private freshClient(): number {
    for (;;) {
      const client = this.host.random.integer(1, CLIENT_IDS)
      if (!this.awareness.knows(client)) return client
    }
  }

  private hide(principal: string, entry: Shown): void {
    if (entry.timer === null) return
    entry.timer()
    entry.timer = null
    this.set(principal, entry, NULL)
  }

  private set(principal: string, entry: Shown, json: Uint8Array): void {
    entry.clock++
    this.awareness.show({ connection: entry.connection, sub: principal }, { client: entry.client, clock: entry.clock, json })
  }
}
