import type { LiveDocument } from '@docrelay/client'

type YDoc = LiveDocument['ydoc']

/** A page of a document as the tabs show it. */
export interface PageEntry {
  readonly id: string
  readonly name: string
  readonly kind: 'prose' | 'canvas'
}

const ROOTS = {
  prose: { pages: 'prosePages', order: 'prosePageOrder' },
  canvas: { pages: 'canvasPages', order: 'canvasPageOrder' },
} as const
const KINDS = ['prose', 'canvas'] as const

export function titleOf(ydoc: YDoc): string {
  const title = ydoc.getMap('metadata').get('title')
  return typeof title === 'string' ? title : ''
}

export function setTitle(ydoc: YDoc, title: string): void {
  ydoc.getMap('metadata').set('title', title)
}

/** Returns the pages, text pages first. Repeated ids and ids of no page in an order are skipped; pages that the order lacks come last. [YDOC-1] */
export function pagesOf(ydoc: YDoc): readonly PageEntry[] {
  return KINDS.flatMap((kind) => {
    const pages = ydoc.getMap<unknown>(ROOTS[kind].pages)
    return idsOf(ydoc, kind).map((id) => {
      const { name } = (pages.get(id) ?? {}) as { readonly name?: unknown }
      return { id, kind, name: typeof name === 'string' ? name : '' }
    })
  })
}

export function addPage(ydoc: YDoc, { id, name, kind }: PageEntry): void {
  const { pages, order } = ROOTS[kind]
  ydoc.transact(() => {
    ydoc.getMap(pages).set(id, { id, name, order: idsOf(ydoc, kind).length })
    ydoc.getArray(order).push([id])
  })
}

export function renamePage(ydoc: YDoc, { id, kind }: PageEntry, name: string): void {
  const pages = ydoc.getMap<object>(ROOTS[kind].pages)
  pages.set(id, { ...pages.get(id), id, name })
}

/** Moves a page by one place among the pages of its kind; `step` is -1 or 1. */
export function movePage(ydoc: YDoc, { id, kind }: PageEntry, step: -1 | 1): void {
  const ids = idsOf(ydoc, kind)
  const at = ids.indexOf(id)
  const to = at + step
  if (at < 0 || to < 0 || to >= ids.length) return
  const moved = ids.toSpliced(at, 1).toSpliced(to, 0, id)
  const order = ydoc.getArray<string>(ROOTS[kind].order)
  ydoc.transact(() => {
    order.delete(0, order.length)
    order.push(moved)
  })
}

export function deletePage(ydoc: YDoc, { id, kind }: PageEntry): void {
  const order = ydoc.getArray<string>(ROOTS[kind].order)
  ydoc.transact(() => {
    ydoc.getMap(ROOTS[kind].pages).delete(id)
    for (let at = order.length - 1; at >= 0; at--) if (order.get(at) === id) order.delete(at)
  })
}

/** Calls `changed` whenever the title or a list of pages changes; the returned function removes the listener. */
export function watchPages(ydoc: YDoc, changed: () => void): () => void {
  const roots = [
    ydoc.getMap('metadata'),
    ...KINDS.flatMap((kind) => [ydoc.getMap(ROOTS[kind].pages), ydoc.getArray(ROOTS[kind].order)]),
  ]
  for (const root of roots) root.observe(changed)
  return () => {
    for (const root of roots) root.unobserve(changed)
  }
}

function idsOf(ydoc: YDoc, kind: PageEntry['kind']): readonly string[] {
  const pages = ydoc.getMap<unknown>(ROOTS[kind].pages)
  const ordered = ydoc.getArray<string>(ROOTS[kind].order).toArray()
  return [...new Set([...ordered, ...pages.keys()])].filter((id) => pages.has(id))
}
