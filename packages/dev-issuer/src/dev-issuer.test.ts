import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRemoteJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DevIssuer, startDevIssuer } from './dev-issuer.ts'
import { tryOutPeople } from './people.ts'
import { TRY_OUT_CLIENT_ID } from './provider.ts'

const RESOURCE = 'http://127.0.0.1:9877/mcp'
const AUDIENCE = 'service-relay'
const CALLBACK = 'http://127.0.0.1:45678/callback'
const CONSOLE = { clientId: 'a-console', redirectUris: ['http://127.0.0.1:9876/console/'] }

let dataDir: string
let issuer: DevIssuer

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dev-issuer-'))
  issuer = await start()
})
afterAll(async () => {
  await issuer.close()
  await rm(dataDir, { recursive: true })
})

function start(port = 0): Promise<DevIssuer> {
  const people = tryOutPeople('w1')
  return startDevIssuer({ port, dataDir, people, audience: AUDIENCE, resource: RESOURCE, clients: [CONSOLE] })
}

/** Verifies a token as the relay does: signature by a published key, RS256, iss, aud, and the required claims. */
async function verify(token: string, audience: string): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(issuer.jwksUrl))
  const rules = { algorithms: ['RS256'], issuer: issuer.url, audience, requiredClaims: ['sub', 'iat', 'exp', 'jti', 'wsp'] }
  const { payload } = await jwtVerify(token, keys, rules)
  expect(decodeProtectedHeader(token)['kid']).toEqual(expect.any(String))
  return payload
}

interface Metadata {
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly registration_endpoint: string
  readonly jwks_uri: string
  readonly code_challenge_methods_supported: readonly string[]
}

async function metadata(): Promise<Metadata> {
  return (await (await fetch(`${issuer.url}/.well-known/openid-configuration`)).json()) as Metadata
}

/** A minimal browser for an authorization: it keeps cookies and follows redirects until the callback. */
class Browser {
  readonly #cookies = new Map<string, string>()

  /** @returns the callback address, or the text of the page at which the redirects ended. */
  async open(address: string): Promise<{ callback: URL } | { page: string }> {
    let url = address
    for (let hops = 0; hops < 10; hops++) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (value === '') this.#cookies.delete(name)
        else this.#cookies.set(name, value)
      }
      const location = response.headers.get('location')
      if (location === null) return { page: await response.text() }
      url = new URL(location, url).href
      if (url.startsWith(CALLBACK) || CONSOLE.redirectUris.some((each) => url.startsWith(each))) return { callback: new URL(url) }
    }
    throw new Error('too many redirects')
  }
}

interface Tokens {
  readonly access_token?: string
  readonly refresh_token?: string
  readonly error?: string
}

const verifier = randomBytes(32).toString('base64url')

function authorizationUrl(endpoint: string, query: Record<string, string>): string {
  const url = new URL(endpoint)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const always = { response_type: 'code', redirect_uri: CALLBACK, client_id: TRY_OUT_CLIENT_ID, state: 's1' }
  url.search = new URLSearchParams({ ...always, ...pkce, ...query }).toString()
  return url.href
}

async function redeem(endpoint: string, callback: URL, fields: Record<string, string>): Promise<Tokens> {
  const code = callback.searchParams.get('code') ?? ''
  const always = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CALLBACK,
    client_id: TRY_OUT_CLIENT_ID,
    code_verifier: verifier,
  }
  const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams({ ...always, ...fields }) })
  return (await response.json()) as Tokens
}

