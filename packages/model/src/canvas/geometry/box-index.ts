import { type Bounds, encloses, overlaps, unite } from './bounds.ts'

interface Indexed {
  readonly bounds: Bounds
}

/** Entries, or nodes with entries, that lie near each other. */
interface Node<T> {
  /** The rectangle around all entries of the node. */
  readonly bounds: Bounds
  /** The area that all entries of the node share. When there is none, two opposite sides have changed places, so that `common` encloses nothing. */
  readonly common: Bounds
  readonly nodes: readonly Node<T>[]
  readonly entries: readonly T[]
}

const mostInNode = 8

/** An index of rectangles, a packed R-tree. Finds the rectangles in a part of a page without looking at all rectangles. */
export class BoxIndex<T extends Indexed> {
  readonly #root: Node<T> | null

  constructor(entries: readonly T[]) {
    let level: readonly Node<T>[] = packed(entries).map((near) => {
      return { bounds: around(near), common: inAll(near.map(({ bounds }) => bounds)), nodes: [], entries: near }
    })
    while (level.length > 1)
      level = packed(level).map((near) => {
        return { bounds: around(near), common: inAll(near.map(({ common }) => common)), nodes: near, entries: [] }
      })
    this.#root = level[0] ?? null
  }

  /** Calls `visit` with each entry that shares some area with `area`, in no particular order, until `visit` returns false. */
  visit(area: Bounds, visit: (entry: T) => boolean): void {
    this.#visit(
      ({ bounds }) => overlaps(bounds, area),
      (bounds) => overlaps(bounds, area),
      visit,
    )
  }

  /** Like `visit`, but skips entries that enclose the whole of `area`, without looking at each of these entries. */
  visitCut(area: Bounds, visit: (entry: T) => boolean): void {
    this.#visit(
      ({ bounds, common }) => overlaps(bounds, area) && !encloses(common, area),
      (bounds) => overlaps(bounds, area) && !encloses(bounds, area),
      visit,
    )
  }

  #visit(mayHold: (node: Node<T>) => boolean, isMeant: (bounds: Bounds) => boolean, visit: (entry: T) => boolean): void {
    const open = this.#root === null ? [] : [this.#root]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (!mayHold(node)) continue
      for (const inner of node.nodes) open.push(inner)
      for (const entry of node.entries) if (isMeant(entry.bounds) && !visit(entry)) return
    }
  }
}

/** Groups entries that lie near each other: cuts them into columns, and each column into groups from top to bottom. */
function packed<T extends Indexed>(entries: readonly T[]): readonly (readonly T[])[] {
  const columns = Math.ceil(Math.sqrt(Math.ceil(entries.length / mostInNode)))
  const inColumn = Math.ceil(entries.length / Math.max(columns, 1))
  const sideways = entries.toSorted((a, b) => a.bounds.left - b.bounds.left)
  return chunks(sideways, inColumn).flatMap((column) =>
    chunks(
      column.toSorted((a, b) => a.bounds.top - b.bounds.top),
      mostInNode,
    ),
  )
}

function chunks<T>(list: readonly T[], length: number): readonly (readonly T[])[] {
  const found: (readonly T[])[] = []
  for (let i = 0; i < list.length; i += length) found.push(list.slice(i, i + length))
  return found
}

function around(entries: readonly Indexed[]): Bounds {
  let bounds: Bounds | null = null
  for (const entry of entries) bounds = unite(bounds, entry.bounds)
  return bounds as Bounds
}

function inAll(all: readonly Bounds[]): Bounds {
  return {
    left: Math.max(...all.map(({ left }) => left)),
    top: Math.max(...all.map(({ top }) => top)),
    right: Math.min(...all.map(({ right }) => right)),
    bottom: Math.min(...all.map(({ bottom }) => bottom)),
  }
}
