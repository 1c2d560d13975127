import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type OAuthDiscoveryState, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, it } from 'vitest'
import { startDevIssuer } from '../../../../dev-issuer/src/dev-issuer.ts'
import { tryOutPeople } from '../../../../dev-issuer/src/people.ts'
import { startRelayUnderTest } from '../relay-under-test.ts'

const CALLBACK = 'http://127.0.0.1:45678/callback'

/** What an official client stores for its user: the registration, the tokens, and the address at which the user signs in. */
function keeper() {
  const kept = {
    client: undefined as unknown,
    tokens: undefined as unknown,
    found: undefined as OAuthDiscoveryState | undefined,
    verifier: '',
    address: null as URL | null,
  }
  const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: 'story', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client as { client_id: string } | undefined,
    saveClientInformation: (client: unknown) => void (kept.client = client),
    tokens: () => kept.tokens as { access_token: string; token_type: string } | undefined,
    saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
    redirectToAuthorization: (address: URL) => void (kept.address = address),
    saveDiscoveryState: (found: OAuthDiscoveryState) => void (kept.found = found),
    discoveryState: () => kept.found,
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
  }
  return { kept, provider }
}

/** Returns the query with which the issuer redirects to the client after `person` signed in. */
async function signedIn(address: URL | null, person: string): Promise<URLSearchParams> {
  if (address === null) throw new Error('nobody was sent to sign in')
  address.searchParams.set('login_hint', person)
  const cookies = new Map<string, string>()
  for (let url = address.href, hops = 0; hops < 10; hops++) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    url = new URL(answer.headers.get('location') ?? '', url).href
    if (url.startsWith(CALLBACK)) return new URL(url).searchParams
  }
  throw new Error('too many redirects')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

it.each(['local', 'public'] as const)(
  '[MCP-21] [MCP-23] [MCP-24] [MCP-57] official clients sign a person in with only the endpoint address, %s',
  async (expose) => {
    const port = await freePort()
    const resource = `http://127.0.0.1:${port}/mcp`
    const folder = mkdtempSync(join(tmpdir(), 'docrelay-issuer-'))
    const people = tryOutPeople('default')
    const issuer = await startDevIssuer({ port: 0, dataDir: folder, people, audience: 'service-relay', resource })
    try {
      await using relay = await startRelayUnderTest({
        mcp: expose,
        env: {
          RELAY_JWT_ISSUER: issuer.url,
          RELAY_JWT_JWKS_URL: issuer.jwksUrl,
          RELAY_JWT_RESOURCE: resource,
          [expose === 'local' ? 'RELAY_MCP_PORT' : 'RELAY_PORT']: String(port),
        },
      })
      expect(relay.mcpUrl).toBe(resource)
      const url = new URL(resource)

      const { kept, provider } = keeper()
      const first = new StreamableHTTPClientTransport(url, { authProvider: provider })
      const mode = { versionNegotiation: { mode: 'auto' } } as const
      await expect(new Client({ name: 'story', version: '1' }, mode).connect(first)).rejects.toThrow(UnauthorizedError)
      expect(kept.address?.searchParams.get('code_challenge_method')).toBe('S256')
      expect(kept.address?.searchParams.get('resource')).toBe(resource)
      await first.finishAuth(await signedIn(kept.address, 'ben'))
      const client = new Client({ name: 'story', version: '1' }, mode)
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }))
      const made = await client.callTool({ name: 'service_create_document', arguments: { name: 'Signed' } })
      expect(made).toMatchObject({ isError: false, structuredContent: { name: 'Signed' } })
      await client.close()

      const older = keeper()
      const transport = new OlderTransport(url, { authProvider: older.provider })
      await expect(new OlderClient({ name: 'older', version: '1' }).connect(transport)).rejects.toThrow('Unauthorized')
      await transport.finishAuth((await signedIn(older.kept.address, 'ben')).get('code') ?? '')
      const olderClient = new OlderClient({ name: 'older', version: '1' })
      await olderClient.connect(new OlderTransport(url, { authProvider: older.provider }))
      const listed = await olderClient.callTool({ name: 'service_list_documents', arguments: { query: 'Signed' } })
      expect(listed).toMatchObject({ structuredContent: { documents: [{ name: 'Signed' }] } })
      await olderClient.close()
    } finally {
      await issuer.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