describe('authorization code with PKCE', () => {
  it('[AUTH-3] the person named by login_hint gets an RS256 token for the resource, with the wsp claim', async () => {
    const endpoints = await metadata()
    expect(endpoints.code_challenge_methods_supported).toEqual(['S256'])
    const query = { scope: 'openid docs', resource: RESOURCE, login_hint: 'ben' }
    const opened = await new Browser().open(authorizationUrl(endpoints.authorization_endpoint, query))
    if (!('callback' in opened)) throw new Error(opened.page)
    expect(opened.callback.searchParams.get('state')).toBe('s1')
    const tokens = await redeem(endpoints.token_endpoint, opened.callback, { resource: RESOURCE })
    const claims = await verify(tokens.access_token ?? '', RESOURCE)
    expect(claims).toMatchObject({ sub: 'ben', aud: RESOURCE, wsp: [{ id: 'w1', role: 'member' }] })
  })

  it('[AUTH-3] a token requested without a resource or a scope is for the configured audience', async () => {
    const endpoints = await metadata()
    const opened = await new Browser().open(authorizationUrl(endpoints.authorization_endpoint, { login_hint: 'ann' }))
    if (!('callback' in opened)) throw new Error(opened.page)
    const tokens = await redeem(endpoints.token_endpoint, opened.callback, {})
    expect(await verify(tokens.access_token ?? '', AUDIENCE)).toMatchObject({ sub: 'ann', wsp: [{ id: 'w1', role: 'owner' }] })
  })

  it('without a login_hint a page lists the people, and the chosen one is signed in', async () => {
    const endpoints = await metadata()
    const browser = new Browser()
    const opened = await browser.open(authorizationUrl(endpoints.authorization_endpoint, { scope: 'docs' }))
    if (!('page' in opened)) throw new Error('signed in as nobody')
    const links = [...opened.page.matchAll(/href="([^"]+)"/g)].map(([, href]) => href ?? '')
    expect(links.map((href) => new URL(href, issuer.url).searchParams.get('person'))).toEqual(['ann', 'ben', 'cleo'])
    const chosen = await browser.open(new URL(links[2] ?? '', issuer.url).href)
    if (!('callback' in chosen)) throw new Error(chosen.page)
    const tokens = await redeem(endpoints.token_endpoint, chosen.callback, {})
    expect(await verify(tokens.access_token ?? '', AUDIENCE)).toMatchObject({ sub: 'cleo' })
  })

  it('a second person can sign in with the same browser, also when the client asks for consent', async () => {
    const endpoints = await metadata()
    const browser = new Browser()
    for (const person of ['ann', 'ben', 'ann']) {
      const url = authorizationUrl(endpoints.authorization_endpoint, { scope: 'docs', login_hint: person, prompt: 'consent' })
      const opened = await browser.open(url)
      if (!('callback' in opened)) throw new Error(opened.page)
      const tokens = await redeem(endpoints.token_endpoint, opened.callback, {})
      expect(await verify(tokens.access_token ?? '', AUDIENCE)).toMatchObject({ sub: person })
    }
  })

  it('a wrong verifier, a used code, a plain challenge and another resource are refused', async () => {
    const endpoints = await metadata()
    const url = authorizationUrl(endpoints.authorization_endpoint, { scope: 'docs', login_hint: 'ann' })
    const wrong = await new Browser().open(url)
    if (!('callback' in wrong)) throw new Error(wrong.page)
    expect(await redeem(endpoints.token_endpoint, wrong.callback, { code_verifier: 'x'.repeat(43) })).toMatchObject({
      error: 'invalid_grant',
    })

    const twice = await new Browser().open(url)
    if (!('callback' in twice)) throw new Error(twice.page)
    expect((await redeem(endpoints.token_endpoint, twice.callback, {})).access_token).toEqual(expect.any(String))
    expect(await redeem(endpoints.token_endpoint, twice.callback, {})).toMatchObject({ error: 'invalid_grant' })

    const refused: Record<string, string>[] = [{ code_challenge_method: 'plain' }, { resource: 'https://elsewhere.example/mcp' }]
    for (const query of refused) {
      const opened = await new Browser().open(authorizationUrl(endpoints.authorization_endpoint, { login_hint: 'ann', ...query }))
      expect('callback' in opened && opened.callback.searchParams.get('error')).toMatch(/^invalid_(request|target)$/)
    }
  })

  it('a client can register itself and refresh its tokens', async () => {
    const endpoints = await metadata()
    const registered = await fetch(endpoints.registration_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'An editor',
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
    })
    const { client_id } = (await registered.json()) as { client_id: string }
    const query = { client_id, resource: RESOURCE, login_hint: 'ann' }
    const opened = await new Browser().open(authorizationUrl(endpoints.authorization_endpoint, query))
    if (!('callback' in opened)) throw new Error(opened.page)
    const tokens = await redeem(endpoints.token_endpoint, opened.callback, { client_id, resource: RESOURCE })
    const fields = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', client_id }
    const refreshed = (await (
      await fetch(endpoints.token_endpoint, { method: 'POST', body: new URLSearchParams(fields) })
    ).json()) as Tokens
    expect(await verify(refreshed.access_token ?? '', RESOURCE)).toMatchObject({ sub: 'ann' })
  })
})

