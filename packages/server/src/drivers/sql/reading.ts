import { RelayError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import { DamagedDocumentError } from './document-rows.ts'
import { DamagedRowError } from './row-checksums.ts'

/**
 * Makes the function that runs reads of the store. Any error of the engine becomes UNAVAILABLE for the caller. Its cause and any damage that was
 * found are logged. [LIFE-5, REST-13]
 */
export function readingWith(log: Logger): <T>(read: () => Promise<T>) => Promise<T> {
  return async (read) => {
    try {
      return await read()
    } catch (error) {
      if (error instanceof DamagedDocumentError) {
        const where = error.ref === null ? {} : { workspace: error.ref.workspaceId, docId: error.ref.id }
        log.error('storage.document-damaged', `this document is damaged in the store: ${error.detail}`, where)
      }
      if (error instanceof DamagedRowError) log.error('storage.row-damaged', error.message)
      if (error instanceof RelayError) throw error
      log.error('storage.read-failed', 'the store could not be read', {
        error: error instanceof Error ? error.message : String(error),
      })
      throw new RelayError('UNAVAILABLE', 'the store cannot be read')
    }
  }
}
