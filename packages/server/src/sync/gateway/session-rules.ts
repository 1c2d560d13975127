import { SYNC, TAG } from '@docrelay/protocol/frames'
import type { CloseCode, CloseWord } from '@docrelay/protocol/codes'
import { type AccessPolicy, type Access, decideLevel, type Level } from '../../access/access.ts'
import { isDocumentId } from '../../documents/document-id.ts'
import type { DocumentHead, DocumentState } from '../../documents/document-store.port.ts'
import type { OwnBucket } from './connection.ts'
import { sharingOf } from './room-table.ts'

/** The number of frames, and of payloads of maximum size, that may wait on one connection before reading stops. [WS-12] */
export const QUEUE_FRAMES = 64
export const QUEUE_PAYLOADS = 4
/** Time within which violations are counted together. [WS-56] */
const VIOLATION_WINDOW_MS = 60_000
const VIOLATIONS_MAX = 3
/** Rate limit of JOIN_DOC frames of one connection. [WS-24] */
export const JOIN_BUCKET = { ratePerSec: 5, burst: 20 } as const
const CHUNK_HEADER_BYTES = 25

export type FrameKind = 'sync' | 'awareness' | 'auth' | 'join' | 'chunk' | 'heartbeat' | 'violation' | 'ignored'

/** Returns the kind of a message, by its first byte. [WS-8] */
export function frameKind(data: Uint8Array, isBinary: boolean): FrameKind {
  if (!isBinary) return 'violation'
  switch (data[0]) {
    case TAG.sync:
      return 'sync'
    case TAG.awareness:
      return 'awareness'
    case TAG.auth:
      return 'auth'
    case TAG.joinDoc:
      return 'join'
    case TAG.syncChunk:
      return 'chunk'
    case TAG.heartbeat:
      return 'heartbeat'
    case undefined:
    case TAG.docEvent:
    case TAG.error:
    case TAG.authResponse:
    case TAG.syncChunkAck:
    case TAG.syncAck:
    case TAG.joined:
      return 'violation'
    default:
      return 'ignored'
  }
}

/** Whether a message exceeds the payload limit; the header of a chunk does not count. [WS-13] */
export function isTooLarge(data: Uint8Array, maxPayloadBytes: number): boolean {
  return data.length - (data[0] === TAG.syncChunk ? CHUNK_HEADER_BYTES : 0) > maxPayloadBytes
}

/**
 * Returns the times of the violations in the last minute, with this violation as the last one. `close` is true when there are too many.
 * [WS-56]
 */
export function noteViolation(
  earlier: readonly number[] | null,
  nowMs: number,
): { readonly times: number[]; readonly close: boolean } {
  const times = (earlier ?? []).filter((atMs) => nowMs - atMs < VIOLATION_WINDOW_MS)
  times.push(nowMs)
  return { times, close: times.length >= VIOLATIONS_MAX }
}

/** Takes a token of a bucket of one connection. `ratePerSec` null is unlimited. */
export function takeOwn(
  bucket: OwnBucket | null,
  limit: { readonly ratePerSec: number | null; readonly burst: number },
  nowMs: number,
): { readonly bucket: OwnBucket | null; readonly taken: boolean } {
  if (limit.ratePerSec === null) return { bucket, taken: true }
  const before = bucket ?? { tokens: limit.burst, atMs: nowMs }
  const tokens = Math.min(limit.burst, before.tokens + ((nowMs - before.atMs) * limit.ratePerSec) / 1000)
  return tokens < 1
    ? { bucket: { tokens, atMs: nowMs }, taken: false }
    : { bucket: { tokens: tokens - 1, atMs: nowMs }, taken: true }
}

/** The form in which a token was sent. The object form may ask for features, and its answer has more members. [WS-9, WS-38, WS-61] */
export interface AuthForm {
  readonly objectForm: boolean
  readonly ack: boolean
  readonly joined: boolean
}

/** A token alone: as a string, or in the header of the upgrade. */
export const PLAIN_FORM: AuthForm = { objectForm: false, ack: false, joined: false }

