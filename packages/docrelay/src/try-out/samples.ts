import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayError } from '@docrelay/client/errors'
import type { RelayClient } from '@docrelay/client/rest/relay-client'
import type { CollectionInput } from '@docrelay/protocol/rest'

/** The sample that the printed links open and the agent watches. */
export const FIRST_DOCUMENT = 'meeting-minutes'

/** Creates the samples of a folder that are missing. A sample that was edited or deleted stays as it is. */
export async function createSamples(client: RelayClient, folder: string): Promise<void> {
  for (const file of (await readdir(join(folder, 'workspace'))).sort()) {
    const body = JSON.parse(await readFile(join(folder, 'workspace', file), 'utf8')) as { id: string }
    await client.putDocument(body.id, body, { expectedVersion: 0 }).catch((error: unknown) => {
      const expected = error instanceof RelayError && (error.code === 'VERSION_CONFLICT' || error.code === 'TOMBSTONED')
      if (!expected) throw error
    })
  }
  await createCollections(client, join(folder, 'collections.json'))
}

/** Groups the samples; does nothing when the workspace already has collections. */
async function createCollections(client: RelayClient, file: string): Promise<void> {
  const { collections, members } = JSON.parse(await readFile(file, 'utf8')) as {
    collections: CollectionInput[]
    members: Record<string, string>
  }
  try {
    await client.putCollections(collections, 0)
  } catch (error) {
    if (error instanceof RelayError && error.code === 'VERSION_CONFLICT') return
    throw error
  }
  for (const [docId, collectionId] of Object.entries(members)) await client.setCollection(docId, collectionId)
}
