import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CommitQueue } from './commit-queue.ts'
import { giveLineages } from './lineage.ts'

/** Runs a read. When a head in the answer has no lineage, stores one for it and reads again. */
export type GiveLineages = <T>(read: () => Promise<T>, headsOf: (answer: T) => readonly DocumentHead[]) => Promise<T>

/** Number of documents that get a lineage in one transaction. */
const BATCH = 500

/**
 * Gives a lineage to documents that an older release created, when they are first read. If the lineage cannot be written, the read returns
 * without it: a full disk prevents neither reading nor deleting. [WS-61, LIFE-29]
 */
export function lineageGiver(queue: CommitQueue, random: Random, log: Logger): GiveLineages {
  return async (read, headsOf) => {
    const answer = await read()
    const keys = headsOf(answer).flatMap(({ lineage, key }) => (lineage === '' ? [key] : []))
    if (keys.length === 0) return answer
    try {
      for (let from = 0; from < keys.length; from += BATCH)
        await queue.run(0, (writer) => giveLineages(writer, keys.slice(from, from + BATCH), random))
    } catch (error) {
      log.warn('storage.lineage-failed', 'documents of an older release could not be given a lineage', { error: String(error) })
      return answer
    }
    return read()
  }
}
