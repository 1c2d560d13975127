/** A document as lists, saves and events show it to one caller. [BODY-15] */
export interface DocumentMetadata {
  readonly id: string
  readonly title: string
  readonly name: string
  /** The time of the last change, as RFC 3339 in UTC with milliseconds. */
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
  /** Names the life of the document from creation to deletion: 16 URL-safe characters. [WS-61] */
  readonly lineage?: string
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

/** One collection of a workspace; members that the relay does not know are kept. [REST-25] */
export interface CollectionDefinition {
  readonly id: string
  readonly name: string
  readonly color: string
  readonly order: number
  readonly [member: string]: unknown
}

/** Reply of GET /api/collections, sorted by order. */
export interface CollectionRegistry {
  readonly collections: readonly CollectionDefinition[]
  /** The version of the registry; 0 before the first PUT. */
  readonly version: number
}

/** A collection in a PUT: the relay fills in the members that are left out. */
export type CollectionInput = Pick<CollectionDefinition, 'id' | 'name'> &
  Partial<Pick<CollectionDefinition, 'color' | 'order'>> & { readonly [member: string]: unknown }

/** A style profile of a workspace. [REST-32] */
export interface StyleProfile {
  readonly id: string
  readonly name: string
  readonly properties: Readonly<Record<string, unknown>>
  /** ms */
  readonly createdAt: number
  readonly favorite?: boolean
  readonly collectionIds?: readonly string[]
  readonly [member: string]: unknown
}

export interface StyleProfileRegistry {
  readonly profiles: readonly StyleProfile[]
  readonly version: number
}

/** Reply of PUT /api/collections and PUT /api/v1/style-profiles. */
export interface RegistrySaved {
  readonly success: true
  readonly newVersion: number
}

/** Reply of GET /api/v1/usage; `null` is unlimited. [REST-28] */
export interface Usage {
  /** The sum of `docBytes` and `blobBytes`. */
  readonly storageBytes: number
  readonly docBytes: number
  readonly blobBytes: number
  /** Bytes of collections and style profiles. */
  readonly configBytes: number
  readonly storageQuota: number | null
  readonly maxDocBytes: number | null
  readonly activeEditors: number
  readonly editorLimit: number | null
  /** The number of open WebSocket connections, including those of viewers. */
  readonly connections: number
  readonly connectionLimit: number | null
  /** The write bucket of the workspace: its refill per second, its size, and the writes left now; `null` without a limit. [LIM-2] */
  readonly writes: { readonly perSecond: number; readonly burst: number; readonly left: number } | null
  /** Whether a limit comes from the token of the caller or from the configuration. [LIM-1] */
  readonly sources: Readonly<Record<'storageQuota' | 'maxDocBytes' | 'editorLimit', 'claim' | 'config'>>
}

/** Reply of both routes that issue a share link. The token is shown only in this reply. [SHARE-1, SHARE-2] */
export interface IssuedShareLink {
  readonly id: string
  readonly token: string
  readonly url: string
  readonly expires_at: string
}

/** A valid share link as the owner of its document sees the link. [SHARE-3] */
export interface ListedShareLink {
  readonly id: string
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string
}

/**
 * One entry of the deprecated share route. `owner` is allowed only for a user who already has an owner share. [SHARE-6]
 */
export interface ShareInput {
  readonly userId: string
  readonly userName?: string
  readonly permission: 'viewer' | 'view' | 'editor' | 'edit' | 'owner' | 'none'
}

/** A recovery point of a document. [interface, Resources] */
export interface RecoveryPoint {
  readonly id: string
  /** ms */
  readonly createdAt: number
  readonly serverVersion: number
  readonly sizeBytes: number
  /** Why the point was taken; absent for points from relays before 0.2. [REST-26] */
  readonly reason?: 'interval' | 'last-leave' | 'zeroing' | 'removal' | 'restore' | 'demand'
}

/** Reply of a restore. [REST-27] */
export interface RestoredDocument {
  readonly newDocId: string
  readonly serverVersion: number
}

/** One text that contains the searched words. [AG-65] */
export interface SearchHit {
  readonly docId: string
  readonly name: string
  readonly kind: 'name' | 'prose' | 'cell' | 'shape' | 'reference' | 'field'
  readonly snippet: string
  readonly pageId?: string
  /** The title of the heading below which the text stands. */
  readonly section?: string
  readonly sectionIndex?: number
  /** The id of the text block, shape, reference or field with the text. */
  readonly id?: string
  /** The text or its document is longer than the part that is searched. */
  readonly cut?: true
}

/** Reply of GET /api/v1/search. [AG-65] */
export interface SearchAnswer {
  readonly hits: readonly SearchHit[]
  readonly returned: number
  readonly nextCursor?: string
  /** No text contains all searched words; the hits contain at least half of these words. */
  readonly partial?: true
  /** The search did not cover all documents and texts. */
  readonly incomplete?: true
  /** The number of documents with newer edits that the search did not cover. */
  readonly behind?: number
}

/** A call of a tool that wrote a document. [AG-73] */
export interface ToolCall {
  readonly callId: string
  readonly tool: string
  /** The user id of the caller. */
  readonly by: string
  /** ms */
  readonly at: number
  readonly serverVersion: number
  readonly changed: number
  readonly removed: number
  readonly undoable: boolean
  /** The id of the call that undid this call. */
  readonly undoneBy?: string
}

/** Reply of an undo. [AG-72, AG-73] */
export interface UndoneCall {
  /** The number of changes that were undone; 0 when others have changed every part since. */
  readonly changed: number
  /** The parts that the undo leaves as they are because somebody changed them since; at most 20. */
  readonly kept: readonly { readonly id: string; readonly text: string; readonly [member: string]: unknown }[]
  readonly keptTotal?: number
  readonly serverVersion: number
  /** The id of the undo as a call, which can be undone too; absent when the undo changed nothing. */
  readonly callId?: string
}

/** A blob as HEAD describes it. [BLOB-8] */
export interface BlobInfo {
  readonly size: number
  readonly mimeType: string
  /** The time at which the blob was first added to the workspace, as RFC 3339. */
  readonly createdAt: string
}

/** The body of every REST error except the plain `forbidden`. [REST-2] */
export interface ErrorBody {
  readonly error: string
  readonly errorCode: string
  readonly [detail: string]: unknown
}
