import type { DocumentRef } from '../documents/document-store.port.ts'
import type { NotedChange, Who } from '../documents/change-record.ts'
import type { EditOutcome, EditRequest, PutOutcome, PutRequest } from '../documents/residents.port.ts'
import type { DamagedPart } from '../kernel/damage.ts'
import type { ErrorCode, RelayError } from '../kernel/errors.ts'
import type { GivenUp } from '../kernel/given-up.ts'
import type { Tenure } from './ownership.port.ts'

/** What a person changed in a live document, and who it was. [AG-20] */
export interface LiveChange extends NotedChange {
  readonly who: Who
}

/** What a room goes by when a member writes. */
export interface MemberRights {
  readonly canWrite: boolean
  /** The ceiling of documents that this member writes; `null`: unlimited. [LIFE-16] */
  readonly maxDocBytes: number | null
}

/** The newest clock of each id of presence that the others in a room have seen. [WS-47] */
export type PresenceClocks = readonly (readonly [client: number, clock: number])[]

/**
 * Messages between the gateway and the home of a room, in order.
 * `room` and `connection` are integers minted by the main thread, never reused in a process. A connection is joined to one room at a time;
 * `join` counts its joins, so that what belongs to an earlier one can be told apart and dropped.
 */
export type ToWorker =
  /** Loads the document; answered by `opened`. Later messages for the room wait until then. */
  | {
      readonly kind: 'open'
      readonly room: number
      readonly ref: DocumentRef
      readonly key: number
      /** What others have already seen of presence in this document. [WS-47] */
      readonly clocks?: PresenceClocks
      /** The epoch by which this node owns the document; absent in a relay that is alone. [LIFE-26] */
      readonly epoch?: number
      /**
       * The members have the log through this sequence, and may lack what another owner stored later: they get that before all
       * other updates. [LIFE-25]
       */
      readonly since?: number
      /** The tenure in which the members got `since`; used only when another node opens the room. */
      readonly sinceTenure?: Tenure
    }
  /** The room answers with its step1 and the awareness snapshot as `direct`. [WS-23] */
  | ({
      readonly kind: 'join'
      readonly room: number
      readonly connection: number
      readonly join: number
      readonly sub: string
      /** True when the client named the lineage of its copy: its updates are not compared with those of deleted documents. [WS-62] */
      readonly knowsLineage: boolean
      /**
       * True when the room has moved here with everything that it had of this connection: the connection is not asked for its
       * edits again, and does not notice the move. [C8]
       */
      readonly resumes?: boolean
      /**
       * For a connection that was joined before the room was opened again: the ordinal of its last message. Later messages of the
       * connection wait until it has sent the step2 that it is asked for. [LIFE-6]
       */
      readonly again?: number
      /**
       * The ids of presence that the connection had introduced in the former home of the room: no other connection introduces them
       * here. A node of the previous version leaves them out. [WS-44]
       */
      readonly shows?: readonly number[]
    } & MemberRights)
  | { readonly kind: 'leave'; readonly room: number; readonly connection: number }
  /** A right or role changed; counts from the next message on. */
  | ({ readonly kind: 'rights'; readonly room: number; readonly connection: number } & MemberRights)
  /** One SYNC message, sub-type first. `ordinal` is 0 when it is not write-bearing. */
  | {
      readonly kind: 'sync'
      readonly room: number
      readonly connection: number
      readonly join: number
      readonly ordinal: number
      readonly payload: Uint8Array
    }
  | { readonly kind: 'awareness'; readonly room: number; readonly connection: number; readonly payload: Uint8Array }
  /** The presence clocks that connections of another node have seen; sent when the room opens for them. [WS-47] */
  | { readonly kind: 'clocks'; readonly room: number; readonly clocks: PresenceClocks }
  /** Send this connection a step1 now: a drop for rate or chunks has passed. [WS-29] */
  | { readonly kind: 'resync'; readonly room: number; readonly connection: number }
  /** Whether to tell who changes what begins or ends. [AG-20] */
  | { readonly kind: 'watch'; readonly room: number; readonly isOn: boolean }
  /** Answered by `done` with the same job number. */
  | { readonly kind: 'job'; readonly job: number; readonly room: number; readonly task: RoomTask }
  /** The caller of this job has given up. Only for a home on another node, with which no memory is shared. [MCP-15] */
  | { readonly kind: 'give-up'; readonly job: number }
  /** Processor time that workspaces used of other workers. [G9] */
  | { readonly kind: 'spent'; readonly workspaces: readonly (readonly [string, number])[] }
  | { readonly kind: 'drain' }

