import type { HostedRooms } from '../gateway/room-edge.ts'
import type { KeyedRef, NodeSettling } from '../gateway/room-settling.ts'
import type { NodeLinks, NodeMessage } from '../node-links.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { SettlingMessage } from './link-messages.ts'

/** `NodeSettling` over the links between nodes. This node answers the questions of other nodes once `serve` was called. */
export interface LinkedSettling extends NodeSettling {
  serve(rooms: Pick<HostedRooms, 'settleOwned'>): void
}

interface Question {
  readonly node: Incarnation
  readonly resolve: (count: number) => void
}

export function openSettling(links: NodeLinks): LinkedSettling {
  return new Settling(links)
}

/**
 * At the beginning of a link, each node sends `answers-settle-all`. To a peer that has not sent it, a node sends one task per document
 * instead of `settle-all`, as the previous version does. [LIFE-25, LIFE-29]
 */
class Settling implements LinkedSettling {
  readonly #links: NodeLinks
  readonly #understood = new Set<Incarnation>()
  readonly #questions = new Map<number, Question>()
  #next = 1
  #rooms: Pick<HostedRooms, 'settleOwned'> | null = null

  constructor(links: NodeLinks) {
    this.#links = links
    links.onMessage((peer, message) => this.#received(peer, message))
    links.onUp((peer) => this.#introduce(peer))
    links.onDown((peer) => this.#lost(peer))
  }

  serve(rooms: Pick<HostedRooms, 'settleOwned'>): void {
    this.#rooms = rooms
    for (const peer of this.#links.peers()) this.#introduce(peer)
  }

  isUnderstood(node: Incarnation): boolean {
    return this.#understood.has(node)
  }

  settle(node: Incarnation, documents: readonly KeyedRef[]): Promise<number> {
    const question = this.#next++
    return new Promise((resolve) => {
      this.#questions.set(question, { node, resolve })
      this.#send(node, {
        kind: 'settle-all',
        question,
        documents: documents.map(({ workspaceId, id, key }) => ({ workspaceId, id, key })),
      })
    })
  }

  #introduce(peer: Incarnation): void {
    if (this.#rooms !== null) this.#send(peer, { kind: 'answers-settle-all' })
  }

  #received(peer: Incarnation, given: NodeMessage): void {
    const message = given as SettlingMessage
    switch (message.kind) {
      case 'answers-settle-all':
        this.#understood.add(peer)
        return
      case 'settle-all':
        void this.#answer(peer, message)
        return
      case 'settled-all':
        if (this.#questions.get(message.question)?.node === peer) this.#done(message.question, message.count)
    }
  }

  async #answer(peer: Incarnation, { question, documents }: Extract<SettlingMessage, { kind: 'settle-all' }>): Promise<void> {
    const rooms = this.#rooms
    const outcomes = await Promise.all(documents.map(async ({ key, ...ref }) => (await rooms?.settleOwned(ref, key)) === true))
    this.#send(peer, { kind: 'settled-all', question, count: outcomes.filter(Boolean).length })
  }

  #lost(peer: Incarnation): void {
    this.#understood.delete(peer)
    for (const [question, { node }] of this.#questions) if (node === peer) this.#done(question, 0)
  }

  #done(question: number, count: number): void {
    this.#questions.get(question)?.resolve(count)
    this.#questions.delete(question)
  }

  #send(node: Incarnation, message: SettlingMessage): void {
    this.#links.post(node, message)
  }
}
