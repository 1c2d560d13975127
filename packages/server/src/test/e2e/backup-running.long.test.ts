import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { openPostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { rowsOf } from '../backup-files.ts'
import { anyLost, describeLosses } from '../faults/losses.ts'
import { type Acknowledged, createDocuments, findLosses, generator, OPEN_LIMITS, startMixedLoad } from '../faults/mixed-load.ts'
import { relayCommand, relayCommandHere } from '../relay-command.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

const folder = mkdtempSync(join(tmpdir(), 'relay-backup-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function newFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

async function putBlob(relay: RelayUnderTest, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = hashOf(bytes)
  const response = await relay.fetch(`/api/blobs/${hash}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${relay.token()}`, 'content-type': 'image/png' },
    body: bytes,
  })
  if (response.status >= 300) throw new Error(`the blob was refused: ${response.status} ${await response.text()}`)
  return hash
}

async function blobStatus(relay: RelayUnderTest, hash: string): Promise<[number, number]> {
  const response = await relay.fetch(`/api/blobs/${hash}`, {
    headers: { authorization: `Bearer ${relay.token()}` },
  })
  return [response.status, (await response.arrayBuffer()).byteLength]
}

const stores = await storesUnderTest()

describe.each(stores)('a backup beside a relay under writes, on $name', ({ name, env, remove }) => {
  afterAll(remove)

  it('[OPS-9] [OPS-10] [OPS-11] a backup holds everything acknowledged before it began, and restores it unchanged', {
    timeout: patience(120_000),
  }, async () => {
    await using relay = await startRelayUnderTest({ env: { ...OPEN_LIMITS, ...env }, mcp: 'local' })
    await createDocuments(relay, 50)
    const blob = await putBlob(relay, someBytes(100_000))
    await relay.rest().putDocument('with-blob', { name: 'With blob', shape: { blobRef: blob } })
    writeFileSync(join(relay.dataDir, 'mcp_token'), 'secret-of-the-token-file', { mode: 0o600 })
    const load = await startMixedLoad(relay, { round: 1, random: generator(1) })
    const told = ({ marks, agents }: Acknowledged) => ({
      typed: [...marks.values()].flat().length,
      byTools: agents.flatMap(({ registers, created }) => [...registers, ...created]).length,
    })
    await until(
      'enough to be acknowledged',
      () => {
        const { typed, byTools } = told(load.acknowledged())
        return typed > 200 && byTools > 20
      },
      60_000,
    )
    const before = load.acknowledged()
    const target = join(folder, `${name}-running`)
    const done = await relayCommand(relay.dataDir, ['backup', target], env)
    expect([done.code, done.err]).toEqual([0, expect.not.stringContaining('relay:')])
    const checked = await relayCommand(relay.dataDir, ['verify', '--json'], env)
    await load.stop()
    expect(checked).toMatchObject({ code: 0, out: expect.stringMatching(/^\{"summary":/) })
    expect(told(before).typed).toBeGreaterThan(200)
    expect(relay.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([])
    await relay.kill()

    const server = name === 'PostgreSQL' ? await openPostgresUnderTest() : null
    if (typeof server === 'string') throw new Error(server)
    const newEnv = server === null ? {} : { ...env, RELAY_STORAGE_URL: server.url }
    const dataDir = newFolder(`${name}-restored`)
    const restored = await relayCommandHere(dataDir, ['restore', target], newEnv)
    expect(restored).toMatchObject({ code: 0, err: expect.not.stringContaining('relay:') })
    const token = join(dataDir, 'mcp_token')
    expect([readFileSync(token, 'utf8'), statSync(token).mode & 0o777]).toEqual(['secret-of-the-token-file', 0o600])
    const again = join(folder, `${name}-again`)
    expect((await relayCommandHere(dataDir, ['backup', again], newEnv)).code).toBe(0)
    expect(await rowsOf(again)).toEqual(await rowsOf(target))
    await using second = await startRelayUnderTest({ dataDir, env: { ...OPEN_LIMITS, ...newEnv }, mcp: 'local' })
    const losses = await findLosses(second, before)
    expect(anyLost(losses), describeLosses(losses)).toBe(false)
    expect(losses.tools.checked).toBeGreaterThan(20)
    expect(await blobStatus(second, blob)).toEqual([200, 100_000])
    await second.stop()
    expect(await relayCommandHere(dataDir, ['verify'], newEnv)).toMatchObject({ code: 0 })
    await server?.[Symbol.asyncDispose]()
  })
})
