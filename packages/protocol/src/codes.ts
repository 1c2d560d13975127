/** The codes of ERROR frames, and for each code whether the member `error` is the bare code or `CODE: text`. [WS-59] */
export const ERROR_CODES = {
  ERR_UNKNOWN_DOC: 'bare',
  ERR_DELETED: 'bare',
  ERR_RATE_LIMIT: 'bare',
  ERR_MESSAGE_TOO_LARGE: 'bare',
  ERR_VIEW_FORBIDDEN: 'text',
  ERR_EDIT_FORBIDDEN: 'text',
  ERR_NOT_AUTHENTICATED: 'text',
  ERR_BAD_FRAME: 'text',
  ERR_BAD_UPDATE: 'text',
  ERR_DOC_FULL: 'text',
  ERR_SYNC_GAP: 'text',
  ERR_LINEAGE: 'text',
  ERR_NOT_PERSISTED: 'text',
  ERR_UNAVAILABLE: 'text',
} as const

export type WireErrorCode = keyof typeof ERROR_CODES

/** Returns the member `error` of an ERROR frame: the bare code, or the code, a colon and one English sentence. */
export function wireErrorText(code: WireErrorCode, text: string): string {
  return ERROR_CODES[code] === 'bare' ? code : `${code}: ${text}`
}

/**
 * Close codes and the words with which their reasons start. 44xx: do not retry without a change; 1xxx: retry. [WS-57,
 * WS-58]
 */
export const CLOSE_CODES = {
  4401: ['token-expired', 'token-revoked', 'token-invalid'],
  4403: ['forbidden'],
  4408: ['auth-timeout'],
  4409: ['connection-limit', 'editor-limit'],
  1003: ['protocol'],
  1009: ['frame-too-large', 'chunk-expired'],
  1012: ['restarting', 'room-reset', 'unavailable', 'keys'],
  1013: ['slow-consumer', 'busy'],
} as const

export type CloseCode = keyof typeof CLOSE_CODES
export type CloseWord = (typeof CLOSE_CODES)[CloseCode][number]

/** Close codes that only clients send: after a heartbeat without answer, and before a reconnect by choice. [WS-58] */
export const CLIENT_CLOSE = { heartbeatTimeout: 4000, reconnect: 4001 } as const

/** Returns a close reason: `<word>` or `<word>;retry-after=<ms>`. [WS-57] */
export function closeReason(word: CloseWord, retryAfterMs?: number): string {
  return retryAfterMs === undefined ? word : `${word};retry-after=${retryAfterMs}`
}

/** Returns the retry-after of a close reason in milliseconds, or `null` when the reason has none. */
export function retryAfterMs(reason: string): number | null {
  const match = /;retry-after=([0-9]{1,9})$/.exec(reason)
  return match ? Number(match[1]) : null
}
