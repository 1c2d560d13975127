import { expect, it } from 'vitest'
import { sweep } from './s3-sweep.ts'
import { openS3 } from './testing/open-s3.ts'
import { s3Error, startScriptedStore } from './testing/scripted-store.ts'

const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret' }
const NAMES = ['bad', 'good', 'last']
const LONG_AGO = '2020-01-01T00:00:00.000Z'

/** Returns the answer of a store to a listing: an old item for each of `NAMES`, under the requested prefix. */
function listing(asked: string): string {
  const { searchParams } = new URL(asked, 'http://store')
  const prefix = searchParams.get('prefix') ?? ''
  const isOfUploads = searchParams.has('uploads')
  const items = NAMES.map((name) =>
    isOfUploads
      ? `<Upload><Key>${prefix}${name}</Key><UploadId>of-${name}</UploadId><Initiated>${LONG_AGO}</Initiated></Upload>`
      : `<Contents><Key>${prefix}${name}</Key><Size>1</Size><LastModified>${LONG_AGO}</LastModified></Contents>`,
  )
  const name = isOfUploads ? 'ListMultipartUploadsResult' : 'ListBucketResult'
  return `<?xml version="1.0"?><${name}><IsTruncated>false</IsTruncated>${items.join('')}</${name}>`
}

/**
 * Starts an object store that lists an old item for each of `NAMES` under every prefix, and refuses to remove items named `bad`. `removals` are the
 * keys that the store was asked to remove. While it `isDown`, it answers everything but listings with an error.
 */
async function startStubbornStore() {
  const script = { isDown: false }
  const removals: string[] = []
  const scripted = await startScriptedStore((response) => {
    const [method = '', asked = ''] = (scripted.requests.at(-1) ?? '').split(' ')
    if (method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/xml' })
      return void response.end(listing(asked))
    }
    if (method === 'DELETE') removals.push(new URL(asked, 'http://store').pathname.replace('/media/', ''))
    if (script.isDown || (method === 'DELETE' && asked.includes('bad'))) return s3Error(response, 403, 'AccessDenied')
    response.writeHead(method === 'DELETE' ? 204 : 200).end()
  })
  const url = `s3://media?endpoint=http://127.0.0.1:${scripted.port}&region=r&path_style=true`
  return { scripted, store: openS3({ url, credentials: CREDENTIALS }), removals, script }
}

const STAGED = NAMES.map((name) => `staging/${name}`)
const RECEIVED = NAMES.map((name) => `receiving/${name}`)

it('[BLOB-12] a staged object that cannot be removed does not stop later removals, and its failure is thrown afterwards', async () => {
  const { scripted, store, removals } = await startStubbornStore()
  await using _ = scripted
  await expect(store.direct.removeStagedBefore(Date.now(), 50)).rejects.toMatchObject({
    code: 'BLOB_STORE_ERROR',
    details: { status: 403, reason: 'AccessDenied' },
  })
  expect(removals).toEqual(STAGED)
})

it('[BLOB-12] a sweep of staged objects ends after the requested number of removals, without those that failed', async () => {
  const { scripted, store, removals } = await startStubbornStore()
  await using _ = scripted
  expect(await store.direct.removeStagedBefore(Date.now(), 1)).toBe(1)
  expect(removals).toEqual(STAGED.slice(0, 2))
})

it('[BLOB-3] [BLOB-12] parts and objects that cannot be removed do not stop a sweep, and the error has their number', async () => {
  const { scripted, store, removals } = await startStubbornStore()
  await using _ = scripted
  await expect(store.clearAbandoned()).rejects.toMatchObject({
    code: 'BLOB_STORE_ERROR',
    message: expect.stringContaining('2 calls failed'),
    details: { status: 403, reason: 'AccessDenied', failures: 2 },
  })
  expect(removals).toEqual([...RECEIVED, ...RECEIVED])
})

it('[BLOB-12] while the object store does not answer, a sweep tries to remove only one object', async () => {
  const { scripted, store, removals, script } = await startStubbornStore()
  await using _ = scripted
  script.isDown = true
  await expect(store.clearAbandoned()).rejects.toMatchObject({ code: 'BLOB_STORE_ERROR' })
  await expect(store.direct.removeStagedBefore(Date.now(), 50)).rejects.toMatchObject({ code: 'BLOB_STORE_ERROR' })
  expect(removals).toEqual(['receiving/bad', 'staging/bad'])
})

it('[BLOB-12] a sweep ends when a thousand objects could not be removed', async () => {
  let tried = 0
  async function* items() {
    for (let i = 0; i < 1_200; i++) yield i
  }
  const remove = (): Promise<void> => {
    tried++
    return Promise.reject(new Error('AccessDenied'))
  }
  const swept = await sweep({ items: items(), isDue: () => true, remove }, () => Promise.resolve())
  expect([swept.removed, swept.failed, swept.isGone, tried]).toEqual([0, 1_000, true, 1_000])
})
