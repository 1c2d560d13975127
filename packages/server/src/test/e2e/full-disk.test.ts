import type { RelayError } from '@docrelay/client/errors'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { isCovered } from '../store-file.ts'

const TOTAL_MIB = 60
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error: RelayError) => `${error.status} ${error.code}`,
  )
const folder = mkdtempSync(join(tmpdir(), 'relay-full-'))
const reason = mounted()

function mounted(): string | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${TOTAL_MIB}m`, 'tmpfs', folder], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `a file system of its own cannot be mounted here: ${(error as Error).message.split('\n')[0]}`
  }
}
if (reason !== null) process.stderr.write(`skipped on a full disk: ${reason}\n`)

describe.skipIf(reason !== null)('a relay on a full disk', () => {
  let relay: RelayUnderTest
  let client: SyncClient
  const available = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  const reserve = () => statSync(join(folder, 'data', 'relay.db.reserve'), { throwIfNoEntry: false })?.size ?? 0
  const target = (TOTAL_MIB << 20) * 0.05
  const junk = join(folder, 'junk')
  const put = (id: string) => relay.rest().putDocument(id, { name: id, text: 'x'.repeat(200_000) })

  beforeAll(async () => {
    relay = await startRelayUnderTest({ dataDir: join(folder, 'data') })
    for (let i = 0; i < 12; i++) await put(`doc-${i}`)
    // Opened before the disk is full, because opening a document needs space.
    client = relay.sync('doc-1')
    await saved(client)
    await until('what the load itself wrote to be in the body', () => isCovered(relay, 'doc-1'))
    await until('the reserve', () => reserve() >= target, 20_000)
    // Fills the disk down to the last page.
    writeFileSync(junk, Buffer.alloc(Math.max(0, available() - 8192)))
    for (let i = 0; i < 20 && (await refusalOf(put(`filler-${i}`))) === 'accepted'; i++);
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    if (reason === null) execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })

  it('[LIFE-6] a full disk refuses writes and still answers reads', async () => {
    expect(await refusalOf(put('one-more'))).toMatch(/^503 /)
    expect(await relay.rest().getDocument('doc-0')).toMatchObject({ name: 'doc-0' })
  })

  it('[LIFE-31] a full disk still stores deletions, also of live documents', async () => {
    expect(client.state).toMatchObject({ synced: true, closed: null })
    await relay.rest().deleteDocument('doc-1')
    await relay.rest().deleteDocument('doc-0')
    client.destroy()
    expect(await refusalOf(relay.rest().getDocument('doc-0'))).toMatch(/^404|^410/)
  })

  it('[LIFE-31] a full disk still stores token revocations', async () => {
    const response = await fetch(`${relay.baseUrl}/api/v1/internal/revoke`, {
      method: 'POST',
      headers: { authorization: 'Bearer revocation-secret-for-tests', 'content-type': 'application/json' },
      body: JSON.stringify({ revocations: [{ jti: 'jti-that-is-revoked', revoked_at: new Date().toISOString() }] }),
    })
    expect(response.status).toBe(204)
  })

  it('[LIFE-31] deleted documents stay deleted, and the disk reserve is written again once there is space', async () => {
    await relay.kill()
    await relay.restart()
    expect(await refusalOf(relay.rest().getDocument('doc-1'))).toMatch(/^404|^410/)
    rmSync(junk)
    await put('doc-0-again')
    await until('the reserve', () => reserve() >= target, 20_000)
  })
})
