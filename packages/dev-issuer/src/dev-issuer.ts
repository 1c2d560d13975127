import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { importJWK, SignJWT } from 'jose'
import { type Person, relayClaims, type WorkspaceMembership } from './people.ts'
import { createProvider, type PublicClient } from './provider.ts'
import { signIn } from './sign-in.ts'
import { openSigningKey } from './signing-key.ts'

export interface DevIssuerOptions {
  /** 0 picks a free port. The issuer listens on 127.0.0.1 only. */
  readonly port: number
  /** The folder for the signing key and the grants, so that tokens and sign-ins survive a restart on the same port. */
  readonly dataDir: string
  readonly people: readonly Person[]
  /** `aud` of minted tokens, and of tokens requested without a resource. */
  readonly audience: string
  /** The resource that a client may request; its tokens have it as `aud`. */
  readonly resource: string
  /** Known clients besides the ready-made one. Other clients register themselves. */
  readonly clients?: readonly PublicClient[]
}

export interface MintOptions {
  readonly lifetimeSec?: number
  /** The claim `wsp` in place of the person's memberships. */
  readonly wsp?: readonly WorkspaceMembership[]
  /** Further claims. */
  readonly claims?: Readonly<Record<string, unknown>>
}

export interface DevIssuer extends AsyncDisposable {
  /** The issuer, and `iss` of every token. */
  readonly url: string
  readonly jwksUrl: string
  /** Mints an access token for a person, without a browser. @throws when there is no such person. */
  mint(personId: string, options?: MintOptions): Promise<string>
  close(): Promise<void>
}

const DEFAULT_TOKEN_SEC = 24 * 60 * 60

/** Starts an OIDC issuer for try-outs and tests. It gives anyone any identity, so never run it where others can reach it. */
export async function startDevIssuer(options: DevIssuerOptions): Promise<DevIssuer> {
  const people = new Map(options.people.map((person) => [person.id, person]))
  const key = await openSigningKey(options.dataDir)
  // The provider needs its own address, so the server takes its port first.
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.writeHead(503).end()
  const server = createServer((request, response) => handle(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `http://${host}`

  const { audience, resource, dataDir, clients = [] } = options
  const provider = createProvider({ issuer: url, key, people, audience, resource, dataDir, clients })
  provider.use(signIn(provider, people))
  const serve = provider.callback()
  handle = (request, response) => {
    // Refuses a page of another site that resolves its own host name to loopback (DNS rebinding).
    if (request.headers.host === host) void serve(request, response)
    else response.writeHead(421).end()
  }

  const mint = async (personId: string, { lifetimeSec = DEFAULT_TOKEN_SEC, wsp, claims }: MintOptions = {}): Promise<string> => {
    const person = people.get(personId)
    if (!person) throw new Error(`no person ${personId}; there are ${[...people.keys()].join(', ')}`)
    return new SignJWT({ ...relayClaims(person), ...(wsp ? { wsp } : {}), ...claims })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: key.kid })
      .setIssuer(url)
      .setAudience(options.audience)
      .setSubject(person.id)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime(`${lifetimeSec} seconds`)
      .sign(await importJWK(key, 'RS256'))
  }
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { url, jwksUrl: `${url}/jwks`, mint, close, [Symbol.asyncDispose]: close }
}
