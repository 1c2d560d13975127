import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Loaded, loadConfig } from './load.ts'
import { problemLine } from './problem.ts'
import { printedSettings, settingsJson } from './render.ts'

const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks' }

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'relay-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const [now, next] = ['first-secret-'.padEnd(32, 'x'), 'second-secret-'.padEnd(32, 'y')]

function load(env: Record<string, string>): Loaded {
  return loadConfig({ options: {}, env: { ...AUTH, ...env }, configPath: undefined, cwd })
}

it.each([
  ['one text', { RELAY_CLUSTER_SECRET: now }, '', [now]],
  ['two texts in the variable', { RELAY_CLUSTER_SECRET: `${now},${next}` }, '', [now, next]],
  ['two texts in the file that the variable names', { RELAY_CLUSTER_SECRET_FILE: 'secret' }, '', [now, next]],
  ['a list in relay.toml', {}, `[cluster]\nsecret = ["${now}", "${next}"]\n`, [now, next]],
  ['one text with a comma in relay.toml', {}, `[cluster]\nsecret = "${now},${next}"\n`, [now, next]],
] as const)('[CFG-4] [CFG-10] the secret of the cluster can be %s, and is never shown', (_, env, file, secrets) => {
  writeFileSync(join(cwd, 'secret'), `${now},${next}\n`, { mode: 0o600 })
  writeFileSync(join(cwd, 'relay.toml'), file, { mode: 0o600 })
  const loaded = load(env)
  if (loaded.kind === 'refused') throw new Error(loaded.problems.map(problemLine).join('\n'))
  expect(loaded.config.cluster.secret).toEqual(secrets)
  for (const text of [printedSettings(loaded.settings), settingsJson(loaded.settings)])
    expect(text).not.toMatch(/(first|second)-secret/)
})

const third = 'third-secret-'.padEnd(32, 'z')

it.each([
  ['a secret that is too short', 'too-short', 'item 1 has another form'],
  ['a second secret that is too short', `${now},too-short`, 'item 2 has another form'],
  ['a third secret', `${now},${next},${third}`, '3 items, more than 2'],
])('[CFG-4] [CFG-10] %s is refused with the allowed form, and no secret is shown', (_, secrets, problem) => {
  const { kind, problems } = load({ RELAY_CLUSTER_SECRET: secrets }) as Extract<Loaded, { kind: 'refused' }>
  const text = problems.map(problemLine).join('\n')
  const allowed = 'one secret, or two while it is changed, each of 32 characters or more, without a comma'
  expect([kind, text]).toEqual(['refused', expect.stringContaining(`[cluster].secret: ${problem} (got <redacted>,`)])
  expect(text).toContain(allowed)
  expect(text).not.toMatch(/(first|second|third)-secret|too-short/)
})
