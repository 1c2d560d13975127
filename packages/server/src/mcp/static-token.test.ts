import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemRandom } from '../kernel/ids.ts'
import { silentLogger } from '../kernel/log.ts'
import { openStaticToken } from './static-token.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcp-token-'))
})
afterEach(() => rm(folder, { recursive: true }))

const opened = (log = silentLogger) => openStaticToken(folder, systemRandom, log)
const file = () => join(folder, 'mcp_token')
const mode = async () => (await stat(file())).mode & 0o777

it('[MCP-19] the token is created once: 32 random characters, readable by the owner only, with no temporary file left', async () => {
  const token = await opened()
  expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/)
  expect((await readFile(file(), 'utf8')).trim()).toBe(token)
  expect([await mode(), await readdir(folder)]).toEqual([0o600, ['mcp_token']])
  expect(await opened()).toBe(token)
})

it('[MCP-19] two simultaneous starts use the same token', async () => {
  const [one, other] = await Promise.all([opened(), opened()])
  expect(one).toBe(other)
})

it.each(['operator-set-one', 'x'.repeat(128), 'with-line-break_00\n'])(
  '[MCP-19] an operator may set the token %j',
  async (value) => {
    await writeFile(file(), value, { mode: 0o600 })
    expect(await opened()).toBe(value.trim())
  },
)

it.each([
  '',
  'too-short-by-one',
  'x'.repeat(129),
  'has a space in the middle',
  'has=an-equals-sign',
  'two-lines-of-token\ntwo-lines-of-token',
])('[MCP-19] the token %j is refused with the name of its file and without its content', async (value) => {
  const held = value.slice(0, value === 'too-short-by-one' ? 15 : undefined)
  await writeFile(file(), held, { mode: 0o600 })
  const error: Error = await opened().then(
    () => expect.unreachable('it was taken'),
    (thrown) => thrown,
  )
  expect(error.message).toContain(file())
  if (held !== '') expect(error.message).not.toContain(held)
  expect(await readFile(file(), 'utf8')).toBe(held)
})

it('[MCP-19] a token file that other users can read is made private, with a warning', async () => {
  await writeFile(file(), 'operator-set-token')
  await chmod(file(), 0o644)
  const told: string[] = []
  expect(await opened({ ...silentLogger, warn: (event) => void told.push(event) })).toBe('operator-set-token')
  expect([await mode(), told]).toEqual([0o600, ['mcp.token_mode']])
})
