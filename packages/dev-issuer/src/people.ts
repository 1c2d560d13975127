/** A person who may sign in. The `wsp` entries become the claim of that name. */
export interface Person {
  readonly id: string
  /** The name on the page where people choose a person; the id when absent. */
  readonly name?: string
  readonly wsp: readonly WorkspaceMembership[]
  readonly orgId?: string
}

export interface WorkspaceMembership {
  readonly id: string
  readonly role: 'owner' | 'member' | 'viewer'
  readonly region?: string
  readonly quota_bytes?: number
  readonly editor_limit?: number
  readonly max_doc_bytes?: number
}

/** Three people of one workspace, one of each role. */
export function tryOutPeople(workspaceId: string): Person[] {
  return [
    { id: 'ann', name: 'Ann (owner)', wsp: [{ id: workspaceId, role: 'owner' }] },
    { id: 'ben', name: 'Ben (member)', wsp: [{ id: workspaceId, role: 'member' }] },
    { id: 'cleo', name: 'Cleo (viewer)', wsp: [{ id: workspaceId, role: 'viewer' }] },
  ]
}

/** Returns the claims that Docrelay reads besides the registered ones, and the name that its console shows. */
export function relayClaims({ wsp, orgId, name }: Person): {
  wsp: readonly WorkspaceMembership[]
  org_id?: string
  name?: string
} {
  return { wsp, ...(orgId !== undefined && { org_id: orgId }), ...(name !== undefined && { name }) }
}
