import type { Writer } from './tables.ts'

/**
 * Takes every document from its owner, for a relay that will use the store alone and writes no epochs. A paused node that continues later then cannot
 * write to a document that it owned. Scans all log heads, once at the start. [LIFE-26]
 */
export async function freeDocuments(writer: Writer): Promise<void> {
  await writer
    .updateTable('log_heads')
    .set((head) => ({ owner: null, epoch: head('epoch', '+', 1) }))
    .where('owner', 'is not', null)
    .execute()
}
