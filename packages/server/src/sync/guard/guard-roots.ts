import * as Y from 'yjs'

/** Where a struct sits: nesting of its type below a root, and whether that type is a prose fragment itself. */
export interface Container {
  readonly depth: number
  readonly fragment: boolean
}

const NOWHERE: Container = { depth: 0, fragment: false }
const IN_FRAGMENT: Container = { depth: 0, fragment: true }
const ENOUGH = 130

const MAP_ROOTS = new Set(['metadata', 'canvasPages', 'prosePages', 'references', 'fields'])
const ARRAY_ROOTS = new Set(['canvasPageOrder', 'prosePageOrder', 'referenceOrder', 'fieldOrder'])

/** What a root of the document layout must be used as; `null` for an unknown root, which may be anything. [YDOC-1, WS-34] */
export function rootUse(name: string): 'map' | 'array' | 'fragment' | null {
  if (MAP_ROOTS.has(name) || name.startsWith('shapes:')) return 'map'
  if (ARRAY_ROOTS.has(name) || name.startsWith('shapeOrder:')) return 'array'
  return name.startsWith('prose:') ? 'fragment' : null
}

/** Gives the roots their types, so that their content is read as what it is; roots that have one keep it. */
export function typeRoots(doc: Y.Doc): void {
  for (const name of Array.from(doc.share.keys())) {
    const use = rootUse(name)
    if (use === 'map') doc.getMap(name)
    else if (use === 'array') doc.getArray(name)
    else if (use === 'fragment') doc.getXmlFragment(name)
  }
}

/** Where a struct that the document holds sits. */
export function roomPlace(doc: Y.Doc, client: number, clock: number): Container {
  const struct = structAt(doc, client, clock)
  if (!(struct instanceof Y.Item)) return NOWHERE
  const type = struct.parent as Y.AbstractType<unknown> | null
  if (type === null) return NOWHERE
  const holder = type._item
  if (holder === null) return type.constructor === Y.XmlFragment ? IN_FRAGMENT : NOWHERE
  let depth = 0
  for (let item: Y.Item | null = holder; item !== null && depth < ENOUGH; depth++) {
    const above = item.parent as Y.AbstractType<unknown> | null
    item = above === null ? null : above._item
  }
  return { depth, fragment: false }
}

function structAt(doc: Y.Doc, client: number, clock: number): Y.Item | Y.GC | undefined {
  const structs = doc.store.clients.get(client)
  if (structs === undefined) return undefined
  let low = 0
  let high = structs.length - 1
  // Typing goes on at the end of the own structs.
  if ((structs[high] as Y.Item | Y.GC).id.clock <= clock) return structs[high]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((structs[middle] as Y.Item | Y.GC).id.clock <= clock) low = middle
    else high = middle - 1
  }
  return structs[low]
}
