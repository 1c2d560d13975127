import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { Incarnation } from '../ownership.port.ts'
import { nodeOfHome } from '../worker-pool.port.ts'
import { isElsewhere, type Room } from './room-table.ts'

/** A document of one lineage. */
export type KeyedRef = Pick<DocumentHead, 'workspaceId' | 'id' | 'key'>

/** Asks another node to settle many documents with one message. `remote/settling.ts` implements it. [LIFE-25] */
export interface NodeSettling {
  /** Whether a node understands the message. A node of the previous version does not. [LIFE-29] */
  isUnderstood(node: Incarnation): boolean
  /**
   * Resolves with the number of documents that the node has settled, once it has tried all; with 0 when its link goes down. Never
   * rejects. Documents that are not live at that node are not counted.
   */
  settle(node: Incarnation, documents: readonly KeyedRef[]): Promise<number>
}

export interface RoomSettlingDeps {
  readonly timers: Timers
  readonly roomOf: (ref: DocumentRef) => Room | undefined
  readonly settle: (ref: DocumentRef) => Promise<void>
  /** Nodes that are linked now. */
  readonly linked: () => readonly Incarnation[]
  /** `null` in a relay of one node. */
  readonly nodes: NodeSettling | null
}

/** A reader of many documents waits at most this long for all other nodes together, even if several are silent. [LIFE-8, LIFE-25] */
const ELSEWHERE_MS = 1_000

/** Where documents are settled. */
export interface SettlingPlan {
  readonly here: readonly KeyedRef[]
  /** The documents that each node is asked to settle with one message. */
  readonly byNode: ReadonlyMap<Incarnation, readonly KeyedRef[]>
  /** Documents that are settled one by one, because their owner is not known, not linked, or does not understand the message. */
  readonly single: readonly KeyedRef[]
  /** The number of documents that are live at another node and whose stored body already has every durable edit. */
  readonly covered: number
}

/** Decides where each document is settled. A room knows the owner of its document better than `head`, which was read earlier. */
export function settlingPlan(
  heads: readonly DocumentHead[],
  roomOf: (ref: DocumentRef) => Pick<Room, 'home'> | undefined,
  mayAsk: (node: Incarnation) => boolean,
): SettlingPlan {
  const here: KeyedRef[] = []
  const byNode = new Map<Incarnation, KeyedRef[]>()
  const single: KeyedRef[] = []
  let covered = 0
  for (const head of heads) {
    const room = roomOf(head)
    const isHere = room === undefined ? head.owner === null : room.home !== null && !isElsewhere(room)
    const home = room?.home ?? null
    const owner = home === null ? (head.owner?.owner ?? null) : nodeOfHome(home)
    if (isHere) here.push(head)
    else if (head.coveredSeq >= head.lastSeq) covered++
    else if (owner === null || !mayAsk(owner)) single.push(head)
    else byNode.set(owner, [...(byNode.get(owner) ?? []), head])
  }
  return { here, byNode, single, covered }
}

/** Settles many documents for one reader. [LIFE-11] */
export class RoomSettling {
  readonly #deps: RoomSettlingDeps

  constructor(deps: RoomSettlingDeps) {
    this.#deps = deps
  }

  /** See `Residents.settleAll`. */
  async settleAll(heads: readonly DocumentHead[], withinMs = Number.POSITIVE_INFINITY): Promise<number> {
    const { roomOf, linked, nodes } = this.#deps
    const peers = linked()
    const plan = settlingPlan(heads, roomOf, (node) => peers.includes(node) && nodes?.isUnderstood(node) === true)
    let settled = plan.covered
    const one = async (ref: KeyedRef): Promise<void> => {
      await this.#deps.settle(ref).then(
        () => void settled++,
        () => undefined,
      )
    }
    const all = async (node: Incarnation, documents: readonly KeyedRef[]): Promise<void> => {
      settled += (await nodes?.settle(node, documents)) ?? 0
    }
    const elsewhere = [...[...plan.byNode].map((asked) => all(...asked)), ...plan.single.map(one)]
    await Promise.all([this.#within(withinMs, plan.here.map(one)), this.#within(Math.min(withinMs, ELSEWHERE_MS), elsewhere)])
    return settled
  }

  async #within(limitMs: number, work: readonly Promise<void>[]): Promise<void> {
    const done = Promise.all(work)
    if (work.length === 0 || limitMs === Number.POSITIVE_INFINITY) return void (await done)
    let cancel = (): void => undefined
    const late = new Promise<void>((resolve) => {
      cancel = this.#deps.timers.after(limitMs, resolve)
    })
    await Promise.race([done, late])
    cancel()
  }
}
