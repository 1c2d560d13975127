import { RelayError } from '@docrelay/client'
import { formatBytes } from './amounts.ts'
import { ERROR_TEXTS, errorTexts, type ErrorWords, MISSING, PAGE_FAILED } from './error-texts.en.ts'

/** Returns what happened and what the person can do, for the rejection of any call to the relay. */
export function wordsOf(error: unknown): ErrorWords {
  if (!(error instanceof RelayError)) return PAGE_FAILED
  const { code, details, retryAfterMs } = error
  const words = (code === 'NOT_FOUND' ? MISSING[String(details['resource'])] : undefined) ?? ERROR_TEXTS[code]
  const facts = factsOf(error)
  const what = facts === null ? words.what : `${words.what} ${facts}`
  const isToldWhen = retryAfterMs !== null && error.retry === 'later' && error.status !== null
  return { what, help: isToldWhen ? errorTexts.inSeconds(Math.max(1, Math.ceil(retryAfterMs / 1000))) : words.help }
}

/** Returns the words for an error in one line. */
export function sentenceOf(error: unknown): string {
  const { what, help } = wordsOf(error)
  return `${what} ${help}`
}

/** Returns the sizes that the relay sends beside the code, as a sentence; `null` when there are none. */
function factsOf({ code, details }: RelayError): string | null {
  const size = (name: string): string | null => {
    const value = details[name]
    return typeof value === 'number' ? formatBytes(value) : null
  }
  if (code === 'STORAGE_QUOTA') {
    const [used, added, quota] = [size('usedBytes'), size('addedBytes'), size('quotaBytes')]
    return used !== null && added !== null && quota !== null ? errorTexts.overQuota(used, added, quota) : null
  }
  if (code !== 'DOC_TOO_LARGE' && code !== 'BLOB_TOO_LARGE' && code !== 'CONFIG_TOO_LARGE') return null
  const [sent, most] = [size('sizeBytes'), size('maxBytes')]
  return sent !== null && most !== null ? errorTexts.tooLarge(sent, most) : null
}
