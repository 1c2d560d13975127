import type { DocumentBody, ProsePage } from '../body.ts'
import { isRefusal, type Refusal } from '../edit.ts'
import { needlessArgument } from '../needless.ts'
import { type Listing, listingOf, type PageArgs } from '../paging.ts'
import { pageName } from '../pages.ts'
import { shownHeadings, type ShownPage, type TellShown } from '../seen/shown.ts'
import { namingOf, type Naming, type Printed } from './block-names.ts'
import type { ProseTree } from './node.ts'
import { outlineOf, type OutlineEntry, sectionsOf } from './outline.ts'
import { findProsePage, pageTree } from './page.ts'
import { titleText } from './text.ts'

export interface GetOutline extends PageArgs, Printed {
  /** The page to read; when absent, all prose pages. */
  readonly pageId?: string | undefined
}

/** A section in an outline, with its length in words, by which a reader chooses sections. [AG-77] */
interface CountedEntry extends OutlineEntry {
  /** The words of the whole section, its heading included. */
  readonly words: number
}

interface PageOutline {
  readonly pageId: string
  readonly words: number
  readonly outline: readonly CountedEntry[]
}

/** Refuses `limit` and `cursor` beside `pageId`, since the outline of one page is no list. [AG-33] */
export function outlineFlaw({ pageId, limit, cursor }: GetOutline): Refusal | null {
  if (pageId === undefined || (limit === undefined && cursor === undefined)) return null
  return needlessArgument(limit === undefined ? 'cursor' : 'limit', 'one page is shown whole', 'it without pageId')
}

/** Returns the outline of a page, or of all prose pages, with the names of the headings. [TOOL-get_outline, PROSE-60, AG-77] */
export function getOutline(
  body: DocumentBody,
  args: GetOutline,
  tell: TellShown = () => {},
): PageOutline | Listing<unknown> | Refusal {
  const flaw = outlineFlaw(args)
  if (flaw !== null) return flaw
  const naming = namingOf(args)
  if (args.pageId !== undefined) {
    const page = findProsePage(body, args.pageId)
    if (isRefusal(page)) return page
    tell([shownOutline(page)])
    return outlineOfPage(page, naming)
  }
  return listingOf({
    maxLimit: MAX_LIMIT,
    items: body.prose.pages,
    read(page) {
      const { pageId, words, outline } = outlineOfPage(page, naming)
      return { pageId, name: pageName(page), words, outline }
    },
    nameOf: ({ id }) => id,
    show(pages) {
      const shown = new Set(pages.map(({ pageId }) => pageId))
      tell(body.prose.pages.filter(({ id }) => shown.has(id)).map(shownOutline))
      return { pages }
    },
  })
}

const MAX_LIMIT = 1000

function shownOutline(page: ProsePage): ShownPage {
  const blocks = shownHeadings(pageTree(page).tree)
  return { pageId: page.id, blocks, isPart: true, headings: { from: 0, blocks, isAll: true } }
}

function outlineOfPage(page: ProsePage, naming: Naming): PageOutline {
  const { tree } = pageTree(page)
  const { prefix, sections } = sectionsOf(tree)
  const counts = sections.map(wordsIn)
  return {
    pageId: page.id,
    words: counts.reduce((sum, count) => sum + count, wordsIn(prefix)),
    outline: outlineOf(tree, naming).map((entry, i) => ({ ...entry, words: counts[i] ?? 0 })),
  }
}

const CHARACTER = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]'
const WORD = new RegExp(`${CHARACTER}|(?:(?!${CHARACTER})\\S)+`, 'gu')

/** Counts the words of blocks: runs between white space, and each Han or Kana character as one word. [AG-77] */
function wordsIn(blocks: ProseTree): number {
  return blocks.reduce((sum, block) => sum + (titleText(block).match(WORD)?.length ?? 0), 0)
}