export type RoomTask =
  /** With `quietMs` edits wait for so long before they are applied. */
  | { readonly kind: 'settle'; readonly quietMs?: number }
  | { readonly kind: 'put'; readonly request: PutRequest }
  | { readonly kind: 'edit'; readonly request: EditRequest; readonly givenUp?: GivenUp }
  | { readonly kind: 'body-changed'; readonly version: number }
  /** The whole live document, for a reader who keeps no connection. [REST-31] */
  | { readonly kind: 'encode' }
  /** Takes the presence of agents away for good: the relay stops. [PRES-3] */
  | { readonly kind: 'end-agents' }
  /**
   * Materialises and closes the room at a moment when every edit is durable; `reload` follows, and the document is opened in the
   * home where it belongs by then. Refused (`busy`) while a call waits. [C8]
   */
  | {
      readonly kind: 'hand-over'
      /** The next owner stores the body, so that only the log has to be durable here. [LIFE-28] */
      readonly bodyLater?: true
    }
  /** Reads the records of the log after `since`, for members at another node that may lack them. [LIFE-25] */
  | { readonly kind: 'missed'; readonly since: number }
  /** Materialises, compacts and forgets the room; refused (`busy`) when someone joined meanwhile. [LIFE-17] */
  | { readonly kind: 'evict' }
  /** Forgets the room without materialising: the document was deleted. */
  | { readonly kind: 'drop' }

/** Why a document cannot be loaded: for now, or before the operator has mended what is stored of it. [LIFE-5] */
export type NotLoaded = 'unavailable' | `damaged-${DamagedPart}`

