import type { DocumentRef } from '../documents/document-store.port.ts'
import type { NotedChange, Who } from '../documents/change-record.ts'
import type { EditOutcome, EditRequest, PutOutcome, PutRequest } from '../documents/residents.port.ts'
import type { DamagedPart } from '../kernel/damage.ts'
import type { ErrorCode, RelayError } from '../kernel/errors.ts'
import type { GivenUp } from '../kernel/given-up.ts'
import type { Tenure } from './ownership.port.ts'

/** A change of a live document by a person, with the person who made it. [AG-20] */
export interface LiveChange extends NotedChange {
  readonly who: Who
}

/** The rights that a room checks when a member writes. */
export interface MemberRights {
  readonly canWrite: boolean
  /** The largest size of a document that this member may write to, or `null` for no limit. [LIFE-16] */
  readonly maxDocBytes: number | null
}

/** For each presence id, the newest clock that people in a room have seen. [WS-47] */
export type PresenceClocks = readonly (readonly [client: number, clock: number])[]

/**
 * The messages from the gateway to the home of a room. They arrive in order. `room` and `connection` are integers that the main thread
 * assigns and never uses twice in a process. A connection is joined to one room at a time. `join` counts its joins, so that messages of an
 * earlier join can be recognised and dropped.
 */
export type ToWorker =
  /** Loads the document. The answer is `opened`. Later messages for the room wait until then. */
  | {
      readonly kind: 'open'
      readonly room: number
      readonly ref: DocumentRef
      readonly key: number
      /** The presence clocks that people have already seen in this document. [WS-47] */
      readonly clocks?: PresenceClocks
      /** The epoch of the tenure in which this node owns the document. It is absent in a relay of one node. [LIFE-26] */
      readonly epoch?: number
      /**
       * The members have the log through this sequence. They may lack later records, which another owner stored, and get them before all
       * other updates. [LIFE-25]
       */
      readonly since?: number
      /** The tenure in which the members got `since`. It is used only when another node opens the room. */
      readonly sinceTenure?: Tenure
    }
  /** Joins a connection. The room answers with its step1 and the awareness snapshot as `direct`. [WS-23] */
  | ({
      readonly kind: 'join'
      readonly room: number
      readonly connection: number
      readonly join: number
      readonly sub: string
      /** True when the client sent the lineage of its copy. Then its updates are not checked for content of deleted documents. [WS-62] */
      readonly knowsLineage: boolean
      /**
       * True when the room has moved here with all messages that it had of this connection. Then the connection is not asked for its edits
       * again, and does not notice the move. [C8]
       */
      readonly resumes?: boolean
      /**
       * The ordinal of the last message of a connection that was joined before the room was opened again. Later messages of the connection
       * wait until it has sent the step2 that it is asked for. [LIFE-6]
       */
      readonly again?: number
      /**
       * The presence ids that the connection has introduced in the former home of the room. No other connection may introduce them here. A
       * node of the previous version leaves them out. [WS-44]
       */
      readonly shows?: readonly number[]
    } & MemberRights)
  | { readonly kind: 'leave'; readonly room: number; readonly connection: number }
  /** A right or role has changed. It counts from the next message on. */
  | ({ readonly kind: 'rights'; readonly room: number; readonly connection: number } & MemberRights)
  /** One SYNC message. Its payload begins with the sub-type. `ordinal` is 0 when it is not write-bearing. */
  | {
      readonly kind: 'sync'
      readonly room: number
      readonly connection: number
      readonly join: number
      readonly ordinal: number
      readonly payload: Uint8Array
    }
  | { readonly kind: 'awareness'; readonly room: number; readonly connection: number; readonly payload: Uint8Array }
  /** The presence clocks that connections of another node have seen. It is sent when the room opens for them. [WS-47] */
  | { readonly kind: 'clocks'; readonly room: number; readonly clocks: PresenceClocks }
  /** The room sends this connection a step1, because messages were dropped for their rate or as chunks and may be sent again now. [WS-29] */
  | { readonly kind: 'resync'; readonly room: number; readonly connection: number }
  /** Turns `changed` messages of the room on or off. [AG-20] */
  | { readonly kind: 'watch'; readonly room: number; readonly isOn: boolean }
  /** Runs a task. The answer is `done` with the same job number. */
  | { readonly kind: 'job'; readonly job: number; readonly room: number; readonly task: RoomTask }
  /** The caller of this job has given up. Only a home on another node gets this message, because it shares no memory with this node. [MCP-15] */
  | { readonly kind: 'give-up'; readonly job: number }
  /** The processor time that workspaces used in other workers, in ms. [G9] */
  | { readonly kind: 'spent'; readonly workspaces: readonly (readonly [string, number])[] }
  | { readonly kind: 'drain' }

