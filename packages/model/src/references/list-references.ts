import type { DocumentBody } from '../body.ts'
import { type JsonObject, memberOf, setMember } from '../json.ts'

export interface ReferenceLibrary {
  /** CSL items in display order, each with its id; unknown members are as they were stored. */
  readonly references: readonly JsonObject[]
  readonly style: string
}

/** The style of a document that names none. */
const DEFAULT_STYLE = 'apa'

/** The reference library of a document; one that cannot be read shows as empty. [REF-1, BODY-3] */
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

/** The key of the library is what citations name. */
function withId(item: JsonObject, id: string): JsonObject {
  if (memberOf(item, 'id') === id) return item
  return Object.hasOwn(item, 'id') ? setMember(item, 'id', id) : { id, ...item }
}
