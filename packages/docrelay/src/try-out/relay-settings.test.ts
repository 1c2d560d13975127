import { expect, it } from 'vitest'
import { relayEnvironment, type TryOutSettings } from './relay-settings.ts'

const port = (number: number) => ({ port: number, variable: 'ANY' })
const SETTINGS: TryOutSettings = {
  ports: { issuer: port(1), relay: port(2), mcp: port(3), metrics: port(4) },
  dataDir: '/tmp/data',
  audience: 'service-relay',
  issuer: { url: 'http://127.0.0.1:1', jwksUrl: 'http://127.0.0.1:1/jwks' },
  mcpUrl: 'http://127.0.0.1:3/mcp',
  console: { clientId: 'the-console', dir: '/built' },
}

it('a try-out enables the console and allows 200 connections', () => {
  expect(relayEnvironment({}, '', SETTINGS)).toMatchObject({
    RELAY_PORT: '2',
    RELAY_CONSOLE_ENABLED: 'true',
    RELAY_CONSOLE_CLIENT_ID: 'the-console',
    RELAY_CONSOLE_DIR: '/built',
    RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '200',
    RELAY_MCP_STATIC_TOKEN_SHARE: 'edit',
  })
})

it('a variable of the caller overrides the choice of the try-out', () => {
  const env = { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '3', RELAY_CONSOLE_DIR: '/mine' }
  expect(relayEnvironment(env, '', SETTINGS)).toMatchObject(env)
})

it('a try-out does not override the console and limits in the configuration file', () => {
  const file = '[console]\nenabled = false\n[tenancy.limits]\nmax_ws_connections_per_workspace = 9\n'
  const names = Object.keys(relayEnvironment({}, file, SETTINGS))
  expect(names.filter((name) => /CONSOLE|MAX_WS/.test(name))).toEqual([])
})
