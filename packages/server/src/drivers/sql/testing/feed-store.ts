import type { OpenFeedStore } from '../../../feed/feed-store.contract.ts'
import { silentLogger } from '../../../kernel/log.ts'
import type { OwnNode } from '../engine.ts'
import type { FeedEntry } from '../feed-writing.ts'
import { openPostgres } from '../postgres.ts'
import { openSqliteBeside } from '../sqlite.ts'
import { openHost } from './store-under-test.ts'

/** Opens a store as one of several nodes does, in the calling thread. */
export async function openFeedStore(
  url: string,
  onTold: (entries: readonly FeedEntry[]) => void = () => undefined,
  node: OwnNode = { inc: null },
): Promise<OpenFeedStore & Awaited<ReturnType<typeof openHost>>> {
  const host = await openHost(url, { onTold, node })
  return {
    ...host,
    async addForeign({ kind, payload }) {
      const database = url.startsWith('sqlite:')
        ? openSqliteBeside(url.slice('sqlite:'.length))
        : await openPostgres(url, 0, silentLogger, { connections: 1, node: { inc: null } })
      await database.writer
        .insertInto('change_feed')
        .values({
          at_ms: database.engine.nowMs,
          workspace_id: 'w',
          key: 1,
          kind,
          actor: '',
          seq: 0,
          origin: '?',
          payload: Buffer.from(payload),
        })
        .execute()
      await database.close()
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  }
}
