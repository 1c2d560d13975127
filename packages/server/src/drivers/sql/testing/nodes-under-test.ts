import { sql } from 'kysely'
import type { NodeStores, OpenNodes } from '../../../sync/ownership.contract.ts'
import { LEASE_MS } from '../../../nodes/registry.port.ts'
import type { Database, OwnNode } from '../engine.ts'
import type { Stores } from '../stores.ts'

/** Rows of nodes that have no process and so no heartbeats. */
export interface NodeRows extends Omit<OpenNodes, 'join'> {
  /** Adds a node whose last heartbeat is now. Returns its incarnation. */
  register(): Promise<number>
}

/** Uses a separate connection to the store, which is closed at the end. */
export function nodeRows({ writer, engine, close }: Pick<Database, 'writer' | 'engine' | 'close'>): NodeRows {
  const nodes = (inc: number) => writer.updateTable('nodes').where('inc', '=', inc)
  return {
    async register() {
      const row = await writer
        .insertInto('nodes')
        .values({
          node_id: 'a node of a test',
          mode: 'cluster',
          link_url: null,
          program: 'test',
          state: 'up',
          beat: 1,
          lease_until_ms: sql<number>`${engine.nowMs} + ${sql.lit(LEASE_MS)}`,
          robbed: 0,
        })
        .returning('inc')
        .executeTakeFirstOrThrow()
      return row.inc
    },
    async silence(inc, ms) {
      const leaseUntilMs = sql<number>`${engine.nowMs} + ${sql.lit(LEASE_MS - ms)}`
      await nodes(inc).set({ lease_until_ms: leaseUntilMs }).execute()
    },
    async leave(inc) {
      await writer.deleteFrom('nodes').where('inc', '=', inc).execute()
    },
    async robbedOf(inc) {
      return (await writer.selectFrom('nodes').select('robbed').where('inc', '=', inc).executeTakeFirstOrThrow()).robbed
    },
    async dateBackTakeover(key, ms) {
      await writer
        .updateTable('takeovers')
        .set({ taken_at_ms: sql<number>`${engine.nowMs} - ${sql.lit(ms)}` })
        .where('key', '=', key)
        .execute()
    },
    [Symbol.asyncDispose]: () => close(),
  }
}

/** Returns the stores of one process such that each call acts as node `inc`. */
export function storesOfNode(stores: Stores, own: OwnNode, inc: number): NodeStores {
  const become = <T extends object>(verbs: T): T =>
    new Proxy(verbs, {
      get: (target, name) => {
        own.inc = inc
        return target[name as keyof T]
      },
    })
  return {
    inc,
    ownership: become(stores.ownership),
    documents: become(stores.documents),
    updates: become(stores.updates),
    recovery: become(stores.recovery),
  }
}
