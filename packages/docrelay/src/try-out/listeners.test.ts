import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { listenersOf } from './listeners.ts'

const folder = mkdtempSync(join(tmpdir(), 'docrelay-listeners-'))
afterAll(() => rmSync(folder, { recursive: true }))

function configFile(text: string): string {
  const file = join(folder, 'relay.toml')
  writeFileSync(file, text)
  return file
}

it('npm start reads the place of the MCP endpoint and of the metrics from relay.toml', () => {
  const file = configFile('[mcp]\nexpose = "public"\n[metrics]\nport = 9900\n')
  expect(listenersOf(file, {})).toEqual({ mcp: 'public', metricsAreLocal: true, metricsPort: 9900, console: null })
  expect(listenersOf(configFile('[mcp]\nenabled = false\n[metrics]\nexpose = "off"\n'), {})).toMatchObject({
    mcp: 'off',
    metricsAreLocal: false,
  })
})

it('npm start prefers a variable to relay.toml', () => {
  const file = configFile('[mcp]\nexpose = "public"\n')
  expect(listenersOf(file, { RELAY_MCP_EXPOSE: 'local', RELAY_METRICS_PORT: '9901' })).toMatchObject({
    mcp: 'local',
    metricsPort: 9901,
  })
})

it('npm start leaves errors in relay.toml to the relay to report', () => {
  expect(listenersOf(configFile('[mcp]\nexpose = "everywhere"\n'), {}).mcp).toBe('local')
})

it('npm start reads path and client of the console from variables and relay.toml', () => {
  const env = { RELAY_CONSOLE_ENABLED: 'true', RELAY_CONSOLE_CLIENT_ID: 'one' }
  expect(listenersOf(configFile(''), env).console).toEqual({ path: '/console', clientId: 'one' })
  const file = configFile('[console]\nenabled = true\npath = "/write"\nclient_id = "two"\n')
  expect(listenersOf(file, {}).console).toEqual({ path: '/write', clientId: 'two' })
})
