import { truncateSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { creation, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { describeSearchIndexContract, type OpenSearchIndex } from '../../../search/search-index.contract.ts'
import { postgresSource } from '../postgres-source.ts'
import { emptyPostgres } from '../testing/emptied-postgres.ts'
import { onPostgres } from '../testing/on-postgres.ts'
import { inProcess, temporaryStore } from '../testing/store-under-test.ts'
import { dropSearchIndex } from './drop-index.ts'
import { openSearchIndex } from './search-index.ts'
import { indexFolder, indexPath } from './sqlite-index-file.ts'

const WORD = { terms: [{ kind: 'word', word: 'indexed', alsoLonger: true }], sequence: ['indexed'] } as const

async function opened(
  url: string,
  damage: OpenSearchIndex['damage'],
  finish: () => void = () => undefined,
): Promise<OpenSearchIndex> {
  const store = await inProcess(url)
  let index = openSearchIndex({ url, log: silentLogger })
  return {
    documents: store.documents,
    get index() {
      return index
    },
    drop: () => dropSearchIndex(url, silentLogger),
    damage,
    async reopen() {
      await index[Symbol.asyncDispose]()
      index = openSearchIndex({ url, log: silentLogger })
    },
    async [Symbol.asyncDispose]() {
      await index[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      finish()
    },
  }
}

describeSearchIndexContract('SQLite', () => {
  const { url, path, remove } = temporaryStore()
  const damage = (workspaceId: string): void => {
    const file = indexPath(indexFolder(path), workspaceId)
    truncateSync(`${file}-wal`)
    writeFileSync(file, 'no database any more '.repeat(2_000))
  }
  return opened(url, damage, remove)
})

await onPostgres((url) => {
  describeSearchIndexContract('PostgreSQL', async () => {
    await emptyPostgres(url)
    return opened(url, null)
  })

  it('[AG-64] a backup of a database contains no table of the search index', async () => {
    await emptyPostgres(url)
    await using store = await opened(url, null)
    const head = written(await store.documents.write(creation({ workspaceId: 'w', id: 'd' }, '{"name":"indexed"}')))
    await store.index.refresh([head])
    const request = { workspaceId: 'w', documents: [head], query: WORD, most: 10, withinMs: 60_000 }
    expect((await store.index.find(request)).groups).toHaveLength(1)
    await using source = await postgresSource(url, silentLogger)
    const tables = await source.atOneMoment(async ({ layout }) => layout.tables.map(({ name }) => name))
    expect(tables).toContain('documents')
    expect(tables.filter((name) => name.includes('search'))).toEqual([])
  })
})
