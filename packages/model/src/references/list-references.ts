import type { DocumentBody } from '../body.ts'
import { type JsonObject, memberOf, setMember } from '../json.ts'

export interface ReferenceLibrary {
  /** CSL items in display order, each with its id; unknown members are as stored. */
  readonly references: readonly JsonObject[]
  readonly style: string
}

/** The citation style of a document that names no style. */
const DEFAULT_STYLE = 'apa'

/** Returns the reference library of a document. A library that cannot be read shows as empty. [REF-1, BODY-3] */
export function listReferences(body: DocumentBody): ReferenceLibrary {
  if (body.references?.kind !== 'references') return { references: [], style: DEFAULT_STYLE }
  const { items, order, members } = body.references
  const style = memberOf(members, 'style')
  return {
    references: order.flatMap((id) => {
      const item = items.get(id)
      return item === undefined ? [] : [withId(item, id)]
    }),
    style: typeof style === 'string' && style !== '' ? style : DEFAULT_STYLE,
  }
}

/** Sets the member `id` of an item to its key in the library, since citations name that key. */
function withId(item: JsonObject, id: string): JsonObject {
  if (memberOf(item, 'id') === id) return item
  return Object.hasOwn(item, 'id') ? setMember(item, 'id', id) : { id, ...item }
}
