import type { DocumentBody, ProsePage } from '../body.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import { needlessArgument } from '../needless.ts'
import { jsonBytes, type ListedItem, type Listing, type Members, type PageArgs } from '../paging.ts'
import { pageName } from '../pages.ts'
import { serialiseHtml } from './html.ts'
import { namingOf, type Naming, type Printed, withNames } from './block-names.ts'
import { blockStamp } from './block-stamp.ts'
import { idsOf, isCell, isLeaf, type Located } from './blocks.ts'
import { serialiseMarkdown, serialiseNamedMarkdown } from './markdown-write.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { partsOf, shownBlock, shownHeadings, type ShownPage, type TellShown } from '../seen/shown.ts'
import { findProsePage, pageOrder, pageTree } from './page.ts'
import { noSection } from './sections.ts'
import { indexAt, type PlacedBlock, storedBlocks } from './stored-blocks.ts'
import type { Path } from './tree-path.ts'
import { findTarget } from './targets.ts'

export interface GetProse extends Printed {
  /** The page to read; when absent, all prose pages. */
  readonly pageId?: string | undefined
  /** The format of the answer; when absent, HTML, or Markdown with `ids: true`. [AG-35] */
  readonly format?: 'html' | 'markdown' | 'md' | undefined
  /** The id of the only block to read. */
  readonly id?: string | undefined
  /** The index of the only section to read; -1 is the part before the first heading. */
  readonly index?: number | undefined
  /** Whether the content names its blocks. [AG-12, AG-13] */
  readonly ids?: boolean | undefined
}

/** A top-level block to show; `null`: the page has nothing to show but is listed anyway. */
interface ShownBlock {
  readonly page: ProsePage
  readonly block: Located | null
}

/**
 * Returns the content of prose pages, split between top-level blocks when it is long. Shows the healed content, and stores nothing.
 * [TOOL-get_prose, PROSE-24]
 */
export function getProse(body: DocumentBody, args: GetProse, tell: TellShown = () => {}): Listing<ShownBlock> | Refusal {
  const contradiction = proseSelectionFlaw(args)
  if (contradiction !== null) return contradiction
  const asked = args.format ?? (args.ids === true ? 'markdown' : 'html')
  const format = asked === 'html' ? 'html' : 'markdown'
  const write = writers[args.ids === true ? 'named' : 'plain'][format]
  const content = (blocks: readonly Located[]): string => (blocks.length === 0 ? '' : write(blocks, namingOf(args)))
  const numbers = new Map(body.prose.pages.map((page, index) => [page, pageOrder(page, index)]))
  const header = (page: ProsePage) => ({ id: page.id, name: pageName(page), order: numbers.get(page) as number })
  const isPart = args.id !== undefined || args.index !== undefined
  const shown = (items: readonly ShownBlock[]): readonly Members[] => {
    const pages = byPage(items)
    tell(
      pages.map(({ page, blocks }) => ({
        pageId: page.id,
        // A list, table or box counts as seen only at the top level. One that is read alone may be nested, so only leaf blocks count then.
        blocks: [...partsOf(treeOf(blocks))].filter((block) => args.id === undefined || isLeaf(block)).map(shownBlock),
        ...(isPart && { isPart: true }),
        ...headingsOf(treeOf(blocks), args),
      })),
    )
    return pages.map(({ page, blocks }) => ({ ...header(page), content: content(blocks) }))
  }

  const { pageId } = args
  if (pageId === undefined) {
    const items = blocksOf(body.prose.pages, (page, from) => placed(page.content, from, args), header, content)
    const named = namesOf(body.prose.pages, (page) => placed(page.content, 0, args))
    return { kind: 'listing', maxLimit: MAX_LIMIT, from: items, named, show: (blocks) => ({ pages: shown(blocks), format }) }
  }
  const page = findProsePage(body, pageId)
  if (isRefusal(page)) return page
  const blocks = select(body, page, args)
  if (isRefusal(blocks)) return blocks
  return {
    kind: 'listing',
    maxLimit: MAX_LIMIT,
    from: blocksOf([page], (_, from) => blocks(from), header, content),
    named: namesOf([page], () => blocks(0)),
    show: (items) => ({ page: shown(items)[0] ?? { ...header(page), content: '' }, format }),
  }
}

const MAX_LIMIT = 1000

/** Returns the headings among shown blocks, unless a single block is read, whose place in the outline is unknown. [AG-79] */
function headingsOf(shown: ProseTree, { id, index }: GetProse): Pick<ShownPage, 'headings'> {
  const blocks = shownHeadings(shown)
  return id !== undefined || blocks.length === 0 ? {} : { headings: { from: index ?? 0, blocks } }
}

/** The functions that write blocks, by whether the blocks are named and by format. */
const writers: { readonly [N in 'named' | 'plain']: { readonly [F in 'html' | 'markdown']: Write } } = {
  named: { html: (blocks, naming) => serialiseHtml(withNames(blocks, naming)), markdown: serialiseNamedMarkdown },
  plain: { html: (blocks) => serialiseHtml(treeOf(blocks)), markdown: (blocks) => serialiseMarkdown(treeOf(blocks)) },
}

type Write = (blocks: readonly Located[], naming: Naming) => string

function treeOf(blocks: readonly Located[]): ProseTree {
  return blocks.map(({ block }) => block)
}

