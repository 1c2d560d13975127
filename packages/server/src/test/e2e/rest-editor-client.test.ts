import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

let relay: RelayUnderTest
let call: Call
/** The environment, which each start of the relay reads again. */
const env: Record<string, string> = { RELAY_CORS_ORIGINS: 'https://editor.example' }
const LIST = { name: 'L', version: 9, pages: [{ id: 'p', shapes: [{ id: 's' }] }], richTextPages: [] }
const KEYED = { name: 'K', version: { major: 2 }, pages: { p: { id: 'p', shapes: {}, shapeOrder: [] } }, pageOrder: ['p'] }

beforeAll(async () => {
  relay = await startRelayUnderTest({ env })
  call = rawHttp(relay)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

async function switchTo(editorClient: boolean): Promise<void> {
  expect(await relay.stop()).toBe(0)
  env['RELAY_COMPAT_EDITOR_CLIENT'] = String(editorClient)
  await relay.restart()
}

const read = async (id: string) => (await call('GET', `/api/docs/${id}`)).json
const versions = async (id: string) => {
  const body = await read(id)
  return ['version' in body ? body.version : 'absent', body.serverVersion]
}

/** Makes one live edit and a read, which materialises it. */
async function edit(id: string): Promise<void> {
  const client = relay.sync(id)
  await saved(client)
  client.doc.getMap('shapes:p').set(`new${Math.random()}`, { id: 'new', live: true })
  await saved(client)
  await read(id)
  client.destroy()
}

describe('[compat] the compat option editor_client', () => {
  it('[CFG-2] editor_client changes only answers: documents stored under one setting are served under the other', {
    timeout: patience(40_000),
  }, async () => {
    for (const [id, body] of [
      ['list', LIST],
      ['keyed', KEYED],
      ['none', { name: 'N', pages: [{ id: 'p', shapes: [] }] }],
      ['null', { version: null }],
    ] as const)
      expect((await call('PUT', `/api/docs/${id}`, { body })).json.newVersion).toBe(1)
    expect([await versions('list'), await versions('keyed'), await versions('none'), await versions('null')]).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
    ])
    await edit('list')
    expect(await versions('list')).toEqual([2, 2])
    const before = JSON.parse((await call('GET', '/api/docs')).text) as unknown[]
    const stored = await read('keyed')

    await switchTo(true)
    expect([await versions('list'), await versions('keyed'), await versions('none'), await versions('null')]).toEqual([
      [9, 2],
      [{ major: 2 }, 1],
      ['absent', 1],
      [null, 1],
    ])
    const after = (await call('GET', '/api/docs')).json
    expect(after).toEqual({ documents: before })
    expect(await read('keyed')).toEqual({ ...stored, version: { major: 2 } })
    expect((await call('GET', '/api/v1/docs?limit=1')).json.documents).toHaveLength(1)
    await edit('list')
    await edit('none')
    expect([await versions('list'), await versions('none')]).toEqual([
      [9, 3],
      ['absent', 2],
    ])

    await switchTo(false)
    expect([await versions('list'), await versions('none'), await versions('null')]).toEqual([
      [3, 3],
      [2, 2],
      [1, 1],
    ])
    expect(JSON.parse((await call('GET', '/api/docs')).text)).toHaveLength(4)
  })

  it('[CFG-2] the version that a client sends is returned after live and cold PUTs, deletion, sharing and transfer', async () => {
    await switchTo(true)
    await call('PUT', '/api/docs/own', { body: { version: 3 } })
    expect(await versions('own')).toEqual([3, 1])
    const client = relay.sync('own')
    await saved(client)
    await call('PUT', '/api/docs/own', { body: { version: 4 } })
    expect(await versions('own')).toEqual([4, 2])
    await call('PUT', '/api/docs/own/collection', { body: { collectionId: 'c' } })
    await call('POST', '/api/docs/own/transfer', { body: { to_user_id: 'bob' } })
    expect(await versions('own')).toEqual([4, 4])
    await call('PUT', '/api/docs/own', { body: {} })
    expect(await versions('own')).toEqual(['absent', 5])
    client.destroy()
    await call('DELETE', '/api/docs/own')
    const back = await call('PUT', '/api/docs/own?overrideTombstone=true', { body: { version: 'x' } })
    expect([back.json.newVersion, back.json.serverVersion, back.json.version]).toEqual([6, 6, undefined])
    expect(await versions('own')).toEqual(['x', 6])
  })

  it('[CFG-2] [REST-20] the ETag and all errors are the same with and without editor_client', async () => {
    const { headers } = await call('GET', '/api/docs/own')
    expect(headers.etag).toBe('"6"')
    expect((await call('PUT', '/api/docs/own?expectedVersion=1', { body: {} })).json).toMatchObject({
      errorCode: 'VERSION_CONFLICT',
      currentVersion: 6,
    })
  })
})
