import type { PreparedBody } from '@docrelay/model/body-facts'
import type { ContentLink, Fix, Refusal, Warning } from '@docrelay/model/edit'
import type { EditName } from '@docrelay/model/edits'
import type { BodyDelta } from '@docrelay/model/seen/body-delta'
import type { Seen } from '@docrelay/model/seen/seen'
import type { ShownPage } from '@docrelay/model/seen/shown'
import type { Access, AccessPolicy } from '../access/access.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { DocumentHead, DocumentRef } from './document-store.port.ts'
import type { Effects } from './effects.ts'
import type { Notes } from './notes.ts'
import type { Once, Repeated } from './once.ts'

/** A PUT as the pure function `planPut` takes it. Plain data, so that it can be sent to the document's worker. */
export interface PutRequest {
  readonly ref: DocumentRef
  readonly access: Access
  readonly accessPolicy: AccessPolicy
  readonly body: PreparedBody
  /** `null`: the PUT names no version. [REST-16] */
  readonly expectedVersion: number | null
  /** From If-Match or If-None-Match: a mismatch is PRECONDITION_FAILED instead of VERSION_CONFLICT. [REST-19] */
  readonly precondition: 'none' | 'if-match' | 'must-exist' | 'must-not-exist'
  readonly overrideTombstone: boolean
  /** Whether the outcome contains `delta`, for the record of changes. [AG-20] */
  readonly isRecorded?: boolean
}

export type PutOutcome =
  | {
      readonly kind: 'written'
      readonly head: DocumentHead
      readonly created: boolean
      readonly delta?: BodyDelta
      /** The share list that the write replaced; empty for a new document. A node of a former release leaves it out. */
      readonly sharedBefore?: DocumentHead['sharedWith']
    }
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
  readonly accessPolicy: AccessPolicy
  readonly edit: EditName
  /** Arguments that passed the schema of the tool. */
  readonly args: unknown
  /** `null`: the call names no version. [TOOL-20] */
  readonly expectedVersion: number | null
  /** Does everything except storing, broadcasting and showing the agent. [TOOL-21] */
  readonly dryRun: boolean
  /** The agent to show to the connections of a live document; `null` for none. [PRES-2] */
  readonly agent: Agent | null
  /** Tells the callers of the principal apart in the record of the call; absent for a person. [AG-68] */
  readonly caller?: string
  readonly once?: Once
  /** What the caller saw of the pages that it writes. [AG-17] */
  readonly seen?: Seen
  /** Whether the outcome contains `delta`, for the record of changes. [AG-20] */
  readonly isRecorded?: boolean
}

/** The answer to an edit without the version. */
export interface EditAnswer {
  /** The tool's own members. */
  readonly result: object
  /** Absent in an answer that an older release remembered. */
  readonly effects?: Effects
  readonly notes: Notes
  /** Links of the call to other documents, which are checked for each answer. [AG-84] */
  readonly links?: readonly ContentLink[]
}

export interface Agent {
  readonly name: string
  /** Hex colour. */
  readonly color: string
}

export type EditOutcome =
  /**
   * The change is durable, or nothing changed, or it was a dry run. `head.version` is the version that holds the
   * change. [TOOL-15]
   */
  | {
      readonly kind: 'edited'
      readonly head: DocumentHead
      /** True when something was stored, or would have been in a dry run. */
      readonly changed: boolean
      /** The tool's own members. */
      readonly result: object
      readonly effects: Effects
      readonly fixes: readonly Fix[]
      readonly warnings: readonly Warning[]
      /** What changed; only for a request with `isRecorded`. */
      readonly delta?: BodyDelta
      /** What the caller knows of the pages that it wrote as a whole. */
      readonly shown?: readonly ShownPage[]
      /** Links of the call to other documents, not checked yet. [AG-84] */
      readonly links?: readonly ContentLink[]
    }
  | Repeated<EditAnswer>
  /** Nothing was changed. The code is a row of the table of tool errors. [TOOL-9] */
  | Refusal

export interface EncodedDocument {
  readonly version: number
  readonly update: Uint8Array
}

/**
 * What `documents` asks of live documents. This folder declares the port, `sync/gateway/rooms.ts` implements it, and
 * compose connects the two. Every promise rejects with RelayError UNAVAILABLE or NOT_PERSISTED when the live document
 * cannot answer.
 */
export interface Residents {
  isResident(ref: DocumentRef): boolean
  /**
   * When it resolves, the stored body contains every edit that was applied before the call. Opens the document when it is
   * not resident and its body is behind, or when another node owns it; from then on it is resident here, even when it is live
   * on another node. A missing document is no error. [LIFE-11, LIFE-25] With `quietMs` the room holds back edits for that
   * long afterwards, so that the caller's next step meets an unchanged document.
   */
  settle(ref: DocumentRef, quietMs?: number): Promise<void>
  /**
   * Settles documents for a caller that reads many of them. Asks each other owner once, and waits 1 s in all for the documents of
   * other nodes, and at most `withinMs` for everything. Resolves with the number of settled documents; the others are read as
   * they are stored. Never rejects. [LIFE-8, LIFE-11, LIFE-25]
   */
  settleAll(heads: readonly DocumentHead[], withinMs?: number): Promise<number>
  /**
   * Returns the whole live document as one Yjs v1 update, with the stored version that says the same; everything in it
   * is durable. Opens the document when it is not resident. `null` when the document does not exist. [REST-31]
   */
  encode(ref: DocumentRef): Promise<EncodedDocument | null>
  /**
   * Merges a PUT into the live document, broadcasts it and stores it in one step. On `not-resident` the caller writes
   * to the store itself. [LIFE-13, LIFE-14]
   */
  put(request: PutRequest): Promise<PutOutcome | 'not-resident'>
  /**
   * Runs an edit on the live document and stores it, in order with all other writes of that document. Connections
   * receive it as one delta when it is durable. On `not-resident` the caller writes to the store itself. Rejects with
   * the reason of `signal` when the caller gave up before the commit; then nothing is written. [CONC-4, CONC-5,
   * LIFE-13, MCP-15]
   */
  edit(request: EditRequest, signal?: AbortSignal): Promise<EditOutcome | 'not-resident'>
  /** Whether the document is open and its log has a gap, so that its stored body never holds everything. [LIFE-5] */
  hasGap(ref: DocumentRef): boolean
  /**
   * Tells the room that another writer stored `version`. A room that did not write that version itself reconciles.
   * Never throws.
   */
  bodyChanged(ref: DocumentRef, version: number): void
  /**
   * Drops the live copy without storing it, takes every connection out of the room, and returns the ids of these
   * connections. When it resolves, they have been sent all earlier frames of the room. [LIFE-23, WS-54]
   */
  drop(ref: DocumentRef): Promise<readonly string[]>
  /** Decides the rights of every joined connection again. [WS-54, PERM-2] */
  sharingChanged(head: DocumentHead): void
}