describe('a client given at the start', () => {
  const given = { client_id: CONSOLE.clientId, redirect_uri: CONSOLE.redirectUris[0] ?? '' }
  const refresh = async (token: string | undefined): Promise<Tokens> => {
    const fields = { grant_type: 'refresh_token', refresh_token: token ?? '', client_id: CONSOLE.clientId }
    const { token_endpoint } = await metadata()
    return (await (await fetch(token_endpoint, { method: 'POST', body: new URLSearchParams(fields) })).json()) as Tokens
  }

  it('signs a person in at its own address without a click, and refreshes the token after a restart of the issuer', async () => {
    const endpoints = await metadata()
    const query = { ...given, scope: 'openid docs', login_hint: 'ben' }
    const opened = await new Browser().open(authorizationUrl(endpoints.authorization_endpoint, query))
    if (!('callback' in opened)) throw new Error(opened.page)
    const tokens = await redeem(endpoints.token_endpoint, opened.callback, given)
    const port = Number(new URL(issuer.url).port)
    await issuer.close()
    issuer = await start(port)
    const refreshed = await refresh(tokens.refresh_token)
    expect(await verify(refreshed.access_token ?? '', AUDIENCE)).toMatchObject({
      sub: 'ben',
      wsp: [{ id: 'w1', role: 'member' }],
    })
    expect((await refresh('a-token-of-nobody')).error).toBe('invalid_grant')
    expect((await stat(join(dataDir, 'issuer-grants.json'))).mode & 0o777).toBe(0o600)
  })

  it('a client gets no authorization code at a redirect address of another client', async () => {
    const { authorization_endpoint } = await metadata()
    for (const redirect_uri of ['http://127.0.0.1:9876/', 'https://elsewhere.example/console/', CALLBACK]) {
      const query = { ...given, redirect_uri, scope: 'openid docs', login_hint: 'ann' }
      const opened = await new Browser().open(authorizationUrl(authorization_endpoint, query))
      expect('page' in opened && opened.page).toContain('redirect_uri')
    }
  })

  it('a page of another origin may call discovery and the token endpoint', async () => {
    const origin = 'http://127.0.0.1:9876'
    const discovery = await fetch(`${issuer.url}/.well-known/openid-configuration`, { headers: { origin } })
    expect(discovery.headers.get('access-control-allow-origin')).toMatch(/^(?:\*|http:\/\/127\.0\.0\.1:9876)$/)
    const { token_endpoint } = await metadata()
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', client_id: CONSOLE.clientId })
    const answer = await fetch(token_endpoint, { method: 'POST', headers: { origin }, body })
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
  })
})

describe('tokens and keys of the issuer', () => {
  it('tokens stay valid after a restart, and only the owner can read the key file', async () => {
    const token = await issuer.mint('cleo', { lifetimeSec: 60, claims: { org_id: 'o1' } })
    const port = Number(new URL(issuer.url).port)
    await issuer.close()
    issuer = await start(port)
    expect(await verify(token, AUDIENCE)).toMatchObject({ sub: 'cleo', org_id: 'o1', wsp: [{ id: 'w1', role: 'viewer' }] })
    expect((await stat(join(dataDir, 'issuer-key.json'))).mode & 0o777).toBe(0o600)
  })

  it('a stranger gets no token, and the published key has no private member', async () => {
    await expect(issuer.mint('mallory')).rejects.toThrow('no person mallory')
    const { keys } = (await (await fetch(issuer.jwksUrl)).json()) as { keys: Record<string, unknown>[] }
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'e', 'kid', 'kty', 'n', 'use']])
  })

  it('the issuer listens on loopback and answers only to its own host name', async () => {
    const { get } = await import('node:http')
    const status = await new Promise<number | undefined>((resolve, reject) => {
      get(`${issuer.url}/jwks`, { headers: { host: 'rebound.example' } }, (response) => resolve(response.resume().statusCode)).on(
        'error',
        reject,
      )
    })
    expect(status).toBe(421)
    expect(new URL(issuer.url).hostname).toBe('127.0.0.1')
  })
})
