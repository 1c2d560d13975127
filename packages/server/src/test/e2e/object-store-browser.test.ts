import { type CORSRule, PutBucketCorsCommand } from '@aws-sdk/client-s3'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { readS3Address } from '../../drivers/s3/s3-address.ts'
import { NEEDS_COMPLETE_STORE, type S3UnderTest, startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { type BrowserOrigin, CHROMIUM, NEEDS_CHROMIUM, openBrowserOrigin } from '../browser.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

const MIA = { sub: 'mia', role: 'member' }
/** The guide, which contains the CORS rule to set, with an example origin. */
const GUIDE = readFileSync(new URL('../../../../../docs/object-storage.md', import.meta.url), 'utf8')
const EXAMPLE_ORIGIN = 'https://editor.example'

let s3: S3UnderTest
let relay: RelayUnderTest
let editor: BrowserOrigin

beforeAll(async () => {
  s3 = await startS3()
  if (!s3.isComplete || CHROMIUM === null) return
  editor = await openBrowserOrigin()
  relay = await startRelayUnderTest({
    env: {
      RELAY_BLOBS_URL: s3.url,
      RELAY_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      RELAY_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      RELAY_CORS_ORIGINS: editor.origin,
    },
  })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await editor?.[Symbol.asyncDispose]()
  await s3?.[Symbol.asyncDispose]()
})
beforeEach((context) => {
  if (!s3.isComplete) context.skip(NEEDS_COMPLETE_STORE)
  if (CHROMIUM === null) context.skip(NEEDS_CHROMIUM)
})

/** Returns the CORS rules of the guide for the origin of the page. */
function guideRules(): CORSRule[] {
  const [, text = ''] = /```json\n(\{\s*"CORSRules"[\s\S]*?)```/.exec(GUIDE) ?? []
  return (JSON.parse(text.replaceAll(EXAMPLE_ORIGIN, editor.origin)) as { CORSRules: CORSRule[] }).CORSRules
}

const setRules = (CORSRules: CORSRule[]) =>
  s3.client.send(new PutBucketCorsCommand({ Bucket: readS3Address(s3.url).bucket, CORSConfiguration: { CORSRules } }))

/** The blob requests of a page at the editor's origin. Each result is a value, or the name of the error. */
const PAGE = `
import { RelayClient } from '/packages/client/src/rest/relay-client.ts'
export async function run({ baseUrl, token, hash, bytes }) {
  const auth = { authorization: 'Bearer ' + token }
  const body = Uint8Array.from(bytes)
  const told = async (work) => { try { return await work() } catch (error) { return error.name } }
  const post = (verb, value) => fetch(baseUrl + '/api/v1/blobs/' + hash + '/' + verb, {
    method: 'POST', headers: { ...auth, 'content-type': 'application/json' }, body: JSON.stringify(value) })
  const ticket = await (await post('upload-url', { size: body.length, mimeType: 'image/png' })).json()
  const put = await told(async () => (await fetch(ticket.url, { method: 'PUT', headers: ticket.headers, body })).status)
  // What the other lines read, whatever became of the PUT.
  if (put !== 200) await fetch(baseUrl + '/api/blobs/' + hash, { method: 'POST', headers: { ...auth, 'content-type': 'image/png' }, body })
  const finalize = (await post('finalize', { mimeType: 'image/png' })).status
  const read = async (response) => [response.status, (await response.arrayBuffer()).byteLength]
  const { url } = await (await post('download-url')).json()
  const range = { range: 'bytes=10-19' }
  return {
    put,
    finalize,
    redirect: await told(async () => read(await fetch(baseUrl + '/api/blobs/' + hash, { headers: auth }))),
    redirectRange: await told(async () => read(await fetch(baseUrl + '/api/blobs/' + hash, { headers: { ...auth, ...range } }))),
    link: await told(async () => read(await fetch(url))),
    linkRange: await told(async () => read(await fetch(url, { headers: range }))),
    client: await told(async () => (await new RelayClient({ baseUrl, token: () => token }).downloadBlob(hash)).bytes.length),
  }
}
`

let seed = 0
function visit(): Promise<unknown> {
  const bytes = someBytes(5_000, 7_000 + ++seed)
  return editor.run(PAGE, { baseUrl: relay.baseUrl, token: relay.token(MIA), hash: hashOf(bytes), bytes: [...bytes] })
}

describe('a browser and the CORS rules of the bucket', () => {
  it('[BLOB-22] with the CORS rule of the guide a browser can upload, download by link and use RelayClient', async () => {
    await setRules(guideRules())
    expect(await visit()).toMatchObject({ put: 200, finalize: 200, link: [200, 5_000], linkRange: [206, 10], client: 5_000 })
  })

  it('[BLOB-22] a redirected GET works only with a rule for the origin null, which browsers send after a redirect', async () => {
    const rules = guideRules()
    await setRules(rules)
    expect(await visit()).toMatchObject({ redirect: 'TypeError', redirectRange: 'TypeError' })
    const withNull = rules.map((rule) => ({ ...rule, AllowedOrigins: [...(rule.AllowedOrigins ?? []), 'null'] }))
    await setRules(withNull)
    expect(await visit()).toMatchObject({ redirect: [200, 5_000], redirectRange: [206, 10] })
  })

  it('[BLOB-22] a PUT is blocked when AllowedHeaders lacks the headers of the ticket', async () => {
    await setRules(guideRules().map((rule) => ({ ...rule, AllowedHeaders: ['content-type'] })))
    expect(await visit()).toMatchObject({ put: 'TypeError' })
  })
})
