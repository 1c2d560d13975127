import type { Writer } from './tables.ts'

/**
 * Takes every document from its owner, for a relay that will use the store alone and names no epochs: a node that was paused and goes on later can
 * then not write to a document that it owned. Reads all heads, once at the start. [LIFE-26]
 */
export async function freeDocuments(writer: Writer): Promise<void> {
  await writer
    .updateTable('log_heads')
    .set((head) => ({ owner: null, epoch: head('epoch', '+', 1) }))
    .where('owner', 'is not', null)
    .execute()
}
