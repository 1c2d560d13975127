import type { DocumentBody } from '../body.ts'
import type { ContentLink, Edited, Warning } from '../edit.ts'
import { likelyMeant, nearestNames } from '../nearest.ts'
import { quote } from '../quote.ts'
import { blockId as idOf, elementsOf, idsOf } from './blocks.ts'
import type { ProseNode, ProseTree } from './node.ts'
import { pageTree } from './page.ts'
import { titleText } from './text.ts'
import { relativeEnd } from './relative-links.ts'
import { readRelayLink, writeRelayLink, type RelayLink } from './relay-links.ts'

/** The most links of a call that are checked. [AG-84] */
const mostLinks = 50
/** The most dead links of a call for which similar names are searched, since each search compares many names. */
const mostNearest = 10

/** Returns the links of a page to check, in order and each once: links to documents of the relay, and relative links. */
export function linksIn(tree: ProseTree): readonly string[] {
  const found = new Set<string>()
  const walk = (nodes: readonly ProseNode[]): void => {
    for (const node of nodes) {
      if (found.size === mostLinks) return
      if (node.type !== 'text') walk(node.content)
      else
        for (const { type, attrs } of node.marks)
          if (type === 'link' && isChecked(attrs['href'] ?? '')) found.add(attrs['href'] as string)
    }
  }
  walk(tree)
  return [...found]
}

function isChecked(href: string): boolean {
  return readRelayLink(href) !== null || relativeEnd(href) !== null
}

/** The warning for a relative link, which leads nowhere in the relay, with the link `meant` to write instead. [AG-85] */
export function relativeLink({ href, step }: ContentLink, meant: RelayLink): Warning {
  const reason = `the relative link ${quote(href)} was kept and leads to nothing in the relay; what it names is ${writeRelayLink(meant)}`
  return { reason, ...(step !== undefined && { step }) }
}

/** Returns the ids of the headings of a page by slug; of several headings with one slug, the first counts. */
function headingsOf({ prose }: DocumentBody, pageId: string | undefined): ReadonlyMap<string, string> {
  const page = prose.pages.find(({ id }) => id === pageId)
  const headings = new Map<string, string>()
  for (const node of page === undefined ? [] : elementsOf(pageTree(page).tree)) {
    const id = node.type === 'heading' ? idOf(node) : null
    const slug = id === null ? '' : slugOf(titleText(node))
    if (id !== null && slug !== '' && !headings.has(slug)) headings.set(slug, id)
  }
  return headings
}

/** Returns the slug of a heading as most Markdown programs make it. */
function slugOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

/** The warning for a link whose target is missing or may not be read. The text is the same for both cases. [AG-84] */
export function deadLink({ href, step }: ContentLink, nearest: readonly RelayLink[]): Warning {
  const reason = `the link ${quote(href)} leads to no document, page or block that you may read; it was kept`
  return {
    reason,
    ...(nearest.length > 0 && { nearest: nearest.map(writeRelayLink) }),
    ...(step !== undefined && { step }),
  }
}

/** Returns for each link to this document: `null` when its page and block exist, else links to similar pages or blocks. */
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

/** Returns the nearest names, without names that are near only by chance. */
export function likelyNames(name: string, candidates: Iterable<string>): readonly string[] {
  return nearestNames(name, candidates).filter((candidate) => likelyMeant(name, [candidate]) !== null)
}

interface LinkedPage {
  has(id: string): boolean
  ids(): ReadonlySet<string>
}

/** Returns all pages by id, with the ids of their link targets: blocks of a prose page, shapes of a canvas page. */
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

/** Checks the links of an edit to its own document as the edit leaves it. Links that may lead to other documents stay in `links`. [AG-84, AG-85] */
export function withOwnLinksChecked<R>(edited: Edited<R>, docId: string): Edited<R> {
  const { links = [], ...others } = edited
  const own: { readonly link: ContentLink; readonly target: RelayLink }[] = []
  const other: ContentLink[] = []
  const relative: Warning[] = []
  const headings = new Map<string | undefined, ReadonlyMap<string, string>>()
  const headingMeant = ({ href, pageId }: ContentLink): string | undefined => {
    const known = headings.get(pageId) ?? headingsOf(edited.body, pageId)
    headings.set(pageId, known)
    return known.get(relativeEnd(href)?.toLowerCase() ?? '')
  }
  for (const link of links.slice(0, mostLinks)) {
    const { pageId } = link
    const target = readRelayLink(link.href)
    const heading = target === null ? headingMeant(link) : undefined
    if (target?.docId === docId) own.push({ link, target })
    else if (heading === undefined || pageId === undefined) other.push(link)
    else relative.push(relativeLink(link, { docId, pageId, blockId: heading }))
  }
  const targets = own.map(({ target }) => target)
  const missing = own.length === 0 ? [] : missingTargets(edited.body, targets)
  const dead = own.flatMap(({ link }, i) => {
    const nearest = missing[i] ?? null
    return nearest === null ? [] : [deadLink(link, nearest)]
  })
  return { ...others, warnings: [...edited.warnings, ...dead, ...relative], ...(other.length > 0 && { links: other }) }
}
