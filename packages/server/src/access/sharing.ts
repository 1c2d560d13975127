import type { Level } from './access.ts'
import { reaches, readShares } from './level.ts'

/**
 * The entries of a share list, as given, that a reader may see: all at edit and owner, at view only the reader's own. [PERM-7]
 */
export function visibleShares(
  sharedWith: readonly unknown[],
  reader: { readonly sub: string; readonly level: Level },
): readonly unknown[] {
  if (reaches(reader.level, 'edit')) return sharedWith
  if (reader.level === 'none') return []
  return readShares(sharedWith)
    .filter((share) => share.userId === reader.sub)
    .map((share) => share.raw)
}
