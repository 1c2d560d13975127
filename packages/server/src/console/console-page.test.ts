import { describe, expect, it } from 'vitest'
import { type ConsoleFacts, consoleConfig, consoleHeaders } from './console-page.ts'

const FACTS: ConsoleFacts = {
  issuer: 'https://id.example/realms/acme',
  clientId: 'console',
  scope: 'openid',
  authorizeParams: null,
  version: '1.0.0',
  blobOrigin: null,
  connectOrigins: [],
}
const connect = (facts: Partial<ConsoleFacts>): string =>
  /connect-src ([^;]*);/.exec(consoleHeaders({ ...FACTS, ...facts })['Content-Security-Policy'] ?? '')?.[1] ?? ''

describe('where the page may send requests', () => {
  it.each([
    ['https://id.example/realms/acme', "'self' https://id.example"],
    ['http://127.0.0.1:9880', "'self' http://127.0.0.1:9880"],
    ['id.example', "'self' https://id.example"],
    ['urn:issuer', "'self'"],
    ['https://id.example;script-src', "'self'"],
  ])('[CON-5] with the issuer %s: %s', (issuer, allowed) => {
    expect(connect({ issuer })).toBe(allowed)
  })

  it('[CON-5] the policy names each origin once: the issuer, the object store, and those in the configuration', () => {
    const connectOrigins = ['https://tokens.example', 'https://id.example']
    expect(connect({ blobOrigin: 'https://objects.example', connectOrigins })).toBe(
      "'self' https://id.example https://objects.example https://tokens.example",
    )
  })
})

describe('the address of the MCP endpoint in config.json', () => {
  it.each([
    ['null when MCP is off', null, 'http://127.0.0.1:9876', null],
    ['on the main listener', { kind: 'public' }, 'https://relay.example', 'https://relay.example/mcp'],
    ['on loopback for a page of this machine', { kind: 'local', port: 9 }, 'http://localhost:9876', 'http://127.0.0.1:9/mcp'],
    ['null for a page of another machine', { kind: 'local', port: 9 }, 'https://relay.example', null],
    ['null for a name that begins like loopback', { kind: 'local', port: 9 }, 'http://localhost.example', null],
  ] as const)('[CON-6] is %s', (_, mcp, origin, url) => {
    expect(consoleConfig(FACTS, mcp, origin)).toMatchObject({ mcpUrl: url })
  })
})
