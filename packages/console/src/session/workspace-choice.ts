const WORKSPACE = 'docrelay.workspace'

/** The workspaces of the person, and the one that was chosen in this tab; a single one needs no choice. */
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
