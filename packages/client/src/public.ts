/** The public names of `@docrelay/client`. Nothing inside the package imports this file. */
export type { CopyScope, Persistence, StoredCopy } from './live/persistence.ts'
export type { DocumentState, GoneReason } from './live/document-state.ts'
export type {
  DivergedEvent,
  FlushOptions,
  GoneEvent,
  LiveDocument,
  LiveDocumentEvents,
  OpenOptions,
  PresentUser,
} from './live/live-document.ts'
export type { LocalCopyState } from './live/local-copy.ts'
export type { UndoScope } from './live/undo.ts'
export type { Environment, SocketLike } from './environment.ts'
export { NeedsSignIn, RelayError, type ClientErrorCode, type RelayErrorCode } from './errors.ts'
export { createRelay, type Relay, type RelayEvents, type RelayOptions } from './relay.ts'
export type { CallPage } from './rest/document-history.ts'
export type { DocumentBody, DocumentPage, ListOptions, PutOptions } from './rest/documents.ts'
export type { DownloadedBlob } from './rest/blobs.ts'
export type { CallOptions } from './rest/request.ts'
export type { SearchOptions, SearchPage, VersionedPut } from './rest/workspace.ts'
export type { TokenCallback } from './tokens.ts'
export type { RestErrorCode, Retry } from '@docrelay/protocol/rest-codes'
export type { WireErrorCode } from '@docrelay/protocol/codes'
export type { DocEventFrame } from '@docrelay/protocol/frames'
export type {
  BlobInfo,
  CollectionDefinition,
  CollectionInput,
  CollectionRegistry,
  DocumentMetadata,
  IssuedShareLink,
  ListedShareLink,
  RecoveryPoint,
  RegistrySaved,
  RestoredDocument,
  SavedDocument,
  SearchHit,
  ShareInput,
  StyleProfile,
  StyleProfileRegistry,
  ToolCall,
  UndoneCall,
  Usage,
} from '@docrelay/protocol/rest'
