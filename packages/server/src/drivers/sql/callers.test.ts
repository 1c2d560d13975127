import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CallWrite } from '../../documents/call-store.port.ts'
import { change, creation, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { connect } from './database.ts'
import { enginesUnderTest } from './testing/engines-under-test.ts'
import { openHost } from './testing/store-under-test.ts'

const engines = await enginesUnderTest()

const call = (callId: string, more: Partial<CallWrite> = {}): CallWrite => ({
  ...{ callId, tool: 'set_prose', sub: 'ann', client: 'Scribe', caller: null, changed: 1, removed: 0 },
  ...{ record: new TextEncoder().encode('{}'), blobReferences: [], undoes: [], answer: null },
  ...more,
})

describe.each(engines)('call records of an older release on $name', ({ open }) => {
  let store: Awaited<ReturnType<typeof open>>
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.remove())

  it('[LIFE-29] [AG-66] old call records are readable without a caller and can be undone, and new call records name their caller', async () => {
    const before = await openHost(store.url)
    const made = written(await before.documents.write(creation({ workspaceId: 'w', id: 'd' })))
    const head = written(await before.documents.write(change(made, '{"n":1}', { call: call('old') })))
    await before[Symbol.asyncDispose]()
    // Leaves the store as a release without the column `caller` does.
    const database = await connect(store.url, { synchronous: 'FULL' }, silentLogger)
    await sql`alter table call_records drop column caller`.execute(database.writer)
    await sql`delete from kysely_migration where name = '0016-callers'`.execute(database.writer)
    await database.close()

    await using host = await openHost(store.url)
    const listed = async () => (await host.calls.list(head.key, { beforeVersion: null, limit: 9 })).map(({ caller }) => caller)
    expect(await listed()).toEqual([null])
    expect(await host.calls.read(head.key, ['old'])).toMatchObject([{ caller: null, hasRecord: true }])
    const undo = call('undo', { tool: 'undo', caller: 'digest', undoes: ['old'] })
    written(await host.documents.write(change(head, '{"n":2}', { call: undo })))
    expect(await listed()).toEqual(['digest', null])
    expect(await host.calls.read(head.key, ['old'])).toMatchObject([{ caller: null, hasRecord: true, undoneBy: 'undo' }])
  })
})
