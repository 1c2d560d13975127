import type { DocumentStore } from '../../../documents/document-store.port.ts'
import type { NodeMessage } from '../../node-links.port.ts'
import type { Ownership, Tenure } from '../../ownership.port.ts'
import type { FromWorker } from '../../worker-messages.ts'

/**
 * A rule of the protocol that a simulation leaves out, to show that the oracle notices it.
 * - `no-epoch`: appends do not compare the owner.
 * - `since-seen`: an edge asks a new owner for the records after the newest update that it has seen, instead of the newest durable one.
 * - `feed-by-id`: the feed is read by rising ids, and ids that become visible later are never read.
 * - `no-row-check`: a node answers readers without reading the row with the owner of the document.
 */
export const SABOTAGES = ['no-epoch', 'since-seen', 'feed-by-id', 'no-row-check'] as const
export type Sabotage = (typeof SABOTAGES)[number]

/** Returns a function that changes the messages to one process, so that the process treats every update that it has seen as durable. */
export function seenAsDurable(): (message: NodeMessage) => NodeMessage {
  const seen = new Map<number, number>()
  return (message) => {
    const told = message as Partial<Extract<FromWorker, { kind: 'updates' }>>
    if (message.kind !== 'updates' || told.durableSeq === undefined || told.room === undefined || told.updates === undefined)
      return message
    const durableSeq = Math.max((seen.get(told.room) ?? told.durableSeq) + told.updates.length, told.durableSeq)
    seen.set(told.room, durableSeq)
    return { ...message, durableSeq } as NodeMessage
  }
}

/**
 * Returns ports for the rooms of a node that does not read the row of a document. Once the node has acquired the document, these ports always
 * answer that this node is the owner.
 */
export function unlookedRows(
  ownership: Ownership,
  documents: DocumentStore,
): { readonly ownership: Ownership; readonly store: Pick<DocumentStore, 'state'> } {
  const held = new Map<number, Tenure>()
  return {
    ownership: {
      ...ownership,
      async acquire(key, seen) {
        const outcome = await ownership.acquire(key, seen)
        if (outcome.kind === 'acquired') held.set(key, outcome)
        else held.delete(key)
        return outcome
      },
    },
    store: {
      async state(ref) {
        const state = await documents.state(ref)
        const owner = state.kind === 'document' ? held.get(state.head.key) : undefined
        return state.kind === 'document' && owner !== undefined ? { ...state, head: { ...state.head, owner } } : state
      },
    },
  }
}
