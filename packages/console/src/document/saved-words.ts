import type { LiveDocument } from '@docrelay/client'
import type { IconName } from '../controls/drawings.ts'
import { messages } from '../messages.en.ts'

type DocumentState = LiveDocument['state']

/** The state of a document for people: one word with its drawing, and sentences with details. */
export interface SavedWords {
  readonly word: string
  readonly icon: IconName
  readonly tone: 'good' | 'busy' | 'bad'
  /** Since when it is so, why, and what to do. */
  readonly sentences: readonly string[]
}

/**
 * Returns the words about the save state and the connection. The two are independent: a document may be saved without a connection. `isGone`: the
 * document is gone for this person, so a missing copy on the device is not mentioned.
 */
export function savedWords({ link, saved, unsavedSince, error, localCopy }: DocumentState, isGone = false): SavedWords {
  const text = messages.document
  const away = link === 'waiting' || link === 'stopped'
  const because = away || saved === 'refused' ? reasonOf(error) : null
  const copy = localCopy === 'off' && saved !== 'saved' && !isGone ? text.copyOff : null
  const since = unsavedSince === null || saved === 'saved' ? null : text.since(unsavedSince)
  const told = (...sentences: readonly (string | null)[]) => sentences.filter((sentence) => sentence !== null)
  if (saved === 'saved' && away)
    return { word: text.offline, icon: 'cloudOff', tone: 'bad', sentences: told(text.savedWhy.savedOffline, because) }
  if (saved === 'saved' && link === 'connecting')
    return { word: text.connecting, icon: 'saving', tone: 'busy', sentences: told(text.savedWhy.saved) }
  if (saved === 'saved') return { word: text.saved.saved, icon: 'cloud', tone: 'good', sentences: [text.savedWhy.saved] }
  if (saved === 'saving')
    return { word: text.saved.saving, icon: 'saving', tone: 'busy', sentences: told(text.savedWhy.saving, since) }
  const icon = saved === 'local' ? 'cloudOff' : 'warning'
  return { word: text.saved[saved], icon, tone: 'bad', sentences: told(text.savedWhy[saved], since, because, copy) }
}

/** Returns in plain words why there is no connection, or why the relay refuses an edit. */
export function reasonOf(error: DocumentState['error']): string | null {
  if (error === null) return null
  const text = messages.document.reasons
  switch (error.code) {
    case 'ERR_WORKSPACE_CONNECTION_LIMIT':
      return text.full
    case 'ERR_EDITOR_LIMIT':
      return text.editors
    case 'NEEDS_SIGN_IN':
    case 'TOKEN_INVALID':
    case 'TOKEN_REVOKED':
      return text.signIn
    case 'ERR_UNKNOWN_DOC':
      return text.unknown
    case 'ERR_RATE_LIMIT':
      return text.rate
    case 'NETWORK':
    case 'UNAVAILABLE':
    case 'TOKEN_FAILED':
      return text.network
    default:
      return text.stopped(error.message)
  }
}
