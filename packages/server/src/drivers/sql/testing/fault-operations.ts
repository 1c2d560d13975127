import { aGrant, aPresigned } from '../../../blobs/testing/ledger-requests.ts'
import { hashOf, someBytes } from '../../../blobs/testing/blob-bytes.ts'
import { newObject } from '../../../blobs/blob-store.port.ts'
import type { DocumentHead, DocumentWrite } from '../../../documents/document-store.port.ts'
import { bodyOf, change, creation, textOf, update, written } from '../../../documents/testing/document-writes.ts'
import type { RegistryKind } from '../../../collections/registry-store.port.ts'
import { systemRandom } from '../../../kernel/ids.ts'
import type { StorageHost } from '../storage-host.ts'

const NOW = 1_700_000_000_000

/** One kind of write through the ports, applied to a document whose log ends at 1. */
export interface FaultOperation {
  /** Prepares what the write needs. Returns the head of the document afterwards. */
  prepare?(host: StorageHost, head: DocumentHead): Promise<DocumentHead>
  /** Prepares a second attempt, after others have appended. */
  prepareAgain?(host: StorageHost, head: DocumentHead): Promise<DocumentHead>
  run(host: StorageHost, head: DocumentHead): Promise<unknown>
  /** Number of records that the write adds to the log of the document. */
  readonly records: number
  /** For each part of the write, whether it is stored. Either all parts must be stored or none. */
  parts(host: StorageHost, head: DocumentHead): Promise<readonly boolean[]>
}

const live = (lastSeq: number) => ({ kind: 'live', lastSeq, append: [{ actor: 'ada', update: update(lastSeq + 1) }] }) as const
const stateOf = (host: StorageHost, { workspaceId, id }: DocumentHead) => host.documents.state({ workspaceId, id })
const logged = async (host: StorageHost, { key }: DocumentHead, seq: number) => {
  const log = await host.updates.load(key)
  return log.kind === 'loaded' && log.records.some((record) => record.seq === seq)
}
const bodyText = async (host: StorageHost, { workspaceId, id }: DocumentHead) =>
  textOf((await host.documents.read({ workspaceId, id }))?.body)
/** Returns the stored head, or `head` when the document no longer exists, so that no part of a change is found. */
const headNow = async (host: StorageHost, head: DocumentHead): Promise<DocumentHead> => {
  const state = await stateOf(host, head)
  return state.kind === 'document' ? state.head : head
}
const hasVersion = async (host: StorageHost, head: DocumentHead) => (await headNow(host, head)).version === head.version + 1

/** Makes the body contain the whole log, as a cold write and a restore require. */
const settle = async ({ documents }: StorageHost, head: DocumentHead) =>
  written(await documents.write(change(head, '{"settled":1}', { log: { kind: 'live', lastSeq: head.lastSeq, append: [] } })))

/** Makes an operation that changes columns of the head, such as the owner or the shares, without a new body. */
function beside(set: DocumentWrite['set'], holds: (head: DocumentHead) => boolean): FaultOperation {
  return {
    records: 0,
    run: ({ documents }, head) => documents.write(change(head, '', { set, log: { kind: 'none' } })),
    parts: async (host, head) => [holds(await headNow(host, head)), await hasVersion(host, head)],
  }
}

function registry(kind: RegistryKind): FaultOperation {
  const text = `[{"id":"${kind}"}]`
  return {
    records: 0,
    run: ({ registries }, { workspaceId }) =>
      registries.replace({ workspaceId, kind, text, expectedVersion: 0, maxBytes: 10_000 }),
    async parts({ registries }, { workspaceId }) {
      const stored = await registries.read(workspaceId, kind)
      return [stored.version === 1, stored.text === text, (await registries.configBytes(workspaceId)) === text.length]
    },
  }
}

const linkOf = ({ id, key }: DocumentHead) => ({
  id: `link-${id}`,
  createdAtMs: NOW,
  createdBy: 'ada',
  expiresAtMs: NOW + 9e9,
  key,
  tokenHash: `token of ${id}`,
  maxLive: 50,
})
const issue = async (host: StorageHost, head: DocumentHead) => {
  await host.shareLinks.issue(linkOf(head))
  return head
}
const leadsThere = async ({ shareLinks }: StorageHost, head: DocumentHead) =>
  (await shareLinks.find(head.workspaceId, linkOf(head).tokenHash, NOW))?.key === head.key
const blobOf = ({ id }: DocumentHead) => hashOf(someBytes(20, id.length))
/** The newest announced object of each document, by id. Each attempt of an upload announces its own object. */
const objects = new Map<string, string>()
const objectOf = ({ id }: DocumentHead) => objects.get(id) ?? ''
async function announce(host: StorageHost, head: DocumentHead): Promise<DocumentHead> {
  const object = newObject(blobOf(head), systemRandom)
  await host.blobs.announce(object, 600_000)
  objects.set(head.id, object)
  return head
}
const uploadOf = (head: DocumentHead) => aPresigned(head.workspaceId, blobOf(head), { id: `upload-${head.id}` })
const restoredRef = ({ workspaceId, id }: DocumentHead) => ({ workspaceId, id: `${id}-restored` })

