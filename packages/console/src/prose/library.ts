import * as Y from 'yjs'

/** A reference of the document, as a list shows it. */
export interface ReferenceRow {
  readonly id: string
  /** For example `Knuth 1974`. */
  readonly short: string
  readonly title: string
}

type Entry = Readonly<Record<string, unknown>>

/** The fields and references of a document, which its chips show. */
export class Library {
  readonly #ydoc: Y.Doc
  readonly #listeners = new Set<() => void>()
  readonly #changed = () => {
    for (const listener of this.#listeners) listener()
  }

  constructor(ydoc: Y.Doc) {
    this.#ydoc = ydoc
    for (const name of ['fields', 'references']) ydoc.getMap(name).observe(this.#changed)
  }

  destroy(): void {
    for (const name of ['fields', 'references']) this.#ydoc.getMap(name).unobserve(this.#changed)
    this.#listeners.clear()
  }

  /** Calls the listener when a field or reference changes, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The names of the fields, in their order. [YDOC-4] */
  get fieldNames(): readonly string[] {
    return this.#ordered('fields', 'fieldOrder')
  }

  /** Returns the value of a field as text; `undefined` when there is no such field. */
  fieldValue(name: string): string | undefined {
    const entry = this.#ydoc.getMap('fields').get(name)
    if (entry === undefined) return undefined
    const value = plain(entry)['value']
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : ''
  }

  /** Sets a field; a new field goes to the end of the order. */
  setField(name: string, value: string): void {
    const fields = this.#ydoc.getMap('fields')
    this.#ydoc.transact(() => {
      if (!this.fieldNames.includes(name)) this.#ydoc.getArray('fieldOrder').push([name])
      fields.set(name, { ...plain(fields.get(name)), name, value })
    })
  }

  get references(): readonly ReferenceRow[] {
    return this.#ordered('references', 'referenceOrder').map((id) => this.#row(id))
  }

  /** Returns a reference; `undefined` when there is no such one. */
  reference(id: string): ReferenceRow | undefined {
    return this.#ydoc.getMap('references').has(id) ? this.#row(id) : undefined
  }

  #row(id: string): ReferenceRow {
    const item = plain(this.#ydoc.getMap('references').get(id))
    const authors = (Array.isArray(item['author']) ? item['author'] : []).map((each) => {
      const { family, literal, given } = plain(each)
      return [family, literal, given].find((part) => typeof part === 'string' && part !== '') as string | undefined
    })
    const named = authors.filter((name) => name !== undefined)
    const dates = plain(item['issued'])['date-parts']
    const year: unknown = Array.isArray(dates) && Array.isArray(dates[0]) ? dates[0][0] : undefined
    const who = named.length > 2 ? `${named[0]} et al.` : named.join(' & ')
    const title = typeof item['title'] === 'string' ? item['title'] : ''
    const short = [who, ['string', 'number'].includes(typeof year) ? String(year) : ''].filter((part) => part !== '').join(' ')
    return { id, short: short === '' ? title.slice(0, 40) || id : short, title }
  }

  /** Returns the ids of entries in their order, without repeated ids and ids of no entry. Ids that the order lacks come last. */
  #ordered(root: string, order: string): readonly string[] {
    const entries = this.#ydoc.getMap(root)
    const listed = this.#ydoc
      .getArray(order)
      .toArray()
      .filter((id): id is string => typeof id === 'string' && entries.has(id))
    return [...new Set([...listed, ...entries.keys()])]
  }
}

function plain(value: unknown): Entry {
  const json: unknown = value instanceof Y.AbstractType ? (value as Y.Map<unknown>).toJSON() : value
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Entry) : {}
}
