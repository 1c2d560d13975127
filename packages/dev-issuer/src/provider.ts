import { randomBytes } from 'node:crypto'
import Provider, { type Configuration, errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider'
import { issuerMemory } from './issuer-memory.ts'
import { type Person, relayClaims } from './people.ts'
import type { SigningKey } from './signing-key.ts'

export interface ProviderOptions {
  readonly issuer: string
  readonly key: SigningKey
  readonly people: ReadonlyMap<string, Person>
  /** The claim `aud` of a token that was requested without a resource. */
  readonly audience: string
  /** The one resource a client may ask for (RFC 8707), e.g. `http://localhost:9877/mcp`. */
  readonly resource: string
  /** The folder of the stored grants. */
  readonly dataDir: string
  readonly clients: readonly PublicClient[]
}

/** A public client: an application without a secret that signs people in with PKCE. */
export interface PublicClient {
  readonly clientId: string
  /** Redirect addresses on this machine. Each is accepted with any port, as RFC 8252 says. */
  readonly redirectUris: readonly string[]
}

/** The ready-made public client of the try-out; others register themselves. */
export const TRY_OUT_CLIENT_ID = 'docrelay-try-out'

const TRY_OUT_CLIENT: PublicClient = {
  clientId: TRY_OUT_CLIENT_ID,
  redirectUris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
}

/** The scope of a client that requests none. */
export const DEFAULT_SCOPE = 'docs'
const ACCESS_TOKEN_SEC = 24 * 60 * 60
const SESSION_SEC = 24 * 60 * 60

/**
 * An OAuth 2.1 and OIDC provider: authorization code with PKCE S256, RS256 access tokens as JWT with `wsp`, resource indicators, open dynamic
 * registration, discovery.
 */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, people } = options
  const provider = new Provider(issuer, {
    ...resourceFeatures(options),
    adapter: issuerMemory(options.dataDir),
    jwks: { keys: [{ ...options.key }] },
    clients: [TRY_OUT_CLIENT, ...options.clients].map(({ clientId, redirectUris }) => ({
      client_id: clientId,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [...redirectUris],
    })),
    clientBasedCORS: () => true,
    cookies: { keys: [randomBytes(32).toString('hex')] },
    // A refresh token must outlive the browser's session, because a restart forgets sessions.
    expiresWithSession: () => false,
    extraTokenClaims: (_, token) => {
      const person = 'accountId' in token ? people.get(token.accountId ?? '') : undefined
      return person && { ...relayClaims(person) }
    },
    findAccount: (_, id) => {
      const person = people.get(id)
      return person && { accountId: id, claims: () => ({ sub: id, name: person.name ?? id }) }
    },
    interactions: { policy: askOnlyWhoYouAre(), url: (_, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    loadExistingGrant: (ctx) => grantEverything(ctx, [options.resource, resourceOfAudience(options.audience)]),
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', DEFAULT_SCOPE],
    ttl: {
      AccessToken: ACCESS_TOKEN_SEC,
      Session: SESSION_SEC,
      Grant: SESSION_SEC,
      Interaction: 600,
      IdToken: 3600,
      RefreshToken: SESSION_SEC,
    },
  })
  return provider
}

function resourceFeatures({ audience, resource, key }: ProviderOptions): Pick<Configuration, 'features'> {
  const audienceResource = resourceOfAudience(audience)
  return {
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audienceResource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, indicator) => {
          if (indicator !== resource && indicator !== audienceResource) throw new errors.InvalidTarget()
          return {
            scope: DEFAULT_SCOPE,
            audience: indicator === resource ? resource : audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: ACCESS_TOKEN_SEC,
            jwt: { sign: { alg: 'RS256', kid: key.kid } },
          }
        },
      },
    },
  }
}

/** Returns a resource URI for the audience. A resource must be a URI, and an audience need not be one. */
function resourceOfAudience(audience: string): string {
  return `urn:audience:${encodeURIComponent(audience)}`
}

/** Returns a policy without consent, because all people here are made for the try-out. */
function askOnlyWhoYouAre(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  policy.get('consent')?.checks.clear()
  return policy
}

async function grantEverything(
  ctx: KoaContextWithOIDC,
  resources: readonly string[],
): Promise<InstanceType<Provider['Grant']> | undefined> {
  const { client, session, provider } = ctx.oidc
  if (!client || !session?.accountId) return undefined
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope('openid offline_access')
  for (const resource of resources) grant.addResourceScope(resource, DEFAULT_SCOPE)
  await grant.save()
  return grant
}
