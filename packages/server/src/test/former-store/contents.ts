import { createHash } from 'node:crypto'
import * as Y from 'yjs'
import { type RelayUnderTest, saved } from '../relay-under-test.ts'

export const WORKSPACES = ['first', 'second'] as const

/** Everything that callers can read from a store, as JSON. */
export type Contents = Readonly<Record<string, unknown>>

/** Reads everything from a relay of any release: bodies, Y states, points, lists, links and blobs of every workspace. */
export async function contentsOf(relay: RelayUnderTest): Promise<Contents> {
  const contents: Record<string, unknown> = {}
  for (const workspace of WORKSPACES) contents[workspace] = await workspaceOf(relay, { sub: 'ann', role: 'owner', workspace })
  return contents
}

async function workspaceOf(relay: RelayUnderTest, claims: Parameters<RelayUnderTest['rest']>[0]): Promise<Contents> {
  const rest = relay.rest(claims)
  const documents: Record<string, unknown> = {}
  for (const { id } of [...(await rest.listDocuments())].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const points = await rest.recoveryPoints(id)
    documents[id] = {
      body: await rest.getDocument(id),
      points: await Promise.all(
        // The list of that release had no reasons.
        points.map(async (point) => ({
          point: { ...point, reason: undefined },
          body: await rest.getRecoveryPoint(id, point.id),
        })),
      ),
      shareLinks: await rest.listShareLinks(id),
      yState: await yStateOf(relay, id, claims),
    }
  }
  const hashes = [...new Set(JSON.stringify(documents).match(/\b[0-9a-f]{64}\b/g) ?? [])].sort()
  const blobs: Record<string, unknown> = {}
  for (const hash of hashes) {
    const blob = await rest.downloadBlob(hash).catch(() => null)
    blobs[hash] = blob === null ? null : createHash('sha256').update(blob.bytes).digest('hex')
  }
  const deleted = await rest.getDocument('deleted').then(
    () => 'there',
    (error: { status: number }) => error.status,
  )
  return { documents, blobs, deleted, collections: await rest.collections(), styleProfiles: await rest.styleProfiles() }
}

async function yStateOf(relay: RelayUnderTest, id: string, claims: Parameters<RelayUnderTest['rest']>[0]): Promise<string> {
  const client = relay.sync(id, claims)
  await saved(client)
  const state = Buffer.from(Y.encodeStateAsUpdate(client.doc)).toString('base64')
  client.destroy()
  return state
}
