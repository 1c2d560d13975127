import type { Compilable, CompiledQuery, DialectAdapter } from 'kysely'
import type { Connection } from './tables.ts'

/** A placeholder for a value that is not known when the text of a query is built. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

type Values = Readonly<Record<string, unknown>>

/** Runs the query with these values, inside or outside a transaction; resolves with its rows. */
export type CompiledOnce<V extends Values, R> = (db: Connection, values: V) => Promise<readonly R[]>

/**
 * Returns a query whose text is built once for each engine. Building a text takes several times as long as running it in SQLite, so the queries of
 * frequent calls are made with this function.
 *
 * `build` gets placeholders in place of the values. It may only pass them on as values of the query: the text must be the same for all values, so a
 * list for `in` or an optional condition does not work.
 */
export function compiledOnce<V extends Values, R>(build: (db: Connection, values: V) => Compilable<R>): CompiledOnce<V, R> {
  const texts = new WeakMap<DialectAdapter, CompiledQuery<R>>()
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as V
  return async (db, values) => {
    const { adapter } = db.getExecutor()
    let query = texts.get(adapter)
    if (query === undefined) {
      query = build(db, placeholders).compile()
      texts.set(adapter, query)
    }
    const parameters = query.parameters.map((given) => (given instanceof Placeholder ? values[given.name] : given))
    const asked: CompiledQuery<R> = { ...query, parameters }
    return (await db.executeQuery(asked)).rows
  }
}
