// Authorization code with PKCE. Loaded only when a token is needed, because the library is not small.
import * as oauth from 'oauth4webapi'
import { type ConsoleConfig, isLoopback } from './config.ts'

export interface GrantedTokens {
  readonly accessToken: string
  /** `null` when the issuer gives none; then the person signs in again when the access token expires. */
  readonly refreshToken: string | null
  readonly expiresInSec: number | null
  /** Used for the person's name when the access token has none. */
  readonly idToken: string | null
}

/** What the page must remember between leaving for the issuer and coming back. */
export interface PendingSignIn {
  readonly state: string
  readonly verifier: string
  readonly nonce: string
}

/** Thrown when the issuer requires the person to sign in again. */
export class GrantEnded extends Error {}

/** Returns the address at which the person signs in. */
export async function signInAddress(
  config: ConsoleConfig,
  { redirectUri, loginHint }: { readonly redirectUri: string; readonly loginHint: string | null },
): Promise<{ readonly address: string; readonly pending: PendingSignIn }> {
  const server = await discovered(config)
  const pending = {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    nonce: oauth.generateRandomNonce(),
  }
  const address = new URL(server.authorization_endpoint ?? '')
  const parameters: Record<string, string> = {
    client_id: config.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: config.scope,
    state: pending.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    ...(isOpenId(config) && { nonce: pending.nonce }),
    ...(loginHint !== null && { login_hint: loginHint }),
    ...config.authorizeParams,
  }
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  return { address: address.href, pending }
}

/** Exchanges the answer of the issuer, which is the query of `returned`, for tokens. */
export async function redeemCode(
  config: ConsoleConfig,
  { returned, redirectUri, pending }: { readonly returned: URL; readonly redirectUri: string; readonly pending: PendingSignIn },
): Promise<GrantedTokens> {
  const server = await discovered(config)
  const client = { client_id: config.clientId }
  const callback = oauth.validateAuthResponse(server, client, returned, pending.state)
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    callback,
    redirectUri,
    pending.verifier,
    requestsTo(config.issuer),
  )
  const expected = isOpenId(config) ? { expectedNonce: pending.nonce, requireIdToken: true } : {}
  return tokensOf(await oauth.processAuthorizationCodeResponse(server, client, answer, expected))
}

/** Returns new tokens. Throws `GrantEnded` when only the person can help. */
export async function renewTokens(config: ConsoleConfig, refreshToken: string): Promise<GrantedTokens> {
  const server = await discovered(config)
  const client = { client_id: config.clientId }
  const answer = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, requestsTo(config.issuer))
  try {
    return tokensOf(await oauth.processRefreshTokenResponse(server, client, answer))
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') throw new GrantEnded(error.message)
    throw error
  }
}

/** Revokes a refresh token at the issuer, if the issuer supports revocation. */
export async function revokeToken(config: ConsoleConfig, refreshToken: string): Promise<void> {
  const server = await discovered(config)
  if (server.revocation_endpoint === undefined) return
  await oauth.revocationRequest(server, { client_id: config.clientId }, oauth.None(), refreshToken, requestsTo(config.issuer))
}

/** Loads the metadata of the issuer: by OpenID Connect, else by OAuth (RFC 8414). */
async function discovered({ issuer }: ConsoleConfig): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  const options = requestsTo(issuer)
  const oidc = await oauth.discoveryRequest(url, { ...options, algorithm: 'oidc' })
  if (oidc.ok) return oauth.processDiscoveryResponse(url, oidc)
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { ...options, algorithm: 'oauth2' }))
}

function requestsTo(issuer: string): { readonly [oauth.allowInsecureRequests]: boolean } {
  return { [oauth.allowInsecureRequests]: isLoopback(issuer) }
}

function isOpenId({ scope }: ConsoleConfig): boolean {
  return scope.split(' ').includes('openid')
}

function tokensOf(answer: oauth.TokenEndpointResponse): GrantedTokens {
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? null,
    expiresInSec: answer.expires_in ?? null,
    idToken: answer.id_token ?? null,
  }
}