export type FromWorker =
  | {
      readonly kind: 'opened'
      readonly room: number
      /**
       * `elsewhere`: nothing was built, because the document exceeds what this home allows; another home is to open it. [C8]
       * `fenced`: this node does not own the document any more. [LIFE-26]
       */
      readonly outcome: 'opened' | 'gone' | 'elsewhere' | 'fenced' | NotLoaded
      /** Large or slow to load: the next time it is opened apart from small ones. [C8] */
      readonly heavy?: boolean
      /** The log lacks content, so that joiners may only read until `mended`. [LIFE-5] */
      readonly hasGap?: boolean
      /** The end of the log that was loaded; absent in a relay that is alone. */
      readonly seq?: number
      /** The tenure of the node that opened the room, when that is another node. */
      readonly tenure?: Tenure
    }
  /** The gap in the log of a room is closed; everybody joined may do what the shares say. [LIFE-5] */
  | { readonly kind: 'mended'; readonly room: number }
  /** Updates of one turn of a room, in log order; each goes to every joined connection but its sender (0: the relay itself). */
  | {
      readonly kind: 'updates'
      readonly room: number
      readonly updates: readonly Uint8Array[]
      readonly senders: readonly number[]
      /**
       * The log is durable through this sequence, and all of it is in this message or in earlier ones; absent in a relay that is
       * alone. Updates beyond it may never become durable: another owner may store other records under their sequences. [LIFE-25]
       */
      readonly durableSeq?: number
    }
  /** What people changed since the last message of this kind; comes before the answer of a job that saw it. [AG-20] */
  | { readonly kind: 'changed'; readonly room: number; readonly changes: readonly LiveChange[] }
  /** Complete frames for one connection. */
  | { readonly kind: 'direct'; readonly connection: number; readonly join: number; readonly frames: readonly Uint8Array[] }
  /** A complete AWARENESS frame for every joined connection but one (0: all). */
  | { readonly kind: 'awareness'; readonly room: number; readonly frame: Uint8Array; readonly except: number }
  /** Every write-bearing message up to `ordinal` that main handed over is durable, a proven no-op, or refused before this message. [WS-40] */
  | { readonly kind: 'settled'; readonly connection: number; readonly join: number; readonly ordinal: number }
  /** The ERROR goes out before any ack that covers `ordinal` (0: not write-bearing). */
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
      /** With ERR_DOC_FULL. [WS-68] */
      readonly full?: { readonly bound: 'structs' | 'clientIds'; readonly limit: number } | undefined
    }
  /** The message brought content of a former life of this id: the connection is unbound as from a deleted document. [WS-62] */
  | { readonly kind: 'former'; readonly connection: number; readonly join: number; readonly ordinal: number }
  /** An undecodable awareness frame: counts, no reply. */
  | { readonly kind: 'violation'; readonly connection: number }
  /** This connection is to be closed: 1003 after a watchdog or load-cost refusal, 1013 when too much of it waits. [WS-12] */
  | {
      readonly kind: 'expel'
      readonly connection: number
      readonly code: 1003 | 1013
      readonly word: 'protocol' | 'busy'
    }
  /** The document has become too slow or too large for the home in which it is. [C8] */
  | { readonly kind: 'heavy'; readonly room: number }
  /** Processor time that workspaces used of this worker since the last message of this kind, in ms. [G9] */
  | { readonly kind: 'spent'; readonly workspaces: readonly (readonly [string, number])[] }
  /**
   * The log refused a write, or its answer was lost, and the room is closed. With `clocks` the document is opened again under
   * another epoch, and the frames that connections keep are handed over again. Otherwise writers get ERR_NOT_PERSISTED, the
   * room's sockets close 1012 room-reset, and the room is forgotten. [LIFE-6, LIFE-26]
   */
  | {
      readonly kind: 'reset'
      readonly room: number
      readonly writers: readonly { readonly connection: number; readonly ordinal: number }[]
      /** Absent in a relay that is alone, and when something other than the room has changed the log. */
      readonly clocks?: PresenceClocks
    }
  /**
   * The live copy was thrown away and holds nothing that is not in the log: the document is loaded again and everybody stays
   * joined, but for the connection `without`, whose write broke it (0: no connection, since the room moves to another home). [C8,
   * C10]
   */
  | {
      readonly kind: 'reload'
      readonly room: number
      readonly without: number
      readonly clocks?: PresenceClocks
      /** Only from another node: the room moved between homes of that node, with everything that it had of its connections. */
      readonly resumes?: boolean
    }
  /** Only from another node: the document was deleted, and the room is closed. [LIFE-23] */
  | { readonly kind: 'deleted'; readonly room: number }
  /**
   * Another node owns the document: nothing more of this room is stored, and its home forgets it. The room is opened at the
   * owner, and everybody stays joined. [LIFE-26]
   */
  | { readonly kind: 'fenced'; readonly room: number }
  | { readonly kind: 'done'; readonly job: number; readonly outcome: TaskOutcome }
  /** Every room is materialised and compacted, or has failed to be; answers `drain`. [LIFE-28] */
  | { readonly kind: 'drained' }
  /**
   * Sent twice a second while the home has rooms, and once after the last one has closed. A home without rooms sends one after messages.
   * `counters` are running totals since the worker started, `appendSeconds` the appends since the report before.
   */
  | {
      readonly kind: 'report'
      readonly rooms: number
      readonly cacheBytes: number
      /** The number of each room and its bytes, in turn. */
      readonly roomBytes: Float64Array
      readonly oldestUnsavedMs: number
      readonly counters: Readonly<Record<string, number>>
      readonly appendSeconds: readonly number[]
    }

export type TaskOutcome =
  /** `epoch`: the epoch of the tenure in which another node has settled the document. [LIFE-11] */
  | { readonly kind: 'settled'; readonly version: number; readonly epoch?: number }
  | { readonly kind: 'put'; readonly outcome: PutOutcome }
  | { readonly kind: 'edit'; readonly outcome: EditOutcome }
  /** The caller gave up before the commit, so nothing was written. [MCP-15] */
  | { readonly kind: 'given-up' }
  /** One Yjs v1 update of the whole state, and the stored version of it. */
  | { readonly kind: 'encoded'; readonly version: number; readonly update: Uint8Array }
  | { readonly kind: 'evicted' }
  | { readonly kind: 'busy' }
  /** Nothing was done: the task may take longer than the home of the room allows, and the room has to move first. [C8] */
  | { readonly kind: 'elsewhere' }
  /** Nothing was done: another node owns the document. [LIFE-26] */
  | { readonly kind: 'moved' }
  | { readonly kind: 'missed'; readonly throughSeq: number; readonly updates: readonly Uint8Array[] }
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'failed'
      readonly code: Extract<ErrorCode, 'UNAVAILABLE' | 'NOT_PERSISTED' | 'INTERNAL'>
      readonly message: string
      readonly details?: RelayError['details']
    }
