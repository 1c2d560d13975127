import { shownName } from '../kernel/shown-name.ts'
import { isObject, own } from './json-rpc.ts'

const MAX_LENGTH = 64

/**
 * Returns at most 64 characters of the title, else of the name, that a client gives itself; `null` when it gives none.
 * [PRES-2]
 */
export function nameOfClient(clientInfo: unknown): string | null {
  if (!isObject(clientInfo)) return null
  for (const member of ['title', 'name']) {
    const value = own(clientInfo, member)
    const name = typeof value === 'string' ? shownName(value, MAX_LENGTH) : null
    if (name !== null) return name
  }
  return null
}
