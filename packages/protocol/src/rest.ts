/** A document as lists, saves and events show it to one caller. [BODY-15] */
export interface DocumentMetadata {
  readonly id: string
  readonly title: string
  readonly name: string
  /** RFC 3339 UTC with milliseconds. */
  readonly updated_at: string
  readonly modifiedAt: number
  readonly createdAt: number
  readonly owner_id: string
  readonly ownerId: string
  readonly ownerName: string
  readonly workspace_id: string
  readonly workspaceId: string
  readonly is_relay_document: true
  readonly isRelayDocument: true
  readonly collectionId: string | null
  readonly sizeBytes: number
  readonly serverVersion: number
  readonly pageCount: number
  readonly canvasPageCount: number
  readonly prosePageCount: number
  readonly access: 'view' | 'edit' | 'owner'
  readonly sharedWith: readonly unknown[]
  /** `tags`, `lockedBy`, `lockedByName`, `lockedAt`, `lastModifiedBy`, `lastModifiedByName` where the body has them. */
  readonly [carried: string]: unknown
}

/** Reply of PUT /api/docs/{id}. [REST-17] */
export type SavedDocument = DocumentMetadata & { readonly success: true; readonly newVersion: number }

/** Every REST error but the plain `forbidden`. [REST-2] */
export interface ErrorBody {
  readonly error: string
  readonly errorCode: string
  readonly [detail: string]: unknown
}
