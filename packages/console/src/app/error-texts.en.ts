import type { RelayErrorCode } from '@docrelay/client'

/** An error in words: what happened, and what the person can do about it. */
export interface ErrorWords {
  readonly what: string
  readonly help: string
}

const ASK_OPERATOR = 'If it happens again, tell whoever runs this relay.'
const SIGN_IN = 'Sign in again.'
const ASK_OWNER = 'Ask the owner of the document for more rights.'
const WAIT = 'Wait a moment and try again.'
const FREE_SPACE = 'Delete documents or files that nobody needs, or ask whoever runs this relay for more space.'
const COPY = 'Copy what you need, then open the document anew.'
const RETRIES = 'The page tries again by itself.'

const BUG = { what: 'The relay did not accept the request of this page.', help: `Reload the page. ${ASK_OPERATOR}` }
const TOKEN = { what: 'Your sign-in is no longer valid.', help: SIGN_IN }
const NO_INGEST = {
  what: 'The relay may not fetch files from that address.',
  help: 'Download the file yourself and upload it here.',
}

/** The text for every code of the relay and of its client. */
export const ERROR_TEXTS = {
  BAD_REQUEST: BUG,
  BAD_JSON: BUG,
  BAD_BODY: BUG,
  BAD_ID: { what: 'This address names no document, file or link.', help: 'Check the address.' },
  ID_MISMATCH: BUG,
  BAD_COLLECTIONS: {
    what: 'The collections could not be saved.',
    help: 'Check the names: 1 to 120 characters, at most 200 collections.',
  },
  BAD_URL: { what: 'That is no address of a file.', help: 'Use an address that begins with https://.' },
  HASH_MISMATCH: { what: 'The file changed on its way.', help: 'Try again.' },
  TOKEN_MALFORMED: TOKEN,
  UNAUTHENTICATED: { what: 'You are not signed in.', help: SIGN_IN },
  TOKEN_INVALID: TOKEN,
  TOKEN_REVOKED: { what: 'Your sign-in was ended by an administrator or in another place.', help: SIGN_IN },
  JWKS_UNAVAILABLE: { what: 'The relay cannot check your sign-in at the moment.', help: WAIT },
  FORBIDDEN: { what: 'Your sign-in is not for this workspace.', help: 'Sign in with an account of this workspace.' },
  FORBIDDEN_PLAIN: { what: 'Your sign-in is not for this workspace.', help: 'Sign in with an account of this workspace.' },
  VIEW_FORBIDDEN: { what: 'You may not read this document.', help: 'Ask its owner to share it with you.' },
  EDIT_FORBIDDEN: { what: 'You may read this document, but not change it.', help: ASK_OWNER },
  OWNER_REQUIRED: {
    what: 'Only an owner of the document may do this.',
    help: 'Ask the owner to do it, or to make you an owner.',
  },
  INGEST_DISABLED: NO_INGEST,
  URL_NOT_ALLOWED: NO_INGEST,
  NOT_FOUND: { what: 'That is not there any more, or never was.', help: 'Go back to the list of documents.' },
  OBJECT_NOT_UPLOADED: { what: 'The file did not arrive.', help: 'Upload it again.' },
  METHOD_NOT_ALLOWED: BUG,
  VERSION_CONFLICT: { what: 'Somebody changed this in the meantime.', help: 'Look at the newest state and try again.' },
  NEEDS_REPAIR: {
    what: 'A part of this document is damaged on the relay, so it takes no changes.',
    help: 'An owner can restore a recovery point; whoever runs this relay can repair the document.',
  },
  NOT_UNDOABLE: {
    what: 'This call cannot be undone.',
    help: 'Restore a recovery point from before it, or change the text by hand.',
  },
  PRESIGN_UNSUPPORTED: BUG,
  TOMBSTONED: { what: 'This document was deleted.', help: 'Its former owner can make it anew.' },
  PRECONDITION_FAILED: { what: 'Somebody changed this in the meantime.', help: 'Look at the newest state and try again.' },
  DOC_TOO_LARGE: { what: 'The document would become larger than it may be.', help: 'Move a part of it into another document.' },
  BLOB_TOO_LARGE: { what: 'The file is larger than this relay takes.', help: 'Make the file smaller.' },
  BODY_TOO_LARGE: { what: 'This was too much at once.', help: 'Do it in smaller parts.' },
  UNSUPPORTED_MEDIA_TYPE: BUG,
  RANGE_NOT_SATISFIABLE: BUG,
  POINT_UNREADABLE: { what: 'This recovery point is damaged and cannot be read.', help: 'Take another recovery point.' },
  PROTOCOL_VERSION_MISMATCH: { what: 'This page and the relay do not fit each other.', help: 'Reload the page.' },
  TOO_MANY_UPLOADS: { what: 'Too many files are being uploaded at the moment.', help: WAIT },
  RATE_LIMITED: { what: 'That was too much in a short time.', help: WAIT },
  HEADERS_TOO_LARGE: BUG,
  INTERNAL: { what: 'Something failed inside the relay.', help: `Try again. ${ASK_OPERATOR}` },
  FETCH_FAILED: {
    what: 'The relay could not fetch that file.',
    help: 'Check the address, or download the file and upload it here.',
  },
  BLOB_STORE_ERROR: { what: 'The store of the files does not answer.', help: WAIT },
  UNAVAILABLE: { what: 'The relay cannot answer at the moment.', help: WAIT },
  NOT_PERSISTED: {
    what: 'The relay could not confirm that this was saved.',
    help: 'Look whether it was done, and try again if not.',
  },
  STORAGE_QUOTA: { what: 'The workspace has no space left for this.', help: FREE_SPACE },
  CONFIG_TOO_LARGE: { what: 'The collections take more space than they may.', help: 'Remove some of them.' },
  ERR_UNKNOWN_DOC: { what: 'There is no such document.', help: 'Check the address, or go back to the list of documents.' },
  ERR_DELETED: { what: 'This document was deleted.', help: 'Go back to the list of documents.' },
  ERR_RATE_LIMIT: { what: 'You are writing faster than the relay takes it.', help: RETRIES },
  ERR_MESSAGE_TOO_LARGE: { what: 'This change is too large for one step.', help: 'Undo it and paste it in smaller parts.' },
  ERR_VIEW_FORBIDDEN: { what: 'You may not read this document any more.', help: 'Ask its owner to share it with you.' },
  ERR_EDIT_FORBIDDEN: { what: 'You may read this document, but not change it.', help: ASK_OWNER },
  ERR_NOT_AUTHENTICATED: { what: 'The connection is not signed in.', help: RETRIES },
  ERR_BAD_FRAME: BUG,
  ERR_BAD_UPDATE: { what: 'The relay cannot take a change that was made here.', help: COPY },
  ERR_DOC_FULL: {
    what: 'This document has had as many changes as one document may have.',
    help: 'An owner can take a recovery point and restore it: the new document begins to count anew.',
  },
  ERR_SYNC_GAP: { what: 'This page missed a change.', help: 'The page loads the document again by itself.' },
  ERR_LINEAGE: {
    what: 'This document was deleted and made anew while you were away.',
    help: 'Keep your copy as a document of its own, or discard it.',
  },
  ERR_NOT_PERSISTED: { what: 'The relay could not save a change yet.', help: `${RETRIES} Keep it open.` },
  ERR_UNAVAILABLE: { what: 'The relay cannot answer at the moment.', help: RETRIES },
  NETWORK: { what: 'The relay does not answer.', help: 'Check your connection and try again.' },
  UNEXPECTED_ANSWER: {
    what: 'Something between this page and the relay gave an answer that makes no sense.',
    help: `Reload the page. ${ASK_OPERATOR}`,
  },
  TOKEN_FAILED: { what: 'Your sign-in could not be renewed.', help: 'Check your connection, or sign in again.' },
  NEEDS_SIGN_IN: { what: 'You are signed out.', help: SIGN_IN },
  NO_WEBSOCKET: { what: 'This browser cannot keep a connection to the relay.', help: 'Use another browser.' },
  ERR_WORKSPACE_CONNECTION_LIMIT: {
    what: 'The workspace has as many open connections as it may have.',
    help: `Close documents that you do not need. ${RETRIES}`,
  },
  ERR_EDITOR_LIMIT: {
    what: 'As many people edit in this workspace as may edit at once.',
    help: `Somebody has to close a document first. ${RETRIES}`,
  },
  TIMEOUT: { what: 'The relay took too long.', help: 'Try again.' },
  CLOSED: { what: 'The document was closed.', help: 'Open it again.' },
} as const satisfies Record<RelayErrorCode, ErrorWords>

/** For an error without a code of the relay: a defect of the page. */
export const PAGE_FAILED: ErrorWords = { what: 'Something failed in this page.', help: `Reload the page. ${ASK_OPERATOR}` }

/** What was not found, by the `resource` of a NOT_FOUND. */
export const MISSING: Readonly<Record<string, ErrorWords>> = {
  'share-link': {
    what: 'This link opens nothing: it is wrong, its time is over, or its owner took it back.',
    help: 'Ask whoever gave it to you for a new one.',
  },
  call: { what: 'The relay keeps this call no longer.', help: 'Restore a recovery point from before it.' },
  blob: { what: 'This file is not there any more.', help: 'Ask whoever has the original to upload it again.' },
  document: ERROR_TEXTS.ERR_UNKNOWN_DOC,
}

export const errorTexts = {
  inSeconds: (seconds: number) => (seconds === 1 ? 'Try again in a second.' : `Try again in ${seconds} seconds.`),
  overQuota: (used: string, added: string, quota: string) =>
    `The workspace uses ${used} of ${quota}; ${added} more does not fit.`,
  tooLarge: (size: string, most: string) => `It has ${size}; at most ${most} are allowed.`,
}
