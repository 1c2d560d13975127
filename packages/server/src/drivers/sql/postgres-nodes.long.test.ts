import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { describeNodeRegistryContract } from '../../nodes/registry.contract.ts'
import { openDatabase } from './database.ts'
import type { Database } from './engine.ts'
import { migrateAll } from './migrate-tool.ts'
import { openPostgres } from './postgres.ts'
import type { StorageHost } from './storage-host.ts'
import type { StoreLoss } from './store-loss.ts'
import { onPostgres } from './testing/on-postgres.ts'
import { openHost } from './testing/store-under-test.ts'

const LONG_TEST_MS = patience(15_000)

await onPostgres((url) => {
  /** A tool that reads the store and changes it without the relays. */
  let tool: Database
  const looking = async (): Promise<Database> => (tool ??= await openDatabase(url, { synchronous: 'FULL' }, silentLogger))

  describeNodeRegistryContract('PostgreSQL', async () => {
    const { writer } = await looking()
    return {
      async process() {
        const database = await openPostgres(url, 0, silentLogger, { connections: 1, node: { inc: null } })
        let killed: Promise<void> | null = null
        return { nodes: database.nodes({ onLoss: () => undefined }), kill: () => (killed ??= database.close()) }
      },
      rob: async (inc) => void (await sql`update nodes set robbed = robbed + 1 where inc = ${inc}`.execute(writer)),
      endLease: async (inc) => void (await sql`update nodes set lease_until_ms = 1 where inc = ${inc}`.execute(writer)),
      [Symbol.asyncDispose]: async () => undefined,
    }
  })

  describe('nodes and single relays on one PostgreSQL store', () => {
    const hosts = new Set<StorageHost>()
    const pulses = new Set<NodeJS.Timeout>()
    afterEach(async () => {
      for (const pulse of pulses) clearInterval(pulse)
      pulses.clear()
      for (const host of hosts) await host[Symbol.asyncDispose]()
      hosts.clear()
      await sql`delete from nodes`.execute((await looking()).writer)
    })

    const losses: StoreLoss[] = []
    async function open(isNode: boolean): Promise<StorageHost> {
      const host = await openHost(url, { ...(isNode && { node: { inc: null } }), onLoss: (loss) => losses.push(loss) })
      hosts.add(host)
      return host
    }
    const close = async (host: StorageHost): Promise<void> => {
      hosts.delete(host)
      await host[Symbol.asyncDispose]()
    }
    const alone = (): Promise<StorageHost> => open(false)
    const describeNode = (nodeId: string) => ({ nodeId, linkUrl: 'ws://10.0.0.1:9879', program: '1' })

    /** Starts a node whose main thread sends pulses. */
    async function node(nodeId: string): Promise<{ readonly host: StorageHost; readonly inc: number }> {
      const host = await open(true)
      const registered = await host.nodes.register(describeNode(nodeId))
      if (registered.kind === 'taken') throw new Error(registered.reason)
      const { inc } = registered
      let atMs = 0
      const pulse = (): void => void host.nodes.pulse(inc, ++atMs).catch(() => undefined)
      pulses.add(setInterval(pulse, 200))
      pulse()
      return { host, inc }
    }
    const format = async (): Promise<string | undefined> => {
      const { reader } = await looking()
      const row = await reader.selectFrom('store_facts').select('value').where('name', '=', 'format').executeTakeFirst()
      return row?.value
    }

    it('[LIFE-29] the first of several nodes raises the format of the store, and a single relay leaves it as it is', async () => {
      await sql`update store_facts set value = '1' where name = 'format'`.execute((await looking()).writer)
      await close(await alone())
      expect(await format()).toBe('1')
      await node('first')
      expect(await format()).toBe('2')
    })

    it(
      '[CFG-10] a single relay is refused beside a live node, and replaces nodes that have ended',
      async () => {
        const { host, inc } = await node('a')
        await expect(alone()).rejects.toThrow('in use by another process')
        await expect(migrateAll(url, silentLogger)).rejects.toThrow('in use by another process')
        await close(host)
        const relay = await alone()
        written(await relay.documents.write(creation({ workspaceId: 'w', id: 'by-the-relay' })))
        expect(await sql`select 1 from nodes where inc = ${inc}`.execute((await looking()).reader)).toMatchObject({ rows: [] })
      },
      LONG_TEST_MS,
    )

    it(
      '[CFG-10] a node is refused beside a live single relay, and replaces an ended one, which can then write nothing',
      async () => {
        const relay = await alone()
        await expect(node('a')).rejects.toThrow('a relay with [cluster] single_node')
        // Sets another holder in the row, so that the beat stands still, as if the relay had stopped.
        await sql`update instances set holder = 'relay-stopped'`.execute((await looking()).writer)
        await node('a')
        const write = () => relay.documents.write(creation({ workspaceId: 'w', id: 'by-the-former' }))
        await expect(write()).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
        // Waits for a heartbeat of the single relay, which must not take the place back.
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        await expect(write()).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
        expect(await sql`select 1 from instances`.execute((await looking()).reader)).toMatchObject({ rows: [] })
      },
      LONG_TEST_MS,
    )

    it(
      '[LIFE-26] a single relay that replaces a hanging node takes its documents, so the node can write nothing later',
      async () => {
        const { host } = await node('a')
        const { key } = written(await host.documents.write(creation({ workspaceId: 'w', id: 'owned' })))
        const acquired = await host.ownership.acquire(key)
        if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
        for (const pulse of pulses) clearInterval(pulse)
        // Heartbeats end 2 s after the last pulse.
        await new Promise((resolve) => setTimeout(resolve, 2_500))
        const relay = await alone()
        const record = { key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }
        expect(await host.updates.append([{ ...record, epoch: acquired.epoch }])).toEqual([{ kind: 'fenced' }])
        expect(await relay.updates.append([record])).toEqual([{ kind: 'appended', seq: 1 }])
      },
      LONG_TEST_MS,
    )

    it('[LIFE-26] a node that has left can acquire no document', async () => {
      const { host, inc } = await node('a')
      const { key } = written(await host.documents.write(creation({ workspaceId: 'w', id: 'left' })))
      await host.nodes.leave(inc)
      await expect(host.ownership.acquire(key)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    })

    it('[CFG-10] of a node and a single relay that start at once one is refused', async () => {
      const both = await Promise.allSettled([node('a'), alone()])
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    it('[LIFE-5] a heartbeat counter that went back is reported as a loss, and the node continues', async () => {
      const { host, inc } = await node('a')
      const before = losses.length
      await expect.poll(() => host.nodes.pulse(inc, 1)).toMatchObject({ newest: { robbed: 0 } })
      await sql`update nodes set beat = beat - 5 where inc = ${inc}`.execute((await looking()).writer)
      await expect.poll(() => losses.length, { timeout: 5_000 }).toBe(before + 1)
      expect(losses.at(-1)?.kind).toBe('tail')
      expect(await host.nodes.pulse(inc, 1)).toMatchObject({ kind: 'beating' })
    })

    it('[LIFE-5] a node whose row the database lost reports the loss, and learns that it is gone', async () => {
      const { host, inc } = await node('a')
      const before = losses.length
      await expect.poll(() => host.nodes.pulse(inc, 1)).toMatchObject({ newest: { robbed: 0 } })
      await sql`delete from nodes where inc = ${inc}`.execute((await looking()).writer)
      await expect.poll(() => host.nodes.pulse(inc, 1), { timeout: 5_000 }).toEqual({ kind: 'gone' })
      // The loss is reported after a check that no other process has taken the row.
      await expect.poll(() => losses.length, { timeout: 5_000 }).toBe(before + 1)
    })

    it('[LIFE-25] a list on one node shows a document that another node has just written', async () => {
      const [{ host: a }, { host: b }] = [await node('a'), await node('b')]
      const listed = async (host: StorageHost) => (await host.documents.list('lists')).map(({ id }) => id)
      for (const id of ['1', '2', '3']) {
        written(await a.documents.write(creation({ workspaceId: 'lists', id })))
        expect((await listed(b)).includes(id)).toBe(true)
      }
      const { rows } = await sql`select 1 from store_facts where name = 'changed_beside'`.execute((await looking()).reader)
      expect(rows).toEqual([])
    })
  })

  it('[LIFE-26] the rows of nodes that ended long ago are removed when another node starts', async () => {
    const { writer } = await looking()
    const longAgo = Date.now() - 2 * 3_600_000
    await sql`insert into nodes (node_id, mode, link_url, program, state, beat, lease_until_ms, robbed)
      values ('old', 'cluster', 'ws://10.0.0.9:9879', '1', 'up', 7, ${longAgo}, 0)`.execute(writer)
    const own = { inc: null }
    const database = await openPostgres(url, 0, silentLogger, { node: own })
    const nodes = database.nodes({ onLoss: () => undefined })
    const registered = await nodes.register({ nodeId: 'new', linkUrl: 'ws://10.0.0.1:9879', program: '1' })
    expect(registered).toEqual({ kind: 'registered', inc: own.inc })
    expect((await sql`select node_id from nodes`.execute(writer)).rows).toEqual([{ node_id: 'new' }])
    await database.close()
    await tool.close()
  })
})
