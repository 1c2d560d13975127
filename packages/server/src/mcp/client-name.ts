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
    if (typeof value !== 'string') continue
    // Twice as many UTF-16 units hold the characters whole, surrogate pairs included.
    const characters = [...value.trim().slice(0, 2 * MAX_LENGTH)].slice(0, MAX_LENGTH)
    if (characters.length > 0) return characters.join('').trim()
  }
  return null
}
