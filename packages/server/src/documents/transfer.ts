import { readShares } from '../access/shares.ts'
import type { DocumentHead } from './document-store.port.ts'

/** The share list after a transfer: the new owner leaves it, the former one becomes an edit share. Other entries stay as given. [REST-23] */
export function transferredShares(before: DocumentHead, newOwnerId: string, nowMs: number): readonly unknown[] {
  const others = before.sharedWith.filter((entry) => {
    const userId = readShares([entry])[0]?.userId
    return userId !== newOwnerId && userId !== before.ownerId
  })
  if (before.ownerId === '') return others
  return [...others, { userId: before.ownerId, userName: before.ownerName, permission: 'edit', sharedAt: nowMs }]
}
