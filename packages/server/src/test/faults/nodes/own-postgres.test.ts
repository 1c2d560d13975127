import pg from 'pg'
import { expect, it } from 'vitest'
import { freePort } from './cluster.ts'
import { startOwnPostgres } from './own-postgres.ts'

it('[LIFE-26] after a failover the server has every commit before the copy, and none after it', async () => {
  await using server = await startOwnPostgres(await freePort())
  const numbers = async (): Promise<readonly number[]> => {
    const { rows } = await ask<{ n: number }>(server.url, 'select n from numbers order by n')
    return rows.map(({ n }) => n)
  }
  await ask(server.url, 'create table numbers (n integer)')
  await ask(server.url, 'insert into numbers values (1), (2)')
  await server.copy()
  await ask(server.url, 'insert into numbers values (3)')
  await server.restartImmediately()
  expect(await numbers()).toEqual([1, 2, 3])
  await server.failOver()
  expect(await numbers()).toEqual([1, 2])
  await ask(server.url, 'insert into numbers values (4)')
  expect(await numbers()).toEqual([1, 2, 4])
})

async function ask<T extends pg.QueryResultRow>(url: string, query: string): Promise<pg.QueryResult<T>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query<T>(query)
  } finally {
    await client.end()
  }
}