export const FAULT_OPERATIONS: Readonly<Record<string, FaultOperation>> = {
  append: {
    records: 1,
    run: ({ updates }, { key }) => updates.append([{ key, afterSeq: 1, actor: 'ada', atMs: NOW, update: update(2) }]),
    parts: async (host, head) => [await logged(host, head, 2)],
  },
  'body save': {
    records: 1,
    run: ({ documents }, head) => documents.write(change(head, '{"saved":1}', { log: live(1) })),
    parts: async (host, head) => [
      await hasVersion(host, head),
      (await bodyText(host, head)) === '{"saved":1}',
      await logged(host, head, 2),
    ],
  },
  'cold PUT': {
    records: 0,
    prepare: settle,
    prepareAgain: settle,
    run: ({ documents }, head) => documents.write(change(head, '{"cold":1}')),
    parts: async (host, head) => [
      await hasVersion(host, head),
      (await bodyText(host, head)) === '{"cold":1}',
      (await headNow(host, head)).bodyAhead,
    ],
  },
  'tool edit': {
    records: 1,
    run: ({ documents }, head) =>
      documents.write(change(head, '', { set: {}, log: { ...live(1), bodyLater: { grownBytes: 1 } } })),
    parts: async (host, head) => [await hasVersion(host, head), await logged(host, head, 2)],
  },
  creation: {
    records: 0,
    run: ({ documents }, { workspaceId, id }) => documents.write(creation({ workspaceId, id: `${id}-made` }, '{"made":1}')),
    parts: async (host, head) => [(await bodyText(host, { ...head, id: `${head.id}-made` })) === '{"made":1}'],
  },
  'delete document': {
    records: 0,
    run: ({ documents }, head) => documents.remove(head, head.key, NOW),
    parts: async (host, head) => [
      (await stateOf(host, head)).kind === 'tombstone',
      (await host.documents.read(head)) === null,
      (await host.updates.load(head.key)).kind === 'gone',
    ],
  },
  share: beside({ sharedWith: ['ben'] }, ({ sharedWith }) => sharedWith.includes('ben')),
  collection: beside({ collectionId: 'plans' }, ({ collectionId }) => collectionId === 'plans'),
  transfer: beside({ ownerId: 'ben', ownerName: 'Ben' }, ({ ownerId, ownerName }) => ownerId === 'ben' && ownerName === 'Ben'),
  'share link made': { records: 0, run: issue, parts: async (host, head) => [await leadsThere(host, head)] },
  'share link redeemed': {
    ...beside({ sharedWith: ['guest'] }, ({ sharedWith }) => sharedWith.includes('guest')),
    prepare: issue,
    async run({ shareLinks, documents }, head) {
      const found = await shareLinks.find(head.workspaceId, linkOf(head).tokenHash, NOW)
      if (found === null) throw new Error('the link leads nowhere')
      return documents.write(change(head, '', { set: { sharedWith: ['guest'] }, log: { kind: 'none' } }))
    },
  },
  'share link revoked': {
    records: 0,
    prepare: issue,
    run: ({ shareLinks }, head) => shareLinks.revoke(head.key, linkOf(head).id, NOW),
    parts: async (host, head) => [!(await leadsThere(host, head)), (await host.shareLinks.list(head.key, NOW)).length === 0],
  },
  collections: registry('collections'),
  'style profiles': registry('style-profiles'),
  'blob grant': {
    records: 0,
    async prepare(host, head) {
      await host.blobs.reserve(uploadOf(head), null, 1000)
      return announce(host, head)
    },
    prepareAgain: announce,
    run: ({ blobs }, head) =>
      blobs.grant(aGrant(head.workspaceId, blobOf(head), { reservationId: uploadOf(head).id, object: objectOf(head) })),
    parts: async ({ blobs }, head) => [
      (await blobs.find(head.workspaceId, blobOf(head))) !== null,
      await blobs.uploadedBy(head.workspaceId, blobOf(head), 'ada'),
      (await blobs.find(head.workspaceId, blobOf(head)))?.object === objectOf(head),
      (await blobs.meteredBytes(head.workspaceId)) === 100,
      (await blobs.staged(head.workspaceId, blobOf(head))).length === 0,
    ],
  },
  point: {
    records: 0,
    run: ({ recovery }, { key }) => recovery.capture(key, 'demand', NOW),
    parts: async ({ recovery }, { key }) => [(await recovery.list(key)).length === 1],
  },
  restore: {
    records: 0,
    prepare: settle,
    prepareAgain: settle,
    run: ({ recovery }, head) =>
      recovery.restore({ source: head, newRef: restoredRef(head), body: bodyOf('{"restored":1}'), nowMs: NOW }),
    parts: async (host, head) => [
      (await stateOf(host, head)).kind === 'tombstone',
      (await host.updates.load(head.key)).kind === 'gone',
      (await bodyText(host, { ...head, ...restoredRef(head) })) === '{"restored":1}',
    ],
  },
  snapshot: {
    records: 0,
    run: ({ updates }, { key }) => updates.compact(key, { update: update(9), stateVector: update(9), throughSeq: 1 }),
    async parts({ updates }, { key }) {
      const log = await updates.load(key)
      return [log.kind === 'loaded' && log.snapshot?.throughSeq === 1]
    },
  },
  revocation: {
    records: 0,
    run: ({ revocations }, { id }) => revocations.add([{ jti: id, revokedAtMs: NOW }], { keep: 1_000 }),
    parts: async ({ revocations }, { id }) => [(await revocations.all()).some(({ jti }) => jti === id)],
  },
}
