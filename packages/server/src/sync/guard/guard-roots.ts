import * as Y from 'yjs'

/** The type that a struct is in: its nesting depth below a root, and whether the type itself is a prose fragment. */
export interface Container {
  readonly depth: number
  readonly fragment: boolean
}

const NOWHERE: Container = { depth: 0, fragment: false }
const IN_FRAGMENT: Container = { depth: 0, fragment: true }
const ENOUGH = 130

const MAP_ROOTS = new Set(['metadata', 'canvasPages', 'prosePages', 'references', 'fields'])
const ARRAY_ROOTS = new Set(['canvasPageOrder', 'prosePageOrder', 'referenceOrder', 'fieldOrder'])

/** Returns the type that a root of the document layout must have, or `null` for an unknown root, which may have any type. [YDOC-1, WS-34] */
export function rootUse(name: string): 'map' | 'array' | 'fragment' | null {
  if (MAP_ROOTS.has(name) || name.startsWith('shapes:')) return 'map'
  if (ARRAY_ROOTS.has(name) || name.startsWith('shapeOrder:')) return 'array'
  return name.startsWith('prose:') ? 'fragment' : null
}

/** Remembers which roots are prose fragments, because a root that first appeared in this turn has no type of its own yet. */
export class RootUses {
  private readonly fragments = new WeakMap<object, boolean>()

  isFragment(doc: Y.Doc, root: object): boolean {
    if (!this.fragments.has(root)) for (const [name, type] of doc.share) this.fragments.set(type, rootUse(name) === 'fragment')
    return this.fragments.get(root) ?? false
  }
}

/** Number of roots of a document that have content. */
export function filledRoots(doc: Y.Doc): number {
  let count = 0
  for (const root of doc.share.values()) if (isFilled(root)) count++
  return count
}

/** Whether a root has content. Reading a root creates it without content; such a root is not stored and is gone after the next load. */
export function isFilled(root: Pick<Y.AbstractType<unknown>, '_start' | '_map'> | undefined): boolean {
  return root !== undefined && (root._start !== null || root._map.size > 0)
}

/** Gives the roots of YDOC-1 their types, so that their content is read correctly. Roots that already have a type keep it. */
export function typeRoots(doc: Y.Doc): void {
  for (const name of Array.from(doc.share.keys())) {
    const use = rootUse(name)
    if (use === 'map') doc.getMap(name)
    else if (use === 'array') doc.getArray(name)
    else if (use === 'fragment') doc.getXmlFragment(name)
  }
}

/** Returns the type that a struct of the document is in. */
export function roomPlace(doc: Y.Doc, client: number, clock: number, roots: RootUses): Container {
  const struct = structAt(doc, client, clock)
  if (!(struct instanceof Y.Item)) return NOWHERE
  const type = struct.parent as Y.AbstractType<unknown> | null
  if (type === null) return NOWHERE
  const holder = type._item
  if (holder === null) return roots.isFragment(doc, type) ? IN_FRAGMENT : NOWHERE
  let depth = 0
  for (let item: Y.Item | null = holder; item !== null && depth < ENOUGH; depth++) {
    const above = item.parent as Y.AbstractType<unknown> | null
    item = above === null ? null : above._item
  }
  return { depth, fragment: false }
}

/** Returns the struct of a document that contains this clock of a client. */
export function structAt(doc: Y.Doc, client: number, clock: number): Y.Item | Y.GC | undefined {
  const structs = doc.store.clients.get(client)
  if (structs === undefined) return undefined
  let low = 0
  let high = structs.length - 1
  // Fast path: typing usually refers to the client's last struct.
  if ((structs[high] as Y.Item | Y.GC).id.clock <= clock) return structs[high]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((structs[middle] as Y.Item | Y.GC).id.clock <= clock) low = middle
    else high = middle - 1
  }
  return structs[low]
}