export type RoomTask =
  /** With `quietMs`, new edits are not applied for this long. */
  | { readonly kind: 'settle'; readonly quietMs?: number }
  | { readonly kind: 'put'; readonly request: PutRequest }
  | { readonly kind: 'edit'; readonly request: EditRequest; readonly givenUp?: GivenUp }
  | { readonly kind: 'body-changed'; readonly version: number }
  /** Returns the whole live document, for a reader without a connection. [REST-31] */
  | { readonly kind: 'encode' }
  /** Removes the presence of agents, because the relay stops. [PRES-3] */
  | { readonly kind: 'end-agents' }
  /**
   * Materialises and closes the room at a moment when every edit is durable. A `reload` follows, and the document is opened in the home
   * where it belongs then. The task is refused with `busy` while a call waits. [C8]
   */
  | {
      readonly kind: 'hand-over'
      /** The next owner stores the body, so only the log has to be durable here. [LIFE-28] */
      readonly bodyLater?: true
    }
  /** Reads the records of the log after `since`, for members at another node that may lack them. [LIFE-25] */
  | { readonly kind: 'missed'; readonly since: number }
  /** Materialises, compacts and forgets the room. The task is refused with `busy` when a connection has joined meanwhile. [LIFE-17] */
  | { readonly kind: 'evict' }
  /** Forgets the room without materialising it, because the document was deleted. */
  | { readonly kind: 'drop' }

/** Why a document cannot be loaded. `unavailable` is temporary. With `damaged`, the operator has to mend its stored data first. [LIFE-5] */
export type NotLoaded = 'unavailable' | `damaged-${DamagedPart}`

