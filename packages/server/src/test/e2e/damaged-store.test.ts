import type { RelayError } from '@docrelay/client/errors'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { cpSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { snapshotChecksum } from '../../drivers/sql/checksum.ts'
import { logged, type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { changeStored, isCovered, storedHead, storedRows } from '../store-file.ts'

let relay: RelayUnderTest

beforeAll(async () => {
  relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0' } })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const BODY = {
  pages: [{ id: 'canvas', name: 'Canvas', shapes: [{ id: 's1', type: 'rectangle', x: 1 }] }],
  richTextPages: [{ id: 'one', name: 'One', content: '<h1>Title</h1><p>some <strong>bold</strong> text</p>' }],
}
const create = (id: string) => relay.rest().putDocument(id, { name: id, ...BODY })

async function edit(id: string, ...shapes: string[]): Promise<SyncClient> {
  const client = relay.sync(id)
  await saved(client)
  for (const shape of shapes) client.doc.getMap('shapes:canvas').set(shape, { id: shape, type: 'ellipse', x: 2 })
  await saved(client)
  return client
}

async function shapesOverRest(id: string): Promise<string[]> {
  const body = (await relay.rest().getDocument(id)) as unknown as { pages: { shapes: { id: string }[] }[] }
  return body.pages.flatMap(({ shapes }) => shapes.map((shape) => shape.id)).sort()
}

/** Returns the ids of the shapes that a new client gets over WebSocket. */
async function shapesOverSocket(id: string): Promise<string[]> {
  const client = relay.sync(id)
  await saved(client)
  const shapes = [...client.doc.getMap('shapes:canvas').keys()].sort()
  client.destroy()
  return shapes
}

const keyOf = (id: string) => String(storedRows(relay, 'select key from documents where id = ?', id)[0]?.['key'])
const setAside = (id: string) => storedRows(relay, `select kind, bytes from set_aside where key = ${keyOf(id)}`)
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: RelayError) => `${error.status} ${error.code}`,
  )

/** SQL that replaces one byte in the middle of a value. */
const FLIPPED = `cast(substr(bytes, 1, length(bytes) / 2) || x'5a' || substr(bytes, length(bytes) / 2 + 2) as blob)`

describe('a store damaged while the relay is stopped', () => {
  /** A client's copy of the document `rebuilt`, from before its log was damaged. */
  let copy: { readonly update: Uint8Array; readonly lineage: string }

  beforeAll(async () => {
    for (const id of ['older', 'rebuilt', 'undecodable', 'behind', 'gap', 'whole']) {
      await create(id)
      const client = await edit(id, 'live')
      if (id === 'rebuilt') {
        const paragraph = new Y.XmlElement('paragraph')
        paragraph.insert(0, [new Y.XmlText('typed once')])
        client.doc.getXmlFragment('prose:one').push([paragraph])
        await saved(client)
        copy = { update: Y.encodeStateAsUpdate(client.doc), lineage: client.state.lineage ?? '' }
      }
      client.destroy()
      if (id === 'behind' || id === 'gap') await recovery('POST', `${id}/recovery/capture`)
    }
    // A stop stores a snapshot of every document, and a body that contains everything.
    expect(await relay.stop()).toBe(0)
    await relay.restart()
    for (const id of ['behind', 'gap', 'whole']) await edit(id, 'a', 'b')
    await relay.kill()
    for (const id of ['behind', 'gap', 'whole']) expect(isCovered(relay, id)).toBe(false)
    for (const id of ['older', 'rebuilt']) changeStored(relay, `update snapshots set bytes = ${FLIPPED} where key = ${keyOf(id)}`)
    changeStored(relay, `update updates set bytes = ${FLIPPED} where key = ${keyOf('rebuilt')}`)
    changeStored(
      relay,
      `update updates set bytes = ${FLIPPED} where key = ${keyOf('behind')} and seq = (select max(seq) from updates where key = ${keyOf('behind')})`,
    )
    changeStored(
      relay,
      `delete from updates where key = ${keyOf('gap')} and seq = (select max(seq) - 1 from updates where key = ${keyOf('gap')})`,
    )
    replaceSnapshot('undecodable', new Uint8Array([1, 1, 200, 200]))
    await relay.restart()
  })

  /** Replaces a snapshot and its checksum, as a fault of the program itself would. */
  function replaceSnapshot(id: string, bytes: Uint8Array): void {
    const key = keyOf(id)
    const query = `select through_seq, state_vector from snapshots where key = ${key}`
    for (const row of storedRows(relay, query)) {
      const seq = Number(row['through_seq'])
      const crc32 = snapshotChecksum(Number(key), seq, row['state_vector'] as Uint8Array, bytes)
      const hex = Buffer.from(bytes).toString('hex')
      changeStored(relay, `update snapshots set bytes = x'${hex}', crc32 = ${crc32} where key = ${key} and through_seq = ${seq}`)
    }
  }

  async function recovery(method: string, path: string) {
    const headers = { authorization: `Bearer ${relay.token()}` }
    const response = await relay.fetch(`/api/docs/${path}`, { method, headers })
    expect(response.status).toBe(200)
    return (await response.json()) as { recoveryPoints?: { id: string }[]; newDocId?: string }
  }

  it('[LIFE-5] [D8] a damaged snapshot is replaced by the earlier snapshot and the log records after it', async () => {
    expect(await shapesOverSocket('older')).toEqual(['live', 's1'])
    expect(await shapesOverRest('older')).toEqual(['live', 's1'])
    expect(setAside('older')).toEqual([])
  })

  it('[YDOC-11] [LIFE-5] an unreadable log is rebuilt from a body that contains all of it, and its bytes are kept aside', async () => {
    const expected = ['live', 's1']
    expect(await shapesOverSocket('rebuilt')).toEqual(expected)
    expect(await shapesOverRest('rebuilt')).toEqual(expected)
    expect(setAside('rebuilt').map(({ kind }) => kind)).toEqual(expect.arrayContaining(['snapshot', 'update']))
    await logged(relay, 'document.rebuilt', '"rebuilt"')
    expect(relay.logLines.filter((line) => line.includes('document.rebuilt') && line.includes('"rebuilt"'))).toHaveLength(1)
  })

  it.each([
    ['names its lineage', true, 'ERR_LINEAGE'],
    ['names no lineage', false, 'ERR_DELETED'],
  ])(
    '[YDOC-11] [WS-62] after a rebuild an older client copy that %s is refused, so that no content is doubled',
    async (_, named, refusal) => {
      const doc = new Y.Doc()
      Y.applyUpdate(doc, copy.update)
      const errors: string[] = []
      const onError = ({ code }: { code: string }) => void errors.push(code)
      const client = relay.sync('rebuilt', {}, { doc, onError, ...(named && { lineage: copy.lineage }) })
      await until('the refusal, or the merge', () => errors.length > 0 || client.state.saved === 'saved')
      expect(errors).toEqual([refusal])
      client.destroy()
      const { richTextPages } = (await relay.rest().getDocument('rebuilt')) as unknown as { richTextPages: { content: string }[] }
      expect(richTextPages[0]?.content.match(/typed once|bold/g)).toEqual(['bold', 'typed once'])
    },
  )

  it('[YDOC-11] an undecodable snapshot with a valid checksum is rebuilt when the fault is noticed', async () => {
    expect(await shapesOverRest('undecodable')).toEqual(['live', 's1'])
    const body = await relay.rest().getDocument('undecodable')
    await until('a PUT to be taken', () =>
      relay
        .rest()
        .putDocument('undecodable', { ...body, name: 'renamed' })
        .then(
          () => true,
          (error: RelayError) => error.status !== 503,
        ),
    )
    expect(await shapesOverSocket('undecodable')).toEqual(['live', 's1'])
  })

  it.each([
    ['behind', 'a record with other bytes'],
    ['gap', 'a record that is missing'],
  ])(
    '[YDOC-11] [LIFE-5] [WS-22] document %s: %s that the body lacks makes the document unavailable instead of empty',
    async (id) => {
      const rowsOf = () =>
        ['snapshots', 'updates', 'bodies'].map((table) => storedRows(relay, `select * from ${table} where key = ${keyOf(id)}`))
      const before = rowsOf()
      const errors: string[] = []
      const closes: string[] = []
      const client = relay.sync(
        id,
        {},
        {
          onError: ({ code }) => errors.push(code),
          onState: ({ closed }) => closed !== null && closes.push(`${closed.code} ${closed.reason.replace(/;.*/, '')}`),
        },
      )
      client.doc.getMap('shapes:canvas').set('written while it is unavailable', { id: 'x' })
      await until('the refusal', () => closes.length > 0)
      expect([errors[0], closes[0]]).toEqual(['ERR_UNAVAILABLE', '1012 unavailable'])
      expect(client.state.synced).toBe(false)
      expect(client.doc.getMap('shapes:canvas').size).toBe(1)
      expect(await refusalOf(relay.rest().getDocument(id))).toBe('503 UNAVAILABLE')
      const answer = await relay.fetch(`/api/docs/${id}`, { headers: { authorization: `Bearer ${relay.token()}` } })
      expect([answer.headers.get('retry-after'), await answer.json()]).toEqual([
        '60',
        expect.objectContaining({ error: expect.stringContaining(`relay repair ${id}`), retryAfterMs: 60_000 }),
      ])
      expect(relay.logLines.findLast((line) => line.includes('document.unavailable'))).toContain('relay repair')
      expect(await refusalOf(relay.rest().putDocument(id, { name: 'over it' }))).toMatch(/^503 /)
      expect(rowsOf()).toEqual(before)
      client.destroy()
    },
  )

  it.each(['behind', 'gap'])(
    '[LIFE-22] [LIFE-5] document %s can be restored from a recovery point, and its unreadable parts are kept aside with the new document',
    async (id) => {
      const rows = storedRows(relay, `select * from updates where key = ${keyOf(id)}`).length
      const { recoveryPoints } = await recovery('GET', `${id}/recovery`)
      const restored = await recovery('POST', `${id}/recovery/${recoveryPoints?.[0]?.id ?? ''}/restore`)
      const { newDocId = '' } = restored
      expect(await shapesOverRest(newDocId)).toContain('s1')
      expect(await shapesOverSocket(newDocId)).toContain('s1')
      expect(setAside(newDocId).filter(({ kind }) => kind === 'update')).toHaveLength(rows)
      expect(await refusalOf(relay.rest().getDocument(id))).toMatch(/^404 /)
    },
  )

  it('[LIFE-5] [LIFE-8] the other documents of a damaged store are complete', async () => {
    expect(await shapesOverSocket('whole')).toEqual(['a', 'b', 'live', 's1'])
    expect(await shapesOverRest('whole')).toEqual(['a', 'b', 'live', 's1'])
    expect((await fetch(`${relay.baseUrl}/readyz`)).status).toBe(200)
  })
})

describe('a write-ahead log with a torn end', () => {
  it('[LIFE-5] a start cuts off the torn end of the write-ahead log; earlier edits are kept, and the document can be edited', async () => {
    await create('torn')
    const ann = await edit('torn')
    for (let i = 0; i < 40; i++) {
      ann.doc.getMap('shapes:canvas').set(`t${i}`, { id: `t${i}`, type: 'ellipse' })
      await saved(ann)
    }
    ann.destroy()
    await relay.kill()
    const log = join(relay.dataDir, 'relay.db-wal')
    // Cuts the file within the last commits, in the middle of a page.
    truncateSync(log, statSync(log).size - 3 * 4096 - 1234)
    await relay.restart()
    const shapes = (await shapesOverSocket('torn')).filter((id) => id !== 's1')
    expect(shapes.length).toBeLessThan(40)
    expect(new Set(shapes)).toEqual(new Set(Array.from({ length: shapes.length }, (_, i) => `t${i}`)))
    ;(await edit('torn', 'afterwards')).destroy()
    expect(await shapesOverRest('torn')).toContain('afterwards')
  })
})

describe('seeding on two relays', () => {
  it('[YDOC-9] two relays seed a body with equal bytes, which are durable before a client receives them', async () => {
    await create('seeded')
    await relay.stop()
    const folder = mkdtempSync(join(tmpdir(), 'docrelay-copy-'))
    cpSync(relay.dataDir, folder, { recursive: true })
    await relay.restart()
    await using other = await startRelayUnderTest({ dataDir: folder })
    const states: Uint8Array[] = []
    for (const node of [relay, other]) {
      const client = node.sync('seeded')
      await until('the content', () => client.doc.getMap('shapes:canvas').has('s1'))
      expect(storedHead(node, 'seeded')?.lastSeq).toBeGreaterThan(0)
      await node.kill()
      await until('the whole state', () => client.doc.getXmlFragment('prose:one').length > 0)
      states.push(Y.encodeStateAsUpdate(client.doc))
      client.destroy()
    }
    expect(Buffer.compare(states[0] as Uint8Array, states[1] as Uint8Array)).toBe(0)
    await relay.restart()
    const again = relay.sync('seeded')
    await saved(again)
    expect(Buffer.compare(Y.encodeStateAsUpdate(again.doc), states[0] as Uint8Array)).toBe(0)
    expect(again.doc.getXmlFragment('prose:one').length).toBe(2)
    again.destroy()
    rmSync(folder, { recursive: true })
  })
})
