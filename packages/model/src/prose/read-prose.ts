import type { DocumentBody, ProsePage } from '../body.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import { jsonBytes, type ListedItem, type Listing, type Members } from '../paging.ts'
import { pageName } from '../pages.ts'
import { serialiseHtml } from './html.ts'
import { serialiseMarkdown } from './markdown-write.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { shownBlocks, type TellShown } from '../seen/shown.ts'
import { outlineOf, type OutlineEntry } from './outline.ts'
import { findProsePage, pageOrder, pageTree } from './page.ts'
import { noSection } from './sections.ts'
import { type PlacedBlock, storedBlocks } from './stored-blocks.ts'
import { findTarget } from './targets.ts'

export interface GetProse {
  /** All prose pages when absent. */
  readonly pageId?: string | undefined
  /** When absent, HTML, or Markdown with `ids: true`. [AG-35] */
  readonly format?: 'html' | 'markdown' | 'md' | undefined
  /** Only this block. */
  readonly id?: string | undefined
  /** Only this section; -1 is the part before the first heading. */
  readonly index?: number | undefined
  /** Whether Markdown contains the ids of blocks. [PROSE-41] */
  readonly ids?: boolean | undefined
}

/** A top-level block to show; `null`: the page has nothing to show but is listed anyway. */
interface ShownBlock {
  readonly page: ProsePage
  readonly block: ProseElement | null
}

/**
 * The content of prose pages, split between top-level blocks when it is long. The content is shown healed; nothing is stored.
 * [TOOL-get_prose, PROSE-24]
 */
export function getProse(body: DocumentBody, args: GetProse, tell: TellShown = () => {}): Listing<ShownBlock> | Refusal {
  const contradiction = proseSelectionFlaw(args)
  if (contradiction !== null) return contradiction
  const asked = args.format ?? (args.ids === true ? 'markdown' : 'html')
  const format = asked === 'html' ? 'html' : 'markdown'
  const write = (tree: ProseTree): string =>
    format === 'html' ? serialiseHtml(tree) : serialiseMarkdown(tree, { ids: args.ids === true })
  const content = (tree: ProseTree): string => (tree.length === 0 ? '' : write(tree))
  const numbers = new Map(body.prose.pages.map((page, index) => [page, pageOrder(page, index)]))
  const header = (page: ProsePage) => ({ id: page.id, name: pageName(page), order: numbers.get(page) as number })
  const isPart = args.id !== undefined || args.index !== undefined
  const shown = (items: readonly ShownBlock[]): readonly Members[] => {
    const pages = byPage(items)
    tell(pages.map(({ page, blocks }) => ({ pageId: page.id, blocks: shownBlocks(blocks), ...(isPart && { isPart: true }) })))
    return pages.map(({ page, blocks }) => ({ ...header(page), content: content(blocks) }))
  }

  const { pageId } = args
  if (pageId === undefined) {
    const items = blocksOf(body.prose.pages, (page, from) => storedBlocks(page.content, from), header, content)
    return { kind: 'listing', maxLimit: MAX_LIMIT, from: items, show: (blocks) => ({ pages: shown(blocks), format }) }
  }
  const page = findProsePage(body, pageId)
  if (isRefusal(page)) return page
  const blocks = select(body, page, args)
  if (isRefusal(blocks)) return blocks
  return {
    kind: 'listing',
    maxLimit: MAX_LIMIT,
    from: blocksOf([page], (_, from) => blocks(from), header, content),
    show: (items) => ({ page: shown(items)[0] ?? { ...header(page), content: '' }, format }),
  }
}

const MAX_LIMIT = 1000

/** Checks that `id` and `index` come with a page and not both. [TOOL-get_prose] */
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

/** Yields blocks, starting at a place. */
type BlockSource = (from: number) => Iterable<PlacedBlock>

function select(body: DocumentBody, page: ProsePage, { id, index }: GetProse): BlockSource | Refusal {
  if (id === undefined && index === undefined) return (from) => storedBlocks(page.content, from)
  if (index !== undefined) return sectionOf(page.content, index)
  const { tree } = pageTree(page)
  const found = findTarget({ body, pageId: page.id, tree, isRead: true }, { id })
  if (isRefusal(found)) return found
  return (from) => (from === 0 ? [{ block: found.block, place: 0 }] : [])
}

/** Reads the page up to the section, and then as far as the answer needs. [PROSE-61] */
function sectionOf(content: string, index: number): BlockSource | Refusal {
  let headings = 0
  let start: number | undefined = index === -1 ? 0 : undefined
  if (start === undefined)
    for (const { block, place } of storedBlocks(content, 0))
      if (block.type === 'heading' && headings++ === index) {
        start = place
        break
      }
  if (start === undefined) return noSection(index, headings)
  const [begin, own] = [start, index === -1 ? undefined : start]
  return (from) => untilHeading(storedBlocks(content, from === 0 ? begin : from), own)
}

/** Yields blocks up to the next heading. The heading at `own` belongs to the section. */
function* untilHeading(blocks: Iterable<PlacedBlock>, own: number | undefined): Generator<PlacedBlock> {
  for (const placed of blocks) {
    if (placed.block.type === 'heading' && placed.place !== own) return
    yield placed
  }
}

/** Yields the blocks of pages one by one. No more of a page is read than the answer needs. */
function blocksOf(
  pages: readonly ProsePage[],
  blocksFrom: (page: ProsePage, from: number) => Iterable<PlacedBlock>,
  header: (page: ProsePage) => Members,
  content: (tree: ProseTree) => string,
): Listing<ShownBlock>['from'] {
  return function* (start): Generator<ListedItem<ShownBlock>> {
    for (let part = start.part; part < pages.length; part++) {
      const page = pages[part] as ProsePage
      const first = part === start.part ? start.index : 0
      let opening = jsonBytes({ ...header(page), content: '' }) + 1
      for (const { block, place } of blocksFrom(page, first)) {
        const bytes = opening + Math.max(jsonBytes(content([block])) + separatorBytes, minBytes)
        yield { item: { page, block }, bytes, at: { part, index: place } }
        opening = 0
      }
      if (opening > 0 && first === 0) yield { item: { page, block: null }, bytes: opening, at: { part, index: 0 } }
    }
  }
}

/** Between two blocks of Markdown there are two line breaks, each of two bytes in JSON. */
const separatorBytes = 4
/** Least bytes counted for a block: an empty paragraph is empty text when alone, but an element between others. */
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

/** Returns the outline of a page, with the headings' stored ids. [TOOL-get_outline, PROSE-60] */
export function getOutline(
  body: DocumentBody,
  pageId: string,
): { readonly pageId: string; readonly outline: readonly OutlineEntry[] } | Refusal {
  const page = findProsePage(body, pageId)
  return isRefusal(page) ? page : { pageId: page.id, outline: outlineOf(pageTree(page).tree) }
}
