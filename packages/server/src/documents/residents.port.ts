import type { PreparedBody } from '@docrelay/model/body-facts'
import type { Fix, Refusal, Warning } from '@docrelay/model/edit'
import type { EditName } from '@docrelay/model/edits'
import type { Access } from '../access/access.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { DocumentHead, DocumentRef } from './document-store.port.ts'
import type { Notes } from './notes.ts'
import type { Once, Repeated } from './once.ts'

/** A PUT as the pure decision `planPut` takes it; plain data, so that it can be sent to the document's worker. */
export interface PutRequest {
  readonly ref: DocumentRef
  readonly access: Access
  readonly enforcePrivateDocs: boolean
  readonly body: PreparedBody
  /** `null`: not given. [REST-16] */
  readonly expectedVersion: number | null
  /** From If-Match or If-None-Match: a mismatch is PRECONDITION_FAILED instead of VERSION_CONFLICT. [REST-19] */
  readonly precondition: 'none' | 'if-match' | 'must-exist' | 'must-not-exist'
  readonly overrideTombstone: boolean
}

export type PutOutcome =
  | { readonly kind: 'written'; readonly head: DocumentHead; readonly created: boolean }
  | {
      readonly kind: 'refused'
      readonly code: ErrorCode
      readonly message: string
      readonly details: Readonly<Record<string, unknown>>
    }

/** An edit by a tool; plain data, so that it can be sent to the document's worker. [CONC-1] */
export interface EditRequest {
  readonly ref: DocumentRef
  readonly access: Access
  readonly enforcePrivateDocs: boolean
  readonly edit: EditName
  /** What passed the tool's schema. */
  readonly args: unknown
  /** `null`: not given. [TOOL-20] */
  readonly expectedVersion: number | null
  /** Everything but storing, sending and showing. [TOOL-21] */
  readonly dryRun: boolean
  /** Whom the connections of a live document are shown; `null`: nobody. [PRES-2] */
  readonly agent: Agent | null
  readonly once?: Once
}

/** What is told of an edit but for the version. */
export interface EditAnswer {
  /** The tool's own members. */
  readonly result: object
  readonly notes: Notes
}

export interface Agent {
  readonly name: string
  /** Hex colour. */
  readonly color: string
}

export type EditOutcome =
  /** The change is durable, or there was none, or it was a dry run. `head.version` is the version that holds it. [TOOL-15] */
  | {
      readonly kind: 'edited'
      readonly head: DocumentHead
      /** Something was stored, or would have been. */
      readonly changed: boolean
      /** The tool's own members. */
      readonly result: object
      readonly fixes: readonly Fix[]
      readonly warnings: readonly Warning[]
    }
  | Repeated<EditAnswer>
  /** Nothing was changed. The code is one of the tools' table. [TOOL-9] */
  | Refusal

export interface EncodedDocument {
  readonly version: number
  readonly update: Uint8Array
}

/**
 * What `documents` needs of live documents. Declared here, implemented by `sync/gateway/rooms.ts`, handed over by compose.
 * Every promise rejects with RelayError UNAVAILABLE or NOT_PERSISTED when the live side cannot tell.
 */
export interface Residents {
  isResident(ref: DocumentRef): boolean
  /**
   * When it resolves, the stored body contains every edit that was applied before the call. Opens the document when it is not resident.
   * A missing document is no error. [LIFE-11] With `quietMs` edits wait for so long from then on, so that what follows meets a document that
   * stands still.
   */
  settle(ref: DocumentRef, quietMs?: number): Promise<void>
  /**
   * The whole live document as one Yjs v1 update, and the stored version that says the same; everything in it is durable. Opens the document
   * when it is not resident. `null`: there is none. [REST-31]
   */
  encode(ref: DocumentRef): Promise<EncodedDocument | null>
  /** Merges a PUT into the live document, broadcasts and stores it in one step. `not-resident`: the caller writes cold. [LIFE-13, LIFE-14] */
  put(request: PutRequest): Promise<PutOutcome | 'not-resident'>
  /**
   * Runs an edit on the live document and stores it, in order with all other writes of it; connections see it when it is durable, as one delta.
   * `not-resident`: the caller writes cold. Rejects with the signal's reason when the caller gave up before the commit, and then nothing is
   * written. [CONC-4, CONC-5, LIFE-13, MCP-15]
   */
  edit(request: EditRequest, signal?: AbortSignal): Promise<EditOutcome | 'not-resident'>
  /** Says that another writer stored `version`; a room that did not write it reconciles. Never throws. */
  bodyChanged(ref: DocumentRef, version: number): void
  /** Drops the live copy without materialising, unbinds every joined connection. Sent frames are out when it resolves. [LIFE-23, WS-54] */
  drop(ref: DocumentRef): Promise<readonly string[]>
  /** Evaluates the rights of every joined connection anew. [WS-54, PERM-2] */
  sharingChanged(head: DocumentHead): void
}