/** Refuses `id` or `index` without `pageId`, both together, and `limit` or `cursor` beside `id`; `null` otherwise. [TOOL-get_prose, AG-33] */
export function proseSelectionFlaw({ pageId, id, index, limit, cursor }: GetProse & PageArgs): Refusal | null {
  const argument = id === undefined ? 'index' : 'id'
  if (id !== undefined && (limit ?? cursor) !== undefined)
    return needlessArgument(limit === undefined ? 'cursor' : 'limit', 'one block is shown whole', 'it without id')
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

/** A block, its path on the page, and the place at which a later reading continues with it. The path is correct only when blocks are named. */
interface Found extends PlacedBlock {
  readonly path: Path
}

/** Yields blocks, starting at a place. */
type BlockSource = (from: number) => Iterable<Found>

/** Yields blocks of a page with their paths. Counts the blocks before `from` only for named blocks, since counting parses these blocks. */
function* placed(content: string, from: number, { ids }: GetProse): Generator<Found> {
  let index = ids === true ? indexAt(content, from) : 0
  for (const found of storedBlocks(content, from)) yield { ...found, path: [index++] }
}

function select(body: DocumentBody, page: ProsePage, args: GetProse): BlockSource | Refusal {
  const { id, index } = args
  if (id === undefined && index === undefined) return (from) => placed(page.content, from, args)
  if (index !== undefined) return sectionOf(page.content, index, args)
  const { tree } = pageTree(page)
  const found = findTarget({ body, pageId: page.id, tree, isRead: true, naming: args.naming }, { id })
  if (isRefusal(found)) return found
  return (from) => (isCell(found.block) ? blocksOfCell(found) : [found]).map((one, place) => ({ ...one, place })).slice(from)
}

function blocksOfCell({ path, block }: Located): readonly Located[] {
  return (block.content as ProseTree).map((inside, index) => ({ path: [...path, index], block: inside }))
}

/** Returns the blocks of a section. Reads the page up to the section, and then as far as the answer needs. [PROSE-61] */
function sectionOf(content: string, index: number, args: GetProse): BlockSource | Refusal {
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
  return (from) => untilHeading(placed(content, from === 0 ? begin : from, args), own)
}

/** Yields blocks up to the next heading. The heading at `own` belongs to the section. */
function* untilHeading(blocks: Iterable<Found>, own: number | undefined): Generator<Found> {
  for (const found of blocks) {
    if (found.block.type === 'heading' && found.place !== own) return
    yield found
  }
}

/** Yields the blocks of pages one by one. No more of a page is read than the answer needs. */
function blocksOf(
  pages: readonly ProsePage[],
  blocksFrom: (page: ProsePage, from: number) => Iterable<Found>,
  header: (page: ProsePage) => Members,
  content: (blocks: readonly Located[]) => string,
): Listing<ShownBlock>['from'] {
  return function* (start): Generator<ListedItem<ShownBlock>> {
    for (let part = start.part; part < pages.length; part++) {
      const page = pages[part] as ProsePage
      const first = part === start.part ? start.index : 0
      let opening = jsonBytes({ ...header(page), content: '' }) + 1
      for (const { block, path, place } of blocksFrom(page, first)) {
        const located: Located = { path, block }
        const bytes = opening + Math.max(jsonBytes(content([located])) + separatorBytes, minBytes)
        yield {
          item: { page, block: located },
          bytes,
          at: { part, index: place },
          named: () => ({ page: page.id, name: stableName(block) }),
        }
        opening = 0
      }
      if (opening > 0 && first === 0) {
        const named = () => ({ page: page.id, name: '' })
        yield { item: { page, block: null }, bytes: opening, at: { part, index: 0 }, named }
      }
    }
  }
}

/** Yields the names of all blocks of pages; a page without blocks yields one empty name. [AG-82] */
function namesOf(pages: readonly ProsePage[], blocks: (page: ProsePage) => Iterable<Found>): Listing<ShownBlock>['named'] {
  return function* () {
    for (const [part, page] of pages.entries()) {
      let isEmpty = true
      for (const { block, place } of blocks(page)) {
        isEmpty = false
        yield { page: page.id, name: stableName(block), at: { part, index: place } }
      }
      if (isEmpty) yield { page: page.id, name: '', at: { part, index: 0 } }
    }
  }
}

/** Returns a name that a block keeps while other blocks change: its id or the first id in it, else its stamp. [AG-82] */
function stableName(block: ProseElement): string {
  const [id] = idsOf([block])
  return id === undefined ? `#${blockStamp(block)}` : `${block.type} ${id}`
}

/** The bytes between two blocks of Markdown: two line breaks of two bytes each in JSON. */
const separatorBytes = 4
/** The least bytes counted for a block: an empty paragraph is no text when alone, but an element between other blocks. */
const minBytes = 16

function byPage(items: readonly ShownBlock[]): readonly { readonly page: ProsePage; readonly blocks: readonly Located[] }[] {
  const pages: { page: ProsePage; blocks: Located[] }[] = []
  for (const { page, block } of items) {
    let last = pages.at(-1)
    if (last?.page !== page) pages.push((last = { page, blocks: [] }))
    if (block !== null) last.blocks.push(block)
  }
  return pages
}
