const WORKSPACE = 'docrelay.workspace'

/** Returns the workspace of this tab: the one that was chosen here, or the only one that the person has. */
export function workspaceOf(
  workspaces: readonly string[],
  storage: Storage,
): { readonly kind: 'chosen'; readonly id: string } | { readonly kind: 'open' } {
  const kept = storage.getItem(WORKSPACE)
  if (kept !== null && workspaces.includes(kept)) return { kind: 'chosen', id: kept }
  return workspaces.length > 1 ? { kind: 'open' } : { kind: 'chosen', id: workspaces[0] ?? '' }
}

export function keepWorkspace(id: string | null, storage: Storage): void {
  if (id === null) storage.removeItem(WORKSPACE)
  else storage.setItem(WORKSPACE, id)
}
