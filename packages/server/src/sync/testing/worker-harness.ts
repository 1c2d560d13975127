import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareValue } from '@docrelay/model/body-prepare'
import type { Json } from '@docrelay/model/json'
import * as Y from 'yjs'
import type { DocumentHead, DocumentRef, DocumentStore } from '../../documents/document-store.port.ts'
import type { OwnNode } from '../../drivers/sql/engine.ts'
import { openStorage, type Storage } from '../../drivers/sql/storage.ts'
import { openStorageHere } from '../../drivers/sql/testing/storage-here.ts'
import { systemClock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { DocumentWorker, type DocumentWorkerOptions } from '../workers/document-worker.ts'
import { readSync, syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import type { UpdateLog } from '../update-log.port.ts'
import type { FromWorker, RoomTask, TaskOutcome } from '../worker-messages.ts'
import { indexedDoc } from '../room/indexed-doc.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'

/** Opens real SQLite in a new directory. With `thread` it runs in its own thread, for tests that measure the work of their thread. */
export async function openTestStorage({
  thread = false,
  node,
}: {
  readonly thread?: boolean
  readonly node?: OwnNode
} = {}): Promise<Storage & { readonly url: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'docrelay-worker-'))
  const url = `sqlite:${join(directory, 'relay.db')}`
  const given = { url, commitDelayMs: 0, log: silentLogger }
  const storage = await (thread ? openStorage(given) : openStorageHere({ ...given, ...(node && { node }) }))
  return {
    ...storage,
    url,
    async [Symbol.asyncDispose]() {
      await storage[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

let documents = 0

/** Stores a new document as a first PUT does. */
export async function createDocument(
  store: DocumentStore,
  body: { readonly [member: string]: Json } = {},
): Promise<DocumentHead> {
  const ref: DocumentRef = { workspaceId: 'ws', id: `doc-${++documents}` }
  const preparation = prepareValue({ id: ref.id, name: 'Test', ...body }, ref.id, null)
  if (!preparation.ok) throw new Error(`the test body is refused: ${preparation.refusal.message}`)
  const { bytes, facts, blobReferences } = preparation.prepared
  const written = await store.write({
    ref,
    expect: { kind: 'absent' },
    set: { ownerId: 'ann', ownerName: 'ann', titleChangedAtMs: 1, body: { bytes, facts, blobReferences } },
    bump: true,
    nowMs: Date.now(),
    quotaBytes: null,
    log: { kind: 'cold' },
  })
  if (written.kind !== 'written') throw new Error('the test document was not written')
  return written.head
}

/**
 * A connection with a real Y.Doc behind it. It does the same as editors: it sends a step1 at join, a step2 as the answer to a step1, and each
 * of its own updates as one message.
 */
export class TestClient {
  readonly doc = indexedDoc()
  readonly connection: number
  join = 0
  room = 0
  ordinal = 0
  settled = 0
  synced = false
  canWrite = true
  readonly refusals: Extract<FromWorker, { kind: 'refused' }>[] = []
  /** The sub-types of the SYNC frames that arrived. */
  readonly received: number[] = []
  readonly presence: Uint8Array[] = []
  expelled: number | null = null
  violations = 0
  answersStep1 = true
  private readonly worker: TestWorker

  constructor(worker: TestWorker, connection: number) {
    this.worker = worker
    this.connection = connection
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== this && this.room !== 0) this.write(SYNC.update, update)
    })
  }

  joinRoom(
    room: number,
    given: {
      readonly sub?: string
      readonly canWrite?: boolean
      readonly maxDocBytes?: number
      /** Set when the room was opened again. The connection had sent messages up to this ordinal. */
      readonly again?: number
    } = {},
  ): void {
    this.room = room
    this.join++
    this.ordinal = 0
    this.settled = 0
    this.synced = false
    this.canWrite = given.canWrite ?? true
    this.worker.joined.set(room, (this.worker.joined.get(room) ?? new Set()).add(this))
    const sub = given.sub ?? `user-${this.connection}`
    const { connection, join, canWrite } = this
    const rights = { canWrite, maxDocBytes: given.maxDocBytes ?? null }
    const again = given.again === undefined ? {} : { again: given.again }
    this.worker.host.receive([{ kind: 'join', room, connection, join, sub, ...rights, knowsLineage: false, ...again }])
    this.send(0, syncFrame(SYNC.step1, Y.encodeStateVector(this.doc)).subarray(1))
  }

  leave(): void {
    this.worker.joined.get(this.room)?.delete(this)
    this.worker.host.receive([{ kind: 'leave', room: this.room, connection: this.connection }])
    this.room = 0
  }

  /** Sends a write-bearing message with any bytes. */
  write(type: 1 | 2, update: Uint8Array): number {
    this.ordinal++
    this.send(this.ordinal, syncFrame(type, update).subarray(1))
    return this.ordinal
  }

  send(ordinal: number, payload: Uint8Array): void {
    const { room, connection, join } = this
    this.worker.host.receive([{ kind: 'sync', room, connection, join, ordinal, payload: payload.slice() }])
  }

  sendPresence(payload: Uint8Array): void {
    this.worker.host.receive([{ kind: 'awareness', room: this.room, connection: this.connection, payload }])
  }

  frame(frame: Uint8Array): void {
    if (frame[0] === 1) {
      this.presence.push(frame)
      return
    }
    const sync = readSync(frame.subarray(1))
    if (sync === null) throw new Error('the worker sent an incomplete frame')
    const { subType: type, payload: data } = sync
    this.received.push(type)
    if (type === SYNC.step1) {
      if (this.answersStep1) this.write(SYNC.step2, Y.encodeStateAsUpdate(this.doc, data))
      return
    }
    if (type === SYNC.step2) this.synced = true
    this.update(data)
  }

  update(update: Uint8Array): void {
    Y.applyUpdate(this.doc, update, this)
  }

  text(root = 'prose:p1'): string {
    const fragment: { toString(): string } = this.doc.getXmlFragment(root)
    return fragment.toString()
  }
}

/** A document worker in this thread, and the messages that the main thread gets from it. */
export class TestWorker {
  readonly host: DocumentWorker
  readonly joined = new Map<number, Set<TestClient>>()
  readonly clients = new Map<number, TestClient>()
  readonly messages: FromWorker[] = []
  private rooms = 0
  private connections = 0
  private jobs = 0
  private readonly opening = new Map<number, (outcome: string) => void>()
  private readonly running = new Map<number, (outcome: TaskOutcome) => void>()

  constructor(
    stores: {
      readonly documents: DocumentStore
      readonly updates: UpdateLog
      readonly recovery?: DocumentWorkerOptions['recovery']
    },
    options: Partial<Pick<DocumentWorkerOptions, 'rooms' | 'clock' | 'timers' | 'watch' | 'log' | 'soon' | 'processorMs'>> = {},
  ) {
    this.host = new DocumentWorker({
      documents: stores.documents,
      updates: stores.updates,
      recovery: stores.recovery ?? { capture: () => Promise.resolve({ kind: 'unchanged' }) },
      clock: systemClock,
      timers: systemTimers,
      random: systemRandom,
      log: silentLogger,
      ...options,
      // Messages are delivered as by a port: later, and never during the running turn.
      post: (messages) => void setImmediate(() => messages.forEach((message) => this.deliver(message))),
    })
  }

  client(): TestClient {
    const client = new TestClient(this, ++this.connections)
    this.clients.set(client.connection, client)
    return client
  }

  /** Opens a document and returns its room number. Throws when the room does not open. */
  async open(head: DocumentHead, epoch?: number): Promise<number> {
    const room = ++this.rooms
    const outcome = await this.tryOpen(room, head, epoch)
    if (outcome !== 'opened') throw new Error(`the room did not open: ${outcome}`)
    return room
  }

  tryOpen(room: number, head: DocumentHead, epoch?: number): Promise<string> {
    const opened = new Promise<string>((resolve) => this.opening.set(room, resolve))
    const ref = { workspaceId: head.workspaceId, id: head.id }
    this.host.receive([{ kind: 'open', room, ref, key: head.key, ...(epoch !== undefined && { epoch }) }])
    return opened
  }

  job(room: number, task: RoomTask): Promise<TaskOutcome> {
    const job = ++this.jobs
    const done = new Promise<TaskOutcome>((resolve) => this.running.set(job, resolve))
    this.host.receive([{ kind: 'job', job, room, task }])
    return done
  }

  private deliver(message: FromWorker): void {
    this.messages.push(message)
    switch (message.kind) {
      case 'opened':
        this.opening.get(message.room)?.(message.outcome)
        return
      case 'done':
        this.running.get(message.job)?.(message.outcome)
        return
      case 'updates':
        for (const client of this.joined.get(message.room) ?? []) {
          message.updates.forEach((update, i) => message.senders[i] !== client.connection && client.update(update))
        }
        return
      case 'awareness':
        for (const client of this.joined.get(message.room) ?? [])
          if (client.connection !== message.except) client.frame(message.frame)
        return
      case 'reset':
        for (const client of this.joined.get(message.room) ?? []) client.room = 0
        this.joined.delete(message.room)
        return
      default:
        this.deliverDirect(message)
    }
  }

  private deliverDirect(message: FromWorker): void {
    if (!('connection' in message)) return
    const client = this.clients.get(message.connection)
    if (client === undefined || ('join' in message && message.join !== client.join)) return
    if (message.kind === 'direct') for (const frame of message.frames) client.frame(frame)
    else if (message.kind === 'settled') client.settled = message.ordinal
    else if (message.kind === 'refused') client.refusals.push(message)
    else if (message.kind === 'expel') client.expelled = message.code
    else client.violations++
  }

  of<K extends FromWorker['kind']>(kind: K): Extract<FromWorker, { kind: K }>[] {
    return this.messages.filter((message): message is Extract<FromWorker, { kind: K }> => message.kind === kind)
  }

  /** Ends the worker as if the process had ended. Nothing is stored any more. */
  abandon(): void {
    this.host.abandon()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.host[Symbol.asyncDispose]()
  }
}

/** Resolves when `holds` returns true. Throws after `withinMs`. */
export async function until(holds: () => boolean, withinMs = 3_000): Promise<void> {
  const givenUp = patienceClock(withinMs)
  while (!holds()) {
    if (givenUp()) throw new Error(`did not hold within ${withinMs} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** A log whose appends can be held back or refused. */
export function gatedUpdates(updates: UpdateLog): { readonly updates: UpdateLog; close(): void; open(): void; fail(): void } {
  let state: 'open' | 'closed' | 'failing' = 'open'
  const waiting: (() => void)[] = []
  return {
    updates: {
      load: (key) => updates.load(key),
      after: (key, seq) => updates.after(key, seq),
      compact: (key, snapshot, epoch) => updates.compact(key, snapshot, epoch),
      rebuild: (key, rebuilt, epoch) => updates.rebuild(key, rebuilt, epoch),
      purgeRemovals: (beforeMs, limit) => updates.purgeRemovals(beforeMs, limit),
      async append(records) {
        if (state === 'closed') await new Promise<void>((resolve) => waiting.push(resolve))
        if (state === 'failing') throw new RelayError('NOT_PERSISTED', 'the disk is full')
        return updates.append(records)
      },
    },
    close() {
      state = 'closed'
    },
    open() {
      state = 'open'
      for (const go of waiting.splice(0)) go()
    },
    fail() {
      state = 'failing'
    },
  }
}
