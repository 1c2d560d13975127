import type { DocumentMetadata } from './rest.ts'
import type { WireErrorCode } from './codes.ts'

/** Byte 0 of every frame. Tags 3, 4, 5, 6, 11, 12, 13 are reserved for ever. [WS-8] */
export const TAG = {
  sync: 0,
  awareness: 1,
  auth: 2,
  docEvent: 7,
  error: 8,
  authResponse: 9,
  joinDoc: 10,
  syncChunk: 14,
  syncChunkAck: 15,
  heartbeat: 16,
  syncAck: 17,
  joined: 18,
} as const

/** Sub-types of a SYNC frame. [WS-10] */
export const SYNC = { step1: 0, step2: 1, update: 2 } as const

/** Payload bytes of the pieces that existing editor clients cut, whatever `maxMessageSize` is. [WS-35] */
export const CHUNK_PAYLOAD_BYTES = 262_144
/** The bytes before the payload of a SYNC_CHUNK: tag, message id, seq, total. [WS-13] */
export const CHUNK_HEADER_BYTES = 25

/** The object form of an AUTH frame. In the string form, the payload is the token alone. [WS-9] */
export interface AuthFrame {
  readonly token: string
  readonly features?: readonly string[]
}

export interface AuthResponseFrame {
  readonly success: boolean
  readonly userId?: string
  readonly username?: string
  readonly role?: 'owner' | 'member' | 'viewer'
  /** The configured `max_ws_payload_bytes`: the most bytes of one message. */
  readonly maxMessageSize?: number
  readonly error?: string
  readonly features?: readonly string[]
  readonly tokenExpiresAt?: number
  readonly workspaceId?: string
  readonly protocol?: string
}

export interface JoinDocFrame {
  readonly docId: string
  /** The lineage of the copy that the client has; absent when the client does not know the lineage. [WS-62] */
  readonly lineage?: string
}

/**
 * The relay sends JOINED after a JOIN_DOC when the connection has the feature `joined`. It sends JOINED again, with the first
 * two members only, whenever the level changes. [WS-61]
 */
export interface JoinedFrame {
  readonly docId: string
  readonly level: 'view' | 'edit' | 'owner'
  readonly lineage?: string
  readonly serverVersion?: number
}

export interface DocEventFrame {
  readonly eventType: 'created' | 'updated' | 'deleted'
  readonly docId: string
  readonly userId: string
  readonly metadata?: DocumentMetadata
  /** Id of the document that a restore put in the place of the deleted one. [WS-63] */
  readonly successor?: string
}

export interface ErrorFrame {
  readonly error: string
  readonly code: WireErrorCode
  readonly requestId: string | null
  /** The ordinal of a refused write-bearing message; only on connections with the feature `ack`. */
  readonly frame?: number
  /** Id of the document that a restore put in the place of a deleted one; only with ERR_DELETED. [WS-63] */
  readonly successor?: string
  /** The current lineage of the document; only with ERR_LINEAGE. [WS-62] */
  readonly lineage?: string
  /** The bound that the document exceeds, with its limit; only with ERR_DOC_FULL. [WS-68] */
  readonly bound?: 'structs' | 'clientIds'
  readonly limit?: number
}

export interface ChunkFrame {
  /** The message id, 16 bytes. */
  readonly messageId: Uint8Array
  readonly seq: number
  readonly total: number
  readonly payload: Uint8Array
}
