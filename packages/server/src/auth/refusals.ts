import { RelayError } from '../kernel/errors.ts'
import { readBearer } from './bearer.ts'
import type { TokenRefusal } from './principal.ts'

/** Interval at which a failing fetch of the key set is repeated. [AUTH-9] */
const KEYS_RETRY_MS = 5_000

/** Returns the error with which REST and the WebSocket upgrade answer a refused token. [AUTH-2, REST-14] */
export function refusalError(reason: TokenRefusal): RelayError {
  switch (reason) {
    case 'token malformed':
      return new RelayError('TOKEN_MALFORMED', 'The bearer credential is not a JSON Web Token.')
    case 'token revoked':
      return new RelayError('TOKEN_REVOKED', 'The token has been revoked.')
    case 'jwks unavailable':
      // Clients compare the words "jwks unavailable" to tell a relay without keys from a bad token, and then keep the
      // user signed in. [K15]
      return new RelayError('JWKS_UNAVAILABLE', 'The token cannot be checked now: jwks unavailable.', {
        retryAfterMs: KEYS_RETRY_MS,
      })
    default:
      return new RelayError('TOKEN_INVALID', `The token was refused: ${reason}.`, { reason })
  }
}

/** Makes the error for a request without a bearer credential, or with more than one. [AUTH-1] */
export function unauthenticated(): RelayError {
  return new RelayError('UNAUTHENTICATED', 'A bearer credential is required in the Authorization header.')
}

/** The error of an internal route for a request without its shared secret. [AUTH-1, AUTH-17] */
export function wrongSecret(authorization: string | undefined): RelayError {
  if (readBearer(authorization) === null) return unauthenticated()
  return new RelayError('UNAUTHENTICATED', 'The bearer credential is not the one of this route.', { tokenGiven: true })
}

/**
 * Returns `WWW-Authenticate` of a 401. A request that brought a token learns that the token is the problem. [AUTH-1]
 */
export function wwwAuthenticate(tokenGiven: boolean): string {
  return tokenGiven ? 'Bearer error="invalid_token"' : 'Bearer'
}
