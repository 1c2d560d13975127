import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { type FaultyStore, type Fault, startFaultyStore } from '../../drivers/s3/testing/faulty-store.ts'
import { type S3UnderTest, startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { relayCommand } from '../relay-command.ts'
import { startRelayUnderTest } from '../relay-under-test.ts'

const folder = mkdtempSync(join(tmpdir(), 'relay-commands-'))
const dataDir = join(folder, 'data')
let s3: S3UnderTest
let faulty: FaultyStore
let env: Record<string, string>

beforeAll(async () => {
  s3 = await startS3()
  faulty = await startFaultyStore(s3.url)
  const keys = {
    RELAY_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    RELAY_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
  }
  env = { RELAY_BLOBS_URL: faulty.url, ...keys }
  await using relay = await startRelayUnderTest({ env, dataDir })
  const bytes = someBytes(20_000)
  const headers = { authorization: `Bearer ${relay.token()}`, 'content-type': 'image/png' }
  const path = `/api/blobs/${hashOf(bytes)}`
  expect((await fetch(relay.baseUrl + path, { method: 'POST', headers, body: bytes })).status).toBe(204)
  await relay.stop()
})
afterAll(async () => {
  await faulty?.[Symbol.asyncDispose]()
  await s3?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Applies the fault to the next request only. */
function once(fault: Fault): void {
  const from = faulty.seen.length
  faulty.fault = ({ nth }) => (nth === from + 1 ? fault : null)
}

const PASSING = [
  { name: '503 SlowDown', fault: { kind: 'error', status: 503, code: 'SlowDown' } },
  { name: '500 InternalError', fault: { kind: 'error', status: 500, code: 'InternalError' } },
  { name: 'a reset connection', fault: { kind: 'reset' } },
] as const satisfies readonly { name: string; fault: Fault }[]

describe('[BLOB-19] a fault of the object store that passes', () => {
  it.each(PASSING)('[BLOB-19] [OPS-11] `relay verify` gives its result after $name', async ({ fault }) => {
    once(fault)
    const run = await relayCommand(dataDir, ['verify'], env)
    expect(run).toMatchObject({ code: 0, err: '' })
    expect(run.out).toContain('1 blob; found: damage 0')
  })

  it('[BLOB-19] [OPS-9] `relay backup --blobs` writes a whole backup after a 503', async () => {
    once(PASSING[0].fault)
    const run = await relayCommand(dataDir, ['backup', join(folder, 'backup'), '--blobs'], env)
    expect(run).toMatchObject({ code: 0, err: '' })
    expect(run.out).toContain('1 blob')
  })

  it('[BLOB-19] [OPS-10] `relay restore` restores after a 503', async () => {
    const backup = join(folder, 'backup-to-restore')
    faulty.fault = () => null
    expect((await relayCommand(dataDir, ['backup', backup, '--blobs'], env)).code).toBe(0)
    await using empty = await startS3()
    await using target = await startFaultyStore(empty.url)
    target.fault = ({ nth }) => (nth === 1 ? PASSING[0].fault : null)
    const fresh = join(folder, 'restored')
    mkdirSync(fresh)
    const run = await relayCommand(fresh, ['restore', backup], { ...env, RELAY_BLOBS_URL: target.url })
    expect(run).toMatchObject({ code: 0, err: '' })
    expect(run.out).toContain('1 blob')
  })
})

describe('`relay verify` on an object store that fails', () => {
  it('[OPS-11] [CFG-12] verify reports an unreachable object store with exit code 1, without a result and without damage', async () => {
    faulty.fault = () => ({ kind: 'reset' })
    const run = await relayCommand(dataDir, ['verify'], env)
    expect([run.code, run.out]).toEqual([1, ''])
    expect(run.err).toMatch(/^relay: the object store was lost, so the check is not complete/)
  })

  it('[OPS-11] [BLOB-19] verify reads a blob once more after all retries of a call failed, and does not report it as damaged', async () => {
    let failures = 3
    faulty.fault = ({ url }) => (url.includes('x-id=GetObject') && failures-- > 0 ? { kind: 'reset' } : null)
    const run = await relayCommand(dataDir, ['verify'], env)
    expect(run).toMatchObject({ code: 0, err: '' })
    expect(run.out).toContain('1 blob; found: damage 0')
  })

  it('[OPS-11] verify reports a blob as damaged when the object store answers but cannot return it', async () => {
    faulty.fault = ({ url }) => (url.includes('x-id=GetObject') ? { kind: 'error', status: 403, code: 'AccessDenied' } : null)
    const run = await relayCommand(dataDir, ['verify'], env)
    expect(run.code).toBe(1)
    expect(run.out).toMatch(/^damage: blob [0-9a-f]{64}: its bytes cannot be read: .*AccessDenied/)
    expect(run.out).toContain('found: damage 1')
  })
})
