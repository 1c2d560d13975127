import { RelayError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import { DamagedDocumentError } from './document-rows.ts'
import { DamagedRowError } from './row-checksums.ts'

/**
 * Runs reads of the store: whatever the engine throws is UNAVAILABLE to the caller, and its cause, like any damage met, is a line of the
 * log. [LIFE-5, REST-13]
 */
export function readingWith(log: Logger): <T>(read: () => Promise<T>) => Promise<T> {
  return async (read) => {
    try {
      return await read()
    } catch (error) {
      if (error instanceof DamagedDocumentError) log.error('storage.document-damaged', error.message)
      if (error instanceof DamagedRowError) log.error('storage.row-damaged', error.message)
      if (error instanceof RelayError) throw error
      log.error('storage.read-failed', 'the store could not be read', {
        error: error instanceof Error ? error.message : String(error),
      })
      throw new RelayError('UNAVAILABLE', 'the store cannot be read')
    }
  }
}
