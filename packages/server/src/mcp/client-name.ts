import { isObject, own } from './json-rpc.ts'

/** The title, else the name, that a client gives itself; `null` when it gives none. [PRES-2] */
export function nameOfClient(clientInfo: unknown): string | null {
  if (!isObject(clientInfo)) return null
  for (const member of ['title', 'name']) {
    const value = own(clientInfo, member)
    if (typeof value === 'string' && value.trim() !== '') return value
  }
  return null
}
