import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startRelayUnderTest } from '../relay-under-test.ts'

/** The environment of an operator who has not set the variable. */
const env = { NODE_COMPILE_CACHE: '' }
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())

it('[OPS-12] the relay keeps compiled code in a private folder of the data directory, and starts when that code is damaged', async () => {
  await using relay = await startRelayUnderTest({ env })
  await relay.stop()
  await relay.restart()
  await relay.stop()
  const folder = join(relay.dataDir, 'compiled-code')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  const files = filesIn(folder)
  expect(files.length).toBeGreaterThan(10)

  for (const [i, file] of files.entries()) writeFileSync(join(folder, file), i % 2 === 0 ? Buffer.alloc(5_000, i) : '')
  await relay.restart()
  expect((await relay.fetch('/readyz')).status).toBe(200)
  await relay.stop()
})

it('[OPS-12] the relay starts where it cannot store compiled code', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'docrelay-compiled-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  writeFileSync(join(dataDir, 'compiled-code'), 'a file')
  await using relay = await startRelayUnderTest({ env, dataDir })
  expect((await relay.fetch('/readyz')).status).toBe(200)
})
