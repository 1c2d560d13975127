import type { LiveDocument, RelayError } from '@docrelay/client'
import type { ErrorWords } from '../app/error-texts.en.ts'
import { wordsOf } from '../app/error-words.ts'

/** The progress of opening a document. */
export type Opening =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly words: ErrorWords; readonly isFinal: boolean }

/** Calls `tell` with each step of the opening, until the returned function is called. */
export function watchOpening(live: LiveDocument, tell: (opening: Opening) => void): () => void {
  let ends = (): void => {}
  let isOver = false
  // `ready` settles only once. After a rejection the document may still open, at another try or when the person has signed in again.
  const later = (): void => {
    const { link, error } = live.state
    if (link === 'live') {
      ends()
      tell({ kind: 'open' })
    } else tell(link === 'stopped' && error !== null ? failure(error) : { kind: 'opening' })
  }
  tell({ kind: 'opening' })
  live.ready.then(
    () => !isOver && tell({ kind: 'open' }),
    (error: Partial<RelayError>) => {
      if (isOver || error.code === 'CLOSED') return
      ends = live.on('state', later)
      later()
    },
  )
  return () => {
    isOver = true
    ends()
  }
}

function failure(error: RelayError): Opening {
  if (error.code === 'ERR_UNKNOWN_DOC') return { kind: 'missing' }
  return { kind: 'failed', words: wordsOf(error), isFinal: error.retry === 'never' }
}
