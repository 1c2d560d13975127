export type Admission = 'admitted' | 'over-quota'

/**
 * Decides whether a save may change the size of what a workspace stores. [LIM-4]
 *
 * `usedBytes` is the live sum of document JSON and granted blobs, which contains `fromBytes` already; recovery points and live state are metered by
 * nobody [LIM-3]. A new document grows from 0. Only growth that ends above the quota is refused: whoever is over it can still save the
 * same size, shrink and delete, so that a full workspace can be emptied. `quotaBytes: null` is unlimited.
 */
export function admitGrowth(
  save: { readonly fromBytes: number; readonly toBytes: number },
  workspace: { readonly usedBytes: number; readonly quotaBytes: number | null },
): Admission {
  const addedBytes = save.toBytes - save.fromBytes
  if (workspace.quotaBytes === null || addedBytes <= 0) return 'admitted'
  return workspace.usedBytes + addedBytes <= workspace.quotaBytes ? 'admitted' : 'over-quota'
}
