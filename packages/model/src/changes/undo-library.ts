import type { Fields, Opaque, References } from '../body.ts'
import { equalJson, isJsonObject, type JsonObject, memberOf, omitMembers } from '../json.ts'
import { quote } from '../quote.ts'
import type { ItemChange, LibraryChange } from './change-set.ts'
import { jsonHash } from './shape-hashes.ts'
import { type Kept, undoList } from './undo-list.ts'

type Library = References | Fields | Opaque | undefined

export function undoLibrary<L extends Library>(given: L, change: LibraryChange | undefined, kept: Kept[]): L {
  const isThere = given !== undefined && given.kind !== 'opaque'
  const frame = change?.frame as unknown as References | Fields | undefined
  const library: References | Fields | undefined = isThere ? given : frame && { ...frame, items: new Map(), order: [] }
  if (change === undefined || library === undefined) return given
  const list = library.order.map((id) => ({ id, value: library.items.get(id) as JsonObject }))
  const values = new Map(library.items)
  const text = (item: { readonly value: JsonObject }) => shownItem(item.value)
  for (const { id, before, after, from } of change.items) {
    const value = values.get(id)
    if (before === undefined || after === undefined || from !== undefined) continue
    if (value !== undefined && jsonHash(value) === after) values.set(id, before)
    else kept.push({ id: quote(id), ...(value === undefined ? { text: '', isGone: true } : { text: shownItem(value) }) })
  }
  const items = undoList<(typeof list)[number], ItemChange>(
    {
      list,
      entries: change.items,
      hash: ({ value }) => jsonHash(value),
      text,
      restored: ({ id, before }) => ({ id, value: before as JsonObject }),
    },
    kept,
  )
  const isSame = items === list && [...values].every(([id, value]) => library.items.get(id) === value)
  if (isSame && isThere) return given
  if (items.length === 0 && 'was' in change && hasMembersOfCall(library, change.was))
    return (change.was === null ? undefined : { kind: 'opaque', value: change.was }) as L
  const order = items.map(({ id }) => id)
  return { ...library, items: new Map(items.map(({ id, value }) => [id, values.get(id) ?? value])), order } as Library as L
}

/**
 * Whether a library that a call created has only the members of the value that stood in its place before. Somebody else added any other
 * member since, for example by choosing a citation style, and then the library stays. [AG-71]
 */
function hasMembersOfCall({ kind, members }: References | Fields, was: LibraryChange['was']): boolean {
  const own = kind === 'references' ? (['items', 'itemOrder'] as const) : (['fields', 'order'] as const)
  return equalJson(members, isJsonObject(was) ? omitMembers(was, ...own) : {})
}

export function shownItem(value: JsonObject): string {
  const shown = ['title', 'value', 'name'].map((name) => memberOf(value, name)).find((member) => typeof member === 'string')
  return quote((shown as string | undefined) ?? '')
}
