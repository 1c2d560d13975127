import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { creation, written } from '../../documents/testing/document-writes.ts'
import { openHost } from '../../drivers/sql/testing/store-under-test.ts'
import { clientState, gapStore, gapStoreOnPostgres } from '../gap-store.ts'
import { relayCommandHere } from '../relay-command.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'

const stores = await storesUnderTest()
const SOUND = ['before-0', 'behind-0', 's1']

describe.each(stores)('relay repair, on $name', ({ env, remove }) => {
  let relay: RelayUnderTest
  let dataDir = ''
  const url = () => env['RELAY_STORAGE_URL'] ?? `sqlite:${dataDir}/relay.db`
  const command = (...args: string[]) => relayCommandHere(dataDir, args, { ...env })
  beforeAll(async () => {
    dataDir = env['RELAY_STORAGE_URL'] === undefined ? gapStore() : await gapStoreOnPostgres(env['RELAY_STORAGE_URL'])
    const host = await openHost(url())
    written(await host.documents.write(creation({ workspaceId: 'one', id: 'twice' })))
    written(await host.documents.write(creation({ workspaceId: 'two', id: 'twice' })))
    const gone = written(await host.documents.write(creation({ workspaceId: 'one', id: 'gone' })))
    await host.documents.remove(gone, gone.key, 1)
    await host[Symbol.asyncDispose]()
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
    await remove()
  })

  const headers = () => ({ authorization: `Bearer ${relay.token()}`, 'content-type': 'application/json' })
  const put = (id: string) => relay.fetch(`/api/docs/${id}`, { method: 'PUT', headers: headers(), body: '{"name":"over it"}' })
  const shapesOf = (doc: Y.Doc) => [...doc.getMap('shapes:canvas').keys()].sort()

  it('[OPS-11] relay verify names the gap and the repair command', async () => {
    const { code, out } = await command('verify')
    expect(code).toBe(1)
    const lines = out.split('\n').filter((line) => line.includes('its log has a gap'))
    expect(lines.map((line) => /document "([^"]+)"/.exec(line)?.[1]).sort()).toEqual(['one-gap', 'two-gaps'])
    expect(lines[0]).toContain('`relay repair` is run with its id')
  })

  it.each([
    [['never'], 'there is no document "never" in this store'],
    [['gone'], 'document "gone" was deleted; there is nothing to repair'],
    [['twice'], 'several workspaces have a document "twice": add --workspace with one of one, two'],
    [['twice', '--workspace', 'three'], 'there is no document "twice"'],
  ])('[CFG-11] repair refuses %j and changes nothing', async (args, text) => {
    const { code, out, err } = await command('repair', ...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(text)
  })

  it.each([[['whole']], [['twice', '--workspace', 'two']]])(
    '[CFG-11] [CFG-12] repair of the sound document %j says that there is nothing to repair, and exits with 0',
    async (args) => {
      const { code, out, err } = await command('repair', ...args)
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(/^document "(whole|twice)" of workspace "(default|two)" has nothing to repair; nothing was changed\n$/)
    },
  )

  it('[CFG-12] repair without a document id is a usage error', async () => {
    expect((await command('repair')).code).toBe(2)
  })

  it('[CFG-11] repair restores a document of a stopped relay from its log, and prints what it used and what is lost', async () => {
    const { code, out } = await command('repair', 'one-gap')
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      'repaired document "one-gap" of workspace "default"',
      'used: 4 records of the log, as far as they can be applied; the body was brought up to them',
      'lost: the edits of 1 client that build on the missing one; a client that still has them brings them back when it connects',
      'the old rows are kept in the table set_aside',
      '',
    ])
    expect((await command('verify')).out).not.toContain('"one-gap"')
    expect((await command('repair', 'one-gap')).out).toContain('has nothing to repair')
  })

  it('[CFG-11] [LIFE-5] a repaired document accepts edits, and gets the updates that its clients still have', async () => {
    relay = await startRelayUnderTest({ dataDir, env: { RELAY_WRITES_PER_SEC: '0', ...env } })
    const reader = relay.sync('one-gap')
    await saved(reader)
    expect(shapesOf(reader.doc)).toEqual(SOUND)
    const doc = new Y.Doc()
    Y.applyUpdate(doc, clientState('one-gap'))
    const author = relay.sync('one-gap', {}, { doc })
    await saved(author)
    await until('what was lost', () => shapesOf(reader.doc).includes('lost-0') && shapesOf(reader.doc).includes('after-0'))
    expect((await put('one-gap')).status).toBe(200)
  })

  it('[CFG-11] repair of a document that a running relay has open makes the relay drop its old state', async () => {
    const reader = relay.sync('two-gaps')
    await until('the sound part', () => shapesOf(reader.doc).includes('s1'))
    expect((await put('two-gaps')).status).toBe(409)
    const { code, err } = await command('repair', 'two-gaps')
    expect([code, err]).toEqual([0, ''])
    await until('a PUT to be taken', async () => (await put('two-gaps')).status === 200)
    reader.doc.getMap('fields').set('after the repair', { name: 'after' })
    await saved(reader)
    await relay.kill()
    expect((await command('verify')).out).toMatch(/damage 0/)
    await relay.restart()
    const again = relay.sync('two-gaps')
    await saved(again)
    expect([...again.doc.getMap('fields').keys()]).toEqual(['after the repair'])
  })
})