/** Reads AUTH as a string or an object; `null` when it is neither. Unknown features are ignored. [WS-9, WS-38] */
export function parseAuth(json: unknown): (AuthForm & { readonly token: string }) | null {
  if (typeof json === 'string') return { token: json, ...PLAIN_FORM }
  if (typeof json !== 'object' || json === null || !('token' in json) || typeof json.token !== 'string') return null
  const features = 'features' in json ? json.features : undefined
  if (features !== undefined && !Array.isArray(features)) return null
  const asks = (feature: string): boolean => features?.includes(feature) ?? false
  return { token: json.token, objectForm: true, ack: asks('ack'), joined: asks('joined') }
}

/** Reads a JOIN_DOC; `lineage` is null when the frame names none. Returns `null` when the frame is not a JOIN_DOC. [WS-9] */
export function parseJoin(json: unknown): { readonly docId: string; readonly lineage: string | null } | null {
  if (typeof json !== 'object' || json === null || !('docId' in json) || typeof json.docId !== 'string') return null
  const lineage = 'lineage' in json ? json.lineage : undefined
  if (lineage !== undefined && typeof lineage !== 'string') return null
  return { docId: json.docId, lineage: lineage ?? null }
}

export type JoinDecision =
  | { readonly kind: 'admit'; readonly head: DocumentHead; readonly level: Exclude<Level, 'none'> }
  | { readonly kind: 'refuse'; readonly code: 'ERR_UNKNOWN_DOC' | 'ERR_VIEW_FORBIDDEN' }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'other-lineage'; readonly present: string }

/** Decides a JOIN_DOC after a completed look-up, in the order of WS-21. `lineage` is the lineage of the client's copy. [WS-21, WS-62] */
export function decideJoin(
  state: DocumentState,
  access: Access,
  accessPolicy: AccessPolicy,
  lineage: string | null,
): JoinDecision {
  if (state.kind === 'tombstone') return { kind: 'deleted' }
  if (state.kind === 'absent') return { kind: 'refuse', code: 'ERR_UNKNOWN_DOC' }
  const level = decideLevel(access, sharingOf(state.head), accessPolicy)
  if (level === 'none') return { kind: 'refuse', code: 'ERR_VIEW_FORBIDDEN' }
  const present = state.head.lineage
  return lineage !== null && lineage !== present ? { kind: 'other-lineage', present } : { kind: 'admit', head: state.head, level }
}

/** Whether a string is a valid document id. A JOIN_DOC with an invalid id is answered as for an unknown document. [WS-21] */
export const canNameDocument = isDocumentId

/** Returns the kind of a SYNC message, by its sub-type. Numbers that are encoded longer than necessary are refused. [WS-10] */
export function syncKind(message: Uint8Array): 'step1' | 'step2' | 'update' | 'malformed' {
  switch (message[0]) {
    case SYNC.step1:
      return 'step1'
    case SYNC.step2:
      return 'step2'
    case SYNC.update:
      return 'update'
    default:
      return 'malformed'
  }
}

/** A failed AUTH: the `error` to send, and the close code when it was the first AUTH. [WS-60] */
export interface AuthFailure {
  readonly error: string
  readonly code: CloseCode
  readonly word: CloseWord
}

export const FORBIDDEN: AuthFailure = { error: 'forbidden', code: 4403, word: 'forbidden' }
export const TEMPORARILY_UNAVAILABLE: AuthFailure = { error: 'temporarily unavailable', code: 1012, word: 'unavailable' }
const CONNECTION_LIMIT: AuthFailure = { error: 'ERR_WORKSPACE_CONNECTION_LIMIT', code: 4409, word: 'connection-limit' }
const EDITOR_LIMIT: AuthFailure = { error: 'ERR_EDITOR_LIMIT', code: 4409, word: 'editor-limit' }

export function tokenFailure(reason: string): AuthFailure {
  if (reason === 'jwks unavailable') return { error: reason, code: 1012, word: 'keys' }
  const word = reason === 'token expired' ? 'token-expired' : reason === 'token revoked' ? 'token-revoked' : 'token-invalid'
  return { error: reason, code: 4401, word }
}

export function seatFailure(refused: 'connection-limit' | 'editor-limit'): AuthFailure {
  return refused === 'connection-limit' ? CONNECTION_LIMIT : EDITOR_LIMIT
}