export type FromWorker =
  | {
      readonly kind: 'opened'
      readonly room: number
      /**
       * With `elsewhere`, the document exceeds the bounds of this home. Nothing was built, and another home has to open it. [C8]
       * With `fenced`, this node does not own the document any more. [LIFE-26]
       */
      readonly outcome: 'opened' | 'gone' | 'elsewhere' | 'fenced' | NotLoaded
      /** True when the document is large or slow to load. Next time it is opened in a separate worker. [C8] */
      readonly heavy?: boolean
      /** True when content is missing in the log. Connections that join may only read until `mended`. [LIFE-5] */
      readonly hasGap?: boolean
      /** The end of the log that was loaded. It is absent in a relay of one node. */
      readonly seq?: number
      /** Set when another node opened the room: the tenure of that node. */
      readonly tenure?: Tenure
    }
  /** The gap in the log of a room is closed. Joined connections have all the rights of their shares again. [LIFE-5] */
  | { readonly kind: 'mended'; readonly room: number }
  /** The updates of one turn of a room, in log order. Each goes to every joined connection except its sender. The relay itself is sender 0. */
  | {
      readonly kind: 'updates'
      readonly room: number
      readonly updates: readonly Uint8Array[]
      readonly senders: readonly number[]
      /**
       * The log is durable through this sequence, and all of it is in this message or in earlier ones. It is absent in a relay of one node.
       * Updates beyond it may never become durable, because another owner may store other records under their sequences. [LIFE-25]
       */
      readonly durableSeq?: number
    }
  /** The changes of people since the last message of this kind. It is sent before the answer of a job that used these changes. [AG-20] */
  | { readonly kind: 'changed'; readonly room: number; readonly changes: readonly LiveChange[] }
  /** Complete frames for one connection. */
  | { readonly kind: 'direct'; readonly connection: number; readonly join: number; readonly frames: readonly Uint8Array[] }
  /** A complete AWARENESS frame for every joined connection except `except`, which is 0 for none. */
  | { readonly kind: 'awareness'; readonly room: number; readonly frame: Uint8Array; readonly except: number }
  /** Every write-bearing message through `ordinal` is durable, changes nothing, or was refused by an earlier message. [WS-40] */
  | { readonly kind: 'settled'; readonly connection: number; readonly join: number; readonly ordinal: number }
  /** A message was refused. The ERROR is sent before any acknowledgement that covers `ordinal`, which is 0 when it was not write-bearing. */
  | {
      readonly kind: 'refused'
      readonly connection: number
      readonly join: number
      readonly ordinal: number
      readonly code:
        | 'ERR_EDIT_FORBIDDEN'
        | 'ERR_BAD_UPDATE'
        | 'ERR_BAD_FRAME'
        | 'ERR_SYNC_GAP'
        | 'ERR_RATE_LIMIT'
        | 'ERR_DOC_FULL'
      readonly text: string
      readonly violation: boolean
      /** Set with ERR_DOC_FULL. [WS-68] */
      readonly full?: { readonly bound: 'structs' | 'clientIds'; readonly limit: number } | undefined
    }
  /** The message had content of an earlier lineage of this document id. The connection is unbound, as from a deleted document. [WS-62] */
  | { readonly kind: 'former'; readonly connection: number; readonly join: number; readonly ordinal: number }
  /** An awareness frame that cannot be decoded. It counts as a violation and gets no reply. */
  | { readonly kind: 'violation'; readonly connection: number }
  /** This connection must be closed: with 1003 after a watchdog or load-cost refusal, with 1013 when too many of its bytes wait. [WS-12] */
  | {
      readonly kind: 'expel'
      readonly connection: number
      readonly code: 1003 | 1013
      readonly word: 'protocol' | 'busy'
    }
  /** The document has become too slow or too large for its home. [C8] */
  | { readonly kind: 'heavy'; readonly room: number }
  /** The processor time that workspaces used in this worker since the last message of this kind, in ms. [G9] */
  | { readonly kind: 'spent'; readonly workspaces: readonly (readonly [string, number])[] }
  /**
   * The log refused a write, or its answer was lost, and the room is closed. With `clocks` the document is opened again under another epoch,
   * and the frames that connections keep are sent to it again. Otherwise writers get ERR_NOT_PERSISTED, the sockets of the room close with
   * 1012 room-reset, and the room is forgotten. [LIFE-6, LIFE-26]
   */
  | {
      readonly kind: 'reset'
      readonly room: number
      readonly writers: readonly { readonly connection: number; readonly ordinal: number }[]
      /** Absent in a relay of one node, and when something other than the room has changed the log. */
      readonly clocks?: PresenceClocks
    }
  /**
   * The live copy was discarded, and all its edits are in the log. The document is loaded again, and all connections stay joined except
   * `without`, whose write broke the room. `without` is 0 for no connection, as when the room moves to another home. [C8, C10]
   */
  | {
      readonly kind: 'reload'
      readonly room: number
      readonly without: number
      readonly clocks?: PresenceClocks
      /** Only from another node. The room has moved between homes of that node, with all messages that it had of its connections. */
      readonly resumes?: boolean
    }
  /** Only from another node. The document was deleted, and the room is closed. [LIFE-23] */
  | { readonly kind: 'deleted'; readonly room: number }
  /**
   * Another node owns the document. No more edits of this room are stored, and its home forgets it. The room is opened at the owner, and
   * all connections stay joined. [LIFE-26]
   */
  | { readonly kind: 'fenced'; readonly room: number }
  | { readonly kind: 'done'; readonly job: number; readonly outcome: TaskOutcome }
  /** The answer to `drain`. Every room is materialised and compacted, or this has failed. [LIFE-28] */
  | { readonly kind: 'drained' }
  /**
   * A home sends this report twice a second while it has rooms, and once more after its last room has closed. A home without rooms sends one
   * after it gets messages. `counters` are running totals since the worker started. `appendSeconds` are the appends since the last report.
   */
  | {
      readonly kind: 'report'
      readonly rooms: number
      readonly cacheBytes: number
      /** Two values per room: its number and its bytes. */
      readonly roomBytes: Float64Array
      readonly oldestUnsavedMs: number
      readonly counters: Readonly<Record<string, number>>
      readonly appendSeconds: readonly number[]
    }

export type TaskOutcome =
  /** `epoch` is the epoch of the tenure in which another node has settled the document. [LIFE-11] */
  | { readonly kind: 'settled'; readonly version: number; readonly epoch?: number }
  | { readonly kind: 'put'; readonly outcome: PutOutcome }
  | { readonly kind: 'edit'; readonly outcome: EditOutcome }
  /** The caller gave up before the commit, so nothing was written. [MCP-15] */
  | { readonly kind: 'given-up' }
  /** `update` is one Yjs v1 update of the whole state, and `version` the stored version of this state. */
  | { readonly kind: 'encoded'; readonly version: number; readonly update: Uint8Array }
  | { readonly kind: 'evicted' }
  | { readonly kind: 'busy' }
  /** Nothing was done, because the task may take longer than the home of the room allows. The room has to move first. [C8] */
  | { readonly kind: 'elsewhere' }
  /** Nothing was done, because another node owns the document. [LIFE-26] */
  | { readonly kind: 'moved' }
  | { readonly kind: 'missed'; readonly throughSeq: number; readonly updates: readonly Uint8Array[] }
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'failed'
      readonly code: Extract<ErrorCode, 'UNAVAILABLE' | 'NOT_PERSISTED' | 'INTERNAL'>
      readonly message: string
      readonly details?: RelayError['details']
    }
