import type { Writer } from './tables.ts'

/**
 * Takes every document from its owner, for a relay that will use the store alone and writes no epochs. A node that was paused and
 * goes on later then cannot write to a document that it owned. Scans all heads, once at the start. [LIFE-26]
 */
export async function freeDocuments(writer: Writer): Promise<void> {
  await writer
    .updateTable('log_heads')
    .set((head) => ({ owner: null, epoch: head('epoch', '+', 1) }))
    .where('owner', 'is not', null)
    .execute()
}
