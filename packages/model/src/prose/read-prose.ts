import type { DocumentBody, ProsePage } from '../body.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import { jsonBytes, type ListedItem, type Listing, type Members } from '../paging.ts'
import { pageName } from '../pages.ts'
import { serialiseHtml } from './html.ts'
import { serialiseMarkdown } from './markdown-write.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { outlineOf, sectionsOf, type OutlineEntry } from './outline.ts'
import { findProsePage, pageOrder, pageTree } from './page.ts'
import { noSection } from './sections.ts'
import { findTarget } from './targets.ts'

export interface GetProse {
  /** All prose pages when absent. */
  readonly pageId?: string | undefined
  /** HTML when absent. */
  readonly format?: 'html' | 'markdown' | 'md' | undefined
  /** Only this block. */
  readonly id?: string | undefined
  /** Only this section; -1 is what stands before the first heading. */
  readonly index?: number | undefined
  /** Whether Markdown names the blocks by their ids. [PROSE-41] */
  readonly ids?: boolean | undefined
}

/** One top-level block that is shown; `null`: the page has nothing to show and is named all the same. */
interface ShownBlock {
  readonly page: ProsePage
  readonly block: ProseElement | null
}

/** The content of prose pages, cut between top-level blocks. What is shown is healed, and nothing is stored. [TOOL-get_prose, PROSE-24] */
export function getProse(body: DocumentBody, args: GetProse): Listing<ShownBlock> | Refusal {
  const contradiction = proseSelectionFlaw(args)
  if (contradiction !== null) return contradiction
  const format = args.format === 'html' || args.format === undefined ? 'html' : 'markdown'
  const write = (tree: ProseTree): string =>
    format === 'html' ? serialiseHtml(tree) : serialiseMarkdown(tree, { ids: args.ids === true })
  const content = (tree: ProseTree): string => (tree.length === 0 ? '' : write(tree))
  const numbers = new Map(body.prose.pages.map((page, index) => [page, pageOrder(page, index)]))
  const header = (page: ProsePage) => ({ id: page.id, name: pageName(page), order: numbers.get(page) as number })
  const shown = (items: readonly ShownBlock[]): readonly Members[] =>
    byPage(items).map(({ page, blocks }) => ({ ...header(page), content: content(blocks) }))

  const { pageId } = args
  if (pageId === undefined) {
    const items = blocksOf(body.prose.pages, (page) => pageTree(page).tree, header, content)
    return { kind: 'listing', maxLimit: MAX_LIMIT, from: items, show: (blocks) => ({ pages: shown(blocks), format }) }
  }
  const page = findProsePage(body, pageId)
  if (isRefusal(page)) return page
  const selected = select(body, page, args)
  if (isRefusal(selected)) return selected
  return {
    kind: 'listing',
    maxLimit: MAX_LIMIT,
    from: blocksOf([page], () => selected, header, content),
    show: (blocks) => ({ page: shown(blocks)[0] ?? { ...header(page), content: '' }, format }),
  }
}

const MAX_LIMIT = 1000

/** `id` and `index` are of one page and exclude each other. [TOOL-get_prose] */
export function proseSelectionFlaw({ pageId, id, index }: GetProse): Refusal | null {
  const argument = id === undefined ? 'index' : 'id'
  if (id === undefined && index === undefined) return null
  if (pageId === undefined) {
    const expected = 'pageId together with id or index'
    return refused('ERR_BAD_ARGUMENT', `${argument} selects a part of one page; give ${expected}.`, {
      argument: 'pageId',
      expected,
    })
  }
  if (id === undefined || index === undefined) return null
  const expected = 'id or index, not both'
  return refused('ERR_BAD_ARGUMENT', `id selects a block and index a section; give ${expected}.`, { argument: 'index', expected })
}

function select(body: DocumentBody, page: ProsePage, { id, index }: GetProse): ProseTree | Refusal {
  const { tree } = pageTree(page)
  if (id !== undefined) {
    const found = findTarget({ body, pageId: page.id, tree }, { id })
    return isRefusal(found) ? found : [found.block]
  }
  if (index === undefined) return tree
  const { prefix, sections } = sectionsOf(tree)
  return index === -1 ? prefix : (sections[index] ?? noSection(index, sections.length))
}

/** The blocks of pages one by one; a page is only parsed when the answer has come to it. */
function blocksOf(
  pages: readonly ProsePage[],
  treeOf: (page: ProsePage) => ProseTree,
  header: (page: ProsePage) => Members,
  content: (tree: ProseTree) => string,
): Listing<ShownBlock>['from'] {
  return function* (start): Generator<ListedItem<ShownBlock>> {
    for (let part = start.part; part < pages.length; part++) {
      const page = pages[part] as ProsePage
      const first = part === start.part ? start.index : 0
      const tree: readonly (ProseElement | null)[] = treeOf(page)
      const blocks = tree.length === 0 ? [null] : tree
      for (let index = first; index < blocks.length; index++) {
        const block = blocks[index] as ProseElement | null
        const opening = index === first ? jsonBytes({ ...header(page), content: '' }) + 1 : 0
        const bytes = opening + (block === null ? 0 : Math.max(jsonBytes(content([block])) + separatorBytes, minBytes))
        yield { item: { page, block }, bytes, at: { part, index } }
      }
    }
  }
}

/** Blocks of Markdown stand two line breaks apart, of two bytes each in JSON. */
const separatorBytes = 4
/** An empty paragraph is nothing on its own and an element between others. */
const minBytes = 16

function byPage(items: readonly ShownBlock[]): readonly { readonly page: ProsePage; readonly blocks: ProseTree }[] {
  const pages: { page: ProsePage; blocks: ProseElement[] }[] = []
  for (const { page, block } of items) {
    let last = pages.at(-1)
    if (last?.page !== page) pages.push((last = { page, blocks: [] }))
    if (block !== null) last.blocks.push(block)
  }
  return pages
}

/** The outline of a page. Its headings have the ids that are stored. [TOOL-get_outline, PROSE-60] */
export function getOutline(
  body: DocumentBody,
  pageId: string,
): { readonly pageId: string; readonly outline: readonly OutlineEntry[] } | Refusal {
  const page = findProsePage(body, pageId)
  return isRefusal(page) ? page : { pageId: page.id, outline: outlineOf(pageTree(page).tree) }
}
