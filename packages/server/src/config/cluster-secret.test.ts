import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from './load.ts'
import { problemLine } from './problem.ts'
import { printedSettings, settingsJson } from './render.ts'

const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks' }

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'relay-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

interface Given {
  readonly env?: Readonly<Record<string, string>>
  readonly configPath?: string
}

const load = ({ env, configPath }: Given) => loadConfig({ options: {}, env: { ...AUTH, ...env }, configPath, cwd })
const lines = (given: Given): readonly string[] => {
  const result = load(given)
  return result.kind === 'refused' ? result.problems.map(problemLine) : []
}
const loaded = (given: Given) => {
  const result = load(given)
  if (result.kind === 'refused') throw new Error(lines(given).join('\n'))
  return result
}

it('[CFG-4] [CFG-10] the secret of nodes is one text or two, in the variable, in a list or in a file, and is never shown', () => {
  const [now, next] = ['first-secret-'.padEnd(32, 'x'), 'second-secret-'.padEnd(32, 'y')]
  writeFileSync(join(cwd, 'secret'), `${now},${next}\n`, { mode: 0o600 })
  writeFileSync(join(cwd, 'relay.toml'), `[cluster]\nsecret = ["${now}", "${next}"]\n`, { mode: 0o600 })
  const given: readonly Given[] = [
    { env: { RELAY_CLUSTER_SECRET: `${now},${next}` } },
    { env: { RELAY_CLUSTER_SECRET_FILE: 'secret' } },
    { configPath: 'relay.toml' },
  ]
  for (const request of given) {
    const { config, settings } = loaded(request)
    expect(config.cluster.secret).toEqual([now, next])
    for (const text of [printedSettings(settings), settingsJson(settings)]) expect(text).not.toMatch(/(first|second)-secret/)
  }
  expect(loaded({ env: { RELAY_CLUSTER_SECRET: now } }).config.cluster.secret).toEqual([now])
  const [problem] = lines({ env: { RELAY_CLUSTER_SECRET: `${now},too-short` } })
  expect(problem).toContain('[cluster].secret: item 2 has another form (got <redacted>, allowed a list of 32 characters or more')
  expect(problem).not.toMatch(/first-secret|too-short/)
})
