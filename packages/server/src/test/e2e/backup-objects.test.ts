import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { readS3Address } from '../../drivers/s3/s3-address.ts'
import { type S3UnderTest, startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { manifestOf } from '../backup-files.ts'
import { relayCommandHere } from '../relay-command.ts'
import { startRelayUnderTest } from '../relay-under-test.ts'

const folder = mkdtempSync(join(tmpdir(), 'relay-backup-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const envOf = ({ url, credentials }: S3UnderTest) => ({
  RELAY_BLOBS_URL: url,
  RELAY_S3_ACCESS_KEY_ID: credentials.accessKeyId,
  RELAY_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
})

it('[OPS-9] [OPS-10] [OPS-11] a backup with --blobs holds the blobs of an object store, verifies, and restores to a disk or object store', async () => {
  await using s3 = await startS3()
  const env = envOf(s3)
  await using relay = await startRelayUnderTest({ env })
  const bytes = someBytes(50_000)
  const path = `/api/blobs/${hashOf(bytes)}`
  const headers = { authorization: `Bearer ${relay.token()}`, 'content-type': 'image/png' }
  expect((await fetch(`${relay.baseUrl}${path}`, { method: 'POST', headers, body: bytes })).status).toBe(204)
  const [without, target] = [join(folder, 'without'), join(folder, 'with')]
  expect((await relayCommandHere(relay.dataDir, ['backup', without], env)).code).toBe(0)
  expect([manifestOf(without).blobs, readdirSync(without).sort()]).toEqual(['elsewhere', ['manifest.json', 'tables']])
  expect((await relayCommandHere(relay.dataDir, ['backup', target, '--blobs'], env)).out).toContain('1 blob')
  expect((await relayCommandHere(relay.dataDir, ['verify'], env)).out).toContain('1 blob; found: damage 0')
  const dataDir = join(folder, 'on-disk')
  mkdirSync(dataDir)
  expect((await relayCommandHere(dataDir, ['restore', target], env)).err).toContain('the blob store is not empty')
  rmSync(dataDir, { recursive: true })
  mkdirSync(dataDir)
  expect((await relayCommandHere(dataDir, ['restore', target])).code).toBe(0)
  await using second = await startRelayUnderTest({ dataDir })
  const answer = await fetch(`${second.baseUrl}${path}`, { headers: { authorization: `Bearer ${second.token()}` } })
  expect([answer.status, hashOf(new Uint8Array(await answer.arrayBuffer()))]).toEqual([200, hashOf(bytes)])
})

it('[OPS-10] [BLOB-24] after a restore without blobs the relay uses the present objects of the object store', async () => {
  await using s3 = await startS3()
  const env = envOf(s3)
  const { bucket: Bucket, prefix } = readS3Address(s3.url)
  const objects = async () => (await s3.everything()).filter((key) => key.startsWith(`${prefix}blobs/`))
  const bytes = someBytes(20_000, 2)
  await using relay = await startRelayUnderTest({ env })
  await relay.rest().uploadBlob(bytes, 'image/png')
  const backup = join(folder, 'of-the-first-object')
  expect((await relayCommandHere(relay.dataDir, ['backup', backup], env)).code).toBe(0)
  const [first] = await objects()
  await relay.rest().uploadBlob(bytes, 'image/png')
  await s3.client.send(new DeleteObjectCommand({ Bucket, Key: first }))
  expect(await objects()).toHaveLength(1)
  const dataDir = join(folder, 'restored')
  mkdirSync(dataDir)
  const restored = await relayCommandHere(dataDir, ['restore', backup], env)
  expect(restored).toMatchObject({ code: 0, err: expect.stringContaining('must still be in the object store') })
  expect((await relayCommandHere(dataDir, ['verify'], env)).out).toContain('1 blob; found: damage 0, notes 0')
})
