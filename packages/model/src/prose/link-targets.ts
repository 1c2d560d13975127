import type { DocumentBody } from '../body.ts'
import type { ContentLink, Edited, Warning } from '../edit.ts'
import { likelyMeant, nearestNames } from '../nearest.ts'
import { quote } from '../quote.ts'
import { idsOf } from './blocks.ts'
import type { ProseNode, ProseTree } from './node.ts'
import { pageTree } from './page.ts'
import { readRelayLink, writeRelayLink, type RelayLink } from './relay-links.ts'

/** So many links of a call are checked. [AG-84] */
const mostLinks = 50
/** So many dead links of one look get similar names, since each one is compared with many. */
const mostNearest = 10

/** The different links of a page to documents of the relay, in order, as many as are checked. */
export function linksIn(tree: ProseTree): readonly string[] {
  const found = new Set<string>()
  const walk = (nodes: readonly ProseNode[]): void => {
    for (const node of nodes) {
      if (found.size === mostLinks) return
      if (node.type !== 'text') walk(node.content)
      else
        for (const { type, attrs } of node.marks)
          if (type === 'link' && readRelayLink(attrs['href'] ?? '') !== null) found.add(attrs['href'] as string)
    }
  }
  walk(tree)
  return [...found]
}

/** The one warning of a link whose target does not exist, or may not be read: it does not tell which. [AG-84] */
export function deadLink({ href, step }: ContentLink, nearest: readonly RelayLink[]): Warning {
  const reason = `the link ${quote(href)} leads to no document, page or block that you may read; it was kept`
  return {
    reason,
    ...(nearest.length > 0 && { nearest: nearest.map(writeRelayLink) }),
    ...(step !== undefined && { step }),
  }
}

/** Per link of one document: `null` when its page and block are there, else links to similar ones that are. */
export function missingTargets(body: DocumentBody, links: readonly RelayLink[]): readonly (readonly RelayLink[] | null)[] {
  const pages = pagesOf(body)
  let compared = 0
  return links.map((link) => {
    const { docId, pageId, blockId } = link
    const asked = pageId === undefined ? [...pages.values()] : [pages.get(pageId)].filter((page) => page !== undefined)
    if (asked.length > 0 && (blockId === undefined || asked.some(({ has }) => has(blockId)))) return null
    if (++compared > mostNearest) return []
    if (asked.length === 0) return nearestNames(pageId ?? '', pages.keys()).map((near) => ({ docId, pageId: near }))
    const blocks = likelyNames(blockId ?? '', new Set(asked.flatMap(({ ids }) => [...ids()])))
    return blocks.map((near) => ({ ...link, blockId: near }))
  })
}

/** The nearest names, without those that are so by chance. */
export function likelyNames(name: string, candidates: Iterable<string>): readonly string[] {
  return nearestNames(name, candidates).filter((candidate) => likelyMeant(name, [candidate]) !== null)
}

interface LinkedPage {
  has(id: string): boolean
  ids(): ReadonlySet<string>
}

/** All pages by id; what can be linked to is a block of prose, or a shape. */
function pagesOf(body: DocumentBody): ReadonlyMap<string, LinkedPage> {
  const pages = new Map<string, LinkedPage>()
  const add = (id: string, read: () => readonly string[], mayHave: (id: string) => boolean): void => {
    let known: ReadonlySet<string> | undefined
    const ids = () => (known ??= new Set(read()))
    pages.set(id, { ids, has: (asked) => mayHave(asked) && ids().has(asked) })
  }
  for (const { id, shapes } of body.canvas.pages) {
    add(
      id,
      () => shapes.map((shape) => shape.id),
      () => true,
    )
  }
  for (const page of body.prose.pages) {
    add(
      page.id,
      () => idsOf(pageTree(page).tree),
      (id) => /[&<>"']/.test(id) || page.content.includes(id),
    )
  }
  return pages
}

/** Checks the links of an edit to its own document, as the edit leaves it; those to others stay in `links`. [AG-84] */
export function withOwnLinksChecked<R>(edited: Edited<R>, docId: string): Edited<R> {
  const { links = [], ...others } = edited
  const read = links.slice(0, mostLinks).map((link) => ({ link, target: readRelayLink(link.href) as RelayLink }))
  const own = read.filter(({ target }) => target.docId === docId)
  const other = read.filter(({ target }) => target.docId !== docId)
  const missing =
    own.length === 0
      ? []
      : missingTargets(
          edited.body,
          own.map(({ target }) => target),
        )
  const dead = own.flatMap(({ link }, i) => {
    const nearest = missing[i] ?? null
    return nearest === null ? [] : [deadLink(link, nearest)]
  })
  return {
    ...others,
    warnings: dead.length === 0 ? edited.warnings : [...edited.warnings, ...dead],
    ...(other.length > 0 && { links: other.map(({ link }) => link) }),
  }
}
