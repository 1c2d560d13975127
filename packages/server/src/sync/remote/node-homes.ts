import type { NodeLinks, NodeMessage } from '../node-links.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { FromWorker, RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import { homeOfNode, type NodeHomes, nodeOfHome, type WorkerPool } from '../worker-pool.port.ts'
import type { SentTask, ToEdge, ToOwner } from './link-messages.ts'

/**
 * Opens homes of which some are other nodes. A message to a room of another owner is sent over the link to that owner. [LIFE-25]
 */
export function openNodeHomes(given: { readonly local: WorkerPool; readonly links: NodeLinks }): NodeHomes {
  return new OpenNodeHomes(given)
}

class OpenNodeHomes implements NodeHomes {
  readonly #local: WorkerPool
  readonly #links: NodeLinks
  readonly #listeners: ((home: number, message: FromWorker) => void)[] = []

  constructor({ local, links }: { readonly local: WorkerPool; readonly links: NodeLinks }) {
    this.#local = local
    this.#links = links
    links.onMessage((peer, message) => this.#received(peer, message))
  }

  homeFor(...document: Parameters<WorkerPool['homeFor']>): number {
    return this.#local.homeFor(...document)
  }

  keepApart(...document: Parameters<WorkerPool['keepApart']>): void {
    this.#local.keepApart(...document)
  }

  takes(home: number, message: ToWorker): boolean {
    return nodeOfHome(home) !== null || this.#local.takes(home, message)
  }

  post(home: number, message: ToWorker): void {
    const node = nodeOfHome(home)
    if (node === null) this.#local.post(home, message)
    else if (message.kind === 'job') this.#postJob(node, message)
    else {
      const sent = toOwner(message)
      if (sent !== null) this.#send(node, sent)
    }
  }

  onMessage(listener: (home: number, message: FromWorker) => void): void {
    this.#listeners.push(listener)
    this.#local.onMessage(listener)
  }

  onMisplaced(...listener: Parameters<WorkerPool['onMisplaced']>): void {
    this.#local.onMisplaced(...listener)
  }

  onEnded(...listener: Parameters<WorkerPool['onEnded']>): void {
    this.#local.onEnded(...listener)
  }

  onLost(listener: (home: number) => void): void {
    this.#links.onDown((peer) => listener(homeOfNode(peer)))
  }

  isFull(home: number): boolean {
    const node = nodeOfHome(home)
    return node !== null && this.#links.isFull(node)
  }

  onDrained(listener: (home: number) => void): void {
    this.#links.onDrained((peer) => listener(homeOfNode(peer)))
  }

  #postJob(node: Incarnation, { job, room, task }: Extract<ToWorker, { kind: 'job' }>): void {
    const own = answeredHere(task)
    if (own === null) {
      this.#send(node, { kind: 'job', job, room, ...sentTask(task as SentTask) })
      return
    }
    if (task.kind === 'evict') this.#send(node, { kind: 'close', room })
    queueMicrotask(() => this.#tell(homeOfNode(node), { kind: 'done', job, outcome: own }))
  }

  #send(node: Incarnation, message: ToOwner): void {
    this.#links.post(node, message)
  }

  #received(peer: Incarnation, message: NodeMessage): void {
    const told = fromOwner(message as ToEdge)
    if (told !== null) this.#tell(homeOfNode(peer), told)
  }

  #tell(home: number, message: FromWorker): void {
    for (const listener of this.#listeners) listener(home, message)
  }
}

/** Returns the answer to a task that this node answers itself, because the task concerns only the node that runs the room; else `null`. */
function answeredHere(task: RoomTask): TaskOutcome | null {
  switch (task.kind) {
    case 'evict':
      return { kind: 'evicted' }
    // The agents that a room shows belong to all nodes, so they stay when this node stops. [PRES-3]
    case 'end-agents':
      return { kind: 'settled', version: 0 }
    case 'hand-over':
    case 'missed':
      return { kind: 'busy' }
    default:
      return null
  }
}

/** Replaces `givenUp` by `mayGiveUp`. `givenUp` is shared memory, which two nodes do not have, so a `give-up` message may follow instead. */
function sentTask(task: SentTask): { readonly task: SentTask; readonly mayGiveUp?: boolean } {
  if (task.kind !== 'edit' || task.givenUp === undefined) return { task }
  return { task: { kind: 'edit', request: task.request }, mayGiveUp: true }
}

function toOwner(message: ToWorker): ToOwner | null {
  switch (message.kind) {
    case 'open': {
      const { room, ref, key, clocks, since, sinceTenure } = message
      return { kind: 'open', room, ref: { workspaceId: ref.workspaceId, id: ref.id }, key, clocks, since, sinceTenure }
    }
    case 'awareness':
      return { ...message, kind: 'presence' }
    case 'join':
    case 'leave':
    case 'rights':
    case 'sync':
    case 'resync':
    case 'watch':
    case 'give-up':
      return message
    default:
      return null
  }
}

/** Returns the message as a worker would send it, or `null` when it is not for an edge or its kind is unknown to this version. [LIFE-29] */
function fromOwner(message: ToEdge): FromWorker | null {
  switch (message.kind) {
    case 'opened': {
      const { outcome, seq, tenure, ...opened } = message
      return {
        ...opened,
        outcome: outcome === 'moved' ? 'fenced' : outcome,
        ...(seq !== undefined && { seq }),
        ...(tenure !== undefined && { tenure }),
      }
    }
    case 'moved':
      return { kind: 'fenced', room: message.room }
    case 'updates':
    case 'awareness':
    case 'changed':
    case 'mended':
    case 'reset':
    case 'deleted':
    case 'reload':
    case 'direct':
    case 'settled':
    case 'refused':
    case 'former':
    case 'violation':
    case 'expel':
    case 'done':
      return message
    default:
      return null
  }
}
