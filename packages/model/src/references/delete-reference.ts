import type { DocumentBody, ProsePage } from '../body.ts'
import { refused, type Edit, type Refusal } from '../edit.ts'
import { memberOf } from '../json.ts'
import { bareName } from '../prose/block-names.ts'
import { isIdBearing, type Located } from '../prose/blocks.ts'
import type { ProseNode, ProseTree } from '../prose/node.ts'
import { pageTree } from '../prose/page.ts'
import { titleText } from '../prose/text.ts'
import type { Path } from '../prose/tree-path.ts'
import { quote } from '../quote.ts'
import { referenceLibrary, referenceNotFound } from './reference-library.ts'

export interface DeleteReference {
  readonly id: string
  /** Deletes the item even when it is cited. Its citations stay and show as unresolved. */
  readonly force?: boolean | undefined
}

export interface ReferenceDeleted {
  readonly id: string
  readonly deleted: true
  /** How many citations still name the deleted item. */
  readonly orphanedCitations: number
}

/** Removes an item from the library, by default only when no prose page cites the item. Writes no prose. [REF-2, REF-7, REF-8] */
export const deleteReference: Edit<DeleteReference, ReferenceDeleted> = (body, { id, force = false }) => {
  const library = referenceLibrary(body)
  if (!library.items.has(id)) return referenceNotFound(library, id)
  const sites = citationsOf(body, id)
  if (sites.length > 0 && !force) return cited(id, sites)
  const items = new Map([...library.items].filter(([each]) => each !== id))
  const references = { ...library, items, order: library.order.filter((each) => each !== id) }
  const result = { id, deleted: true, orphanedCitations: sites.length } as const
  return { kind: 'edited', body: { ...body, references }, result, fixes: [], warnings: [] }
}

/** A place at which prose cites an item. */
interface Site {
  readonly pageId: string
  readonly pageName: string
  /** The id of the block, or its handle; `null` when it has neither. */
  readonly blockId: string | null
  readonly text: string
}

const SHOWN_SITES = 5

function cited(id: string, sites: readonly Site[]): Refusal {
  const shown = sites.slice(0, SHOWN_SITES)
  const more = sites.length - shown.length
  const places = shown
    .map(({ pageId, blockId, text }) => `page ${pageId} block ${blockId ?? '(without id)'} "${text}"`)
    .join('; ')
  const rest = more > 0 ? ` and ${more} more` : ''
  const times = sites.length === 1 ? 'once' : `${sites.length} times`
  const message = `The reference "${quote(id)}" is cited ${times}: ${places}${rest}. Remove the citations, or pass force to leave them unresolved.`
  return refused('ERR_REFERENCE_CITED', message, { count: sites.length, sites: shown, more })
}

/** Lists every citation of an item on all prose pages, in document order. A block with two citations is listed twice. [REF-7] */
function citationsOf(body: DocumentBody, id: string): readonly Site[] {
  return body.prose.pages
    .filter(mayCite)
    .flatMap((page) => holdersOf(pageTree(page).tree, id).map((holder) => siteOf(page, holder)))
}

/** Returns, for each citation of an item, the innermost block around the citation that results can name. */
function holdersOf(tree: ProseTree, id: string): readonly Located[] {
  const holders: Located[] = []
  const walk = (nodes: readonly ProseNode[], parent: Path, holder: Located | null): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text') return
      if (node.type === 'citationInline') {
        if (holder !== null && node.attrs['refId'] === id) holders.push(holder)
        return
      }
      const path = [...parent, index]
      walk(node.content, path, holder === null || isIdBearing(node) ? { path, block: node } : holder)
    })
  walk(tree, [], null)
  return holders
}

function siteOf(page: ProsePage, holder: Located): Site {
  const name = memberOf(page.members, 'name')
  return {
    pageId: page.id,
    pageName: typeof name === 'string' ? quote(name) : '',
    blockId: bareName(holder),
    text: quote(titleText(holder.block)),
  }
}

/** Whether a page may have citations. Parsing a page takes long, and most pages cite nothing. HTML may spell the attribute in any case. */
function mayCite(page: ProsePage): boolean {
  return /data-citation/i.test(page.content)
}
