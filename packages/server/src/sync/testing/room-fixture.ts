import { prepareValue } from '@docrelay/model/body-prepare'
import type { Json } from '@docrelay/model/json'
import { afterAll, beforeAll } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead, DocumentStore, DocumentWrite } from '../../documents/document-store.port.ts'
import type { PutOutcome, PutRequest } from '../../documents/residents.port.ts'
import type { Storage } from '../../drivers/sql/storage.ts'
import type { RoomOptions } from '../room/room-host.ts'
import { createDocument, openTestStorage, type TestClient, TestWorker, until } from './worker-harness.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'
import { OPEN_DOCS } from '../../access/testing/policies.ts'

export const BODY = {
  pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 's0', type: 'rect', x: 1 }] }],
  richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>one</p>' }],
  modifiedAt: 5,
  lastModifiedBy: 'nobody',
  extra: { kept: true },
}

type NewBody = Parameters<typeof createDocument>[1]

/** Storage and a worker for the tests of one file, with the steps that many tests need. */
export class RoomFixture {
  storage!: Storage
  worker!: TestWorker

  private readonly given: NewBody

  /** `given` is the body of documents that are opened without one. */
  constructor(rooms: Partial<RoomOptions> = {}, given: NewBody = BODY) {
    this.given = given
    beforeAll(async () => {
      this.storage = await openTestStorage()
      this.worker = new TestWorker(this.storage, { rooms })
    })
    afterAll(async () => {
      await this.worker?.[Symbol.asyncDispose]()
      await this.storage?.[Symbol.asyncDispose]()
    })
  }

  readonly openRoom = async (on: TestWorker = this.worker, body: NewBody = this.given) => {
    const head = await createDocument(this.storage.documents, body)
    return { head, room: await on.open(head) }
  }

  readonly joined = async (
    room: number,
    given: Parameters<TestClient['joinRoom']>[1] = {},
    on: TestWorker = this.worker,
  ): Promise<TestClient> => {
    const client = on.client()
    client.joinRoom(room, given)
    await until(() => client.synced)
    return client
  }

  readonly body = async (head: DocumentHead): Promise<Record<string, Json>> => {
    const record = await this.storage.documents.read(head)
    return JSON.parse(new TextDecoder().decode(record?.body)) as Record<string, Json>
  }

  readonly headOf = async (head: DocumentHead): Promise<DocumentHead> =>
    (await this.storage.documents.read(head))?.head as DocumentHead

  readonly settle = (room: number, on = this.worker) => on.job(room, { kind: 'settle' })

  readonly putTo = async (room: number, request: PutRequest, on = this.worker): Promise<PutOutcome> => {
    const outcome = await on.job(room, { kind: 'put', request })
    if (outcome.kind !== 'put') throw new Error(`the PUT ended ${JSON.stringify(outcome)}`)
    return outcome.outcome
  }

  /** Returns the state vector of all records in the log. */
  readonly vectorOf = async (head: DocumentHead): Promise<Uint8Array> => {
    const log = await this.storage.updates.load(head.key)
    const doc = new Y.Doc()
    if (log.kind === 'loaded')
      for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
    return Y.encodeStateVector(doc)
  }
}

export const shapesOf = (value: Record<string, Json>) =>
  (value.pages as { shapes: { id: string }[] }[])[0]?.shapes.map(({ id }) => id)
export const setShape = (client: TestClient, id: string, value: object = {}) =>
  client.doc.getMap('shapes:c1').set(id, { id, ...value })

export function put(
  head: DocumentHead,
  value: Record<string, Json>,
  given: Partial<Pick<PutRequest, 'expectedVersion'>> & { quotaBytes?: number } = {},
): PutRequest {
  const prepared = prepareValue({ id: head.id, ...value }, head.id, head.facts.title)
  if (!prepared.ok) throw new Error(prepared.refusal.message)
  const limits = { quotaBytes: given.quotaBytes ?? null, maxDocBytes: null } as PutRequest['access']['limits']
  return {
    ref: { workspaceId: head.workspaceId, id: head.id },
    access: { sub: 'ann', workspaceId: 'ws', role: 'owner', limits },
    accessPolicy: OPEN_DOCS,
    body: prepared.prepared,
    expectedVersion: given.expectedVersion ?? null,
    precondition: 'none',
    overrideTombstone: false,
  }
}

export function write(head: DocumentHead, set: DocumentWrite['set']): DocumentWrite {
  return {
    ref: { workspaceId: head.workspaceId, id: head.id },
    expect: { kind: 'document', key: head.key, version: head.version },
    set,
    bump: true,
    nowMs: Date.now(),
    quotaBytes: null,
    log: { kind: 'none' },
  }
}

export function recording(documents: DocumentStore, writes: DocumentWrite[]): DocumentStore {
  return {
    ...documents,
    write(given) {
      writes.push(given)
      return documents.write(given)
    },
  }
}

export function guarding(documents: DocumentStore, check: () => void): DocumentStore {
  return {
    ...documents,
    async write(given) {
      check()
      return documents.write(given)
    },
  }
}

export async function untilAsync(holds: () => Promise<boolean>, withinMs = 3_000): Promise<void> {
  const givenUp = patienceClock(withinMs)
  while (!(await holds())) {
    if (givenUp()) throw new Error(`did not hold within ${withinMs} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
