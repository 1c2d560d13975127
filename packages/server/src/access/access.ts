import type { Role } from '../auth/principal.ts'
import type { ResolvedLimits } from './limits.ts'

/** A verified caller pinned to one workspace. [AUTH-6] */
export interface Access {
  readonly sub: string
  readonly workspaceId: string
  readonly role: Role
  readonly limits: ResolvedLimits
}

/** none < view < edit < owner. [PERM-1] */
export type Level = 'none' | 'view' | 'edit' | 'owner'

export type SharePermission = 'view' | 'edit' | 'owner'

/** One sharedWith entry read tolerantly; `raw` is the entry as it was given and is what answers show. [BODY-13] */
export interface Share {
  readonly userId: string
  /** `null`: a word that grants nothing. */
  readonly permission: SharePermission | null
  readonly raw: unknown
}

/** What deciding a level needs to know of a document. */
export interface Sharing {
  /** `''` for a document without owner. */
  readonly ownerId: string
  readonly shares: readonly Share[]
}
