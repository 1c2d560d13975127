import { ERRORS, type RelayError } from './errors.ts'

const DEFAULT_RETRY_MS = 1000

/** Returns the members of an error body besides its text and code. A caller sees only those that the table lists. [REST-14] */
export function errorDetails(error: RelayError, requestId: string): Readonly<Record<string, unknown>> {
  const details: Record<string, unknown> = {}
  for (const name of ERRORS[error.code].details as readonly string[]) {
    if (error.details[name] !== undefined) details[name] = error.details[name]
    else if (name === 'requestId') details[name] = requestId
    else if (name === 'retryAfterMs') details[name] = DEFAULT_RETRY_MS
  }
  return details
}

/** Returns `Retry-After` of an error body with these members: whole seconds, at least 1. [REST-12] */
export function retryAfterHeader({ retryAfterMs }: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return typeof retryAfterMs === 'number' ? { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) } : {}
}
