import { createHash, timingSafeEqual } from 'node:crypto'
import { readBearer } from './bearer.ts'

/** Least length of a shared secret, in characters. [AUTH-17] */
export const MIN_SECRET_CHARACTERS = 16

export type InternalBearerOutcome = 'accepted' | 'refused' | 'not-configured'

/** Checks the `Authorization` value (or values) of a request to an internal route. */
export type InternalBearer = (authorization: string | readonly string[] | undefined) => InternalBearerOutcome

/**
 * Makes the credential check of the internal routes. With `null` the relay has no secret, and its internal routes do
 * nothing. [AUTH-17, REST-29] Both sides are hashed before they are compared, so that the duration reveals neither
 * length nor content. [V4]
 *
 * @throws when the secret is shorter than the configuration allows.
 */
export function createInternalBearer(secret: string | null): InternalBearer {
  if (secret === null) return () => 'not-configured'
  if (Array.from(secret).length < MIN_SECRET_CHARACTERS)
    throw new Error(`a shared secret has at least ${MIN_SECRET_CHARACTERS} characters`)
  const expected = sha256(secret)
  return (authorization) => {
    const given = readBearer(authorization)
    return given !== null && timingSafeEqual(sha256(given), expected) ? 'accepted' : 'refused'
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
