import { SYNC, TAG } from '@docrelay/protocol/frames'
import type { CloseCode, CloseWord } from '@docrelay/protocol/codes'
import { type Access, decideLevel, type Level } from '../../access/access.ts'
import { isDocumentId } from '../../documents/document-id.ts'
import type { DocumentHead, DocumentState } from '../../documents/document-store.port.ts'
import type { OwnBucket } from './connection.ts'
import { sharingOf } from './room-table.ts'

/** Frames or bytes that wait on one connection before reading stops. [WS-12] */
export const QUEUE_FRAMES = 64
export const QUEUE_PAYLOADS = 4
/** Violations within this time that end a connection. [WS-56] */
const VIOLATION_WINDOW_MS = 60_000
const VIOLATIONS_MAX = 3
/** [WS-24] */
export const JOIN_BUCKET = { ratePerSec: 5, burst: 20 } as const
const CHUNK_HEADER_BYTES = 25

export type FrameKind = 'sync' | 'awareness' | 'auth' | 'join' | 'chunk' | 'heartbeat' | 'violation' | 'ignored'

/** What a message is by its first byte. [WS-8] */
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
      return 'violation'
    default:
      return 'ignored'
  }
}

/** Whether a message is above the payload cap; the header of a chunk does not count. [WS-13] */
export function isTooLarge(data: Uint8Array, maxPayloadBytes: number): boolean {
  return data.length - (data[0] === TAG.syncChunk ? CHUNK_HEADER_BYTES : 0) > maxPayloadBytes
}

/** The violations of the last minute with this one; `close` when they are too many. [WS-56] */
export function noteViolation(
  earlier: readonly number[] | null,
  nowMs: number,
): { readonly times: number[]; readonly close: boolean } {
  const times = (earlier ?? []).filter((atMs) => nowMs - atMs < VIOLATION_WINDOW_MS)
  times.push(nowMs)
  return { times, close: times.length >= VIOLATIONS_MAX }
}

/** Takes a token of a bucket that belongs to one connection. `ratePerSec` null is unlimited. */
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

/** AUTH as a string or an object; `null` is neither. Unknown features are ignored. [WS-9, WS-38] */
export function parseAuth(json: unknown): { readonly token: string; readonly objectForm: boolean; readonly ack: boolean } | null {
  if (typeof json === 'string') return { token: json, objectForm: false, ack: false }
  if (typeof json !== 'object' || json === null || !('token' in json) || typeof json.token !== 'string') return null
  const features = 'features' in json ? json.features : undefined
  if (features !== undefined && !Array.isArray(features)) return null
  return { token: json.token, objectForm: true, ack: features?.includes('ack') ?? false }
}

/** The `docId` of a JOIN_DOC, or `null` when it is not one. */
export function parseJoin(json: unknown): string | null {
  if (typeof json !== 'object' || json === null || !('docId' in json) || typeof json.docId !== 'string') return null
  return json.docId
}

export type JoinDecision =
  | { readonly kind: 'admit'; readonly head: DocumentHead; readonly level: Exclude<Level, 'none'> }
  | { readonly kind: 'refuse'; readonly code: 'ERR_UNKNOWN_DOC' | 'ERR_DELETED' | 'ERR_VIEW_FORBIDDEN' }

/** Decides a JOIN_DOC from a completed look-up, in the rule's order. [WS-21] */
export function decideJoin(state: DocumentState, access: Access, enforcePrivateDocs: boolean): JoinDecision {
  if (state.kind === 'tombstone') return { kind: 'refuse', code: 'ERR_DELETED' }
  if (state.kind === 'absent') return { kind: 'refuse', code: 'ERR_UNKNOWN_DOC' }
  const level = decideLevel(access, sharingOf(state.head), enforcePrivateDocs)
  return level === 'none' ? { kind: 'refuse', code: 'ERR_VIEW_FORBIDDEN' } : { kind: 'admit', head: state.head, level }
}

/** Whether an id can name a document at all; one that cannot is unknown, like any other. [WS-21] */
export const canNameDocument = isDocumentId

/** What a SYNC message bears by its sub-type; longer spellings of the three numbers are not taken. [WS-10] */
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

/** Why an AUTH failed: the `error` that is sent and how a first one is closed. [WS-60] */
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
