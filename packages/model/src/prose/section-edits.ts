import { isRefusal, refused, type Edit, type EditRow, type Refusal, type Warning } from '../edit.ts'
import { quote } from '../quote.ts'
import type { BlockList } from './block-list.ts'
import { namingOf, type Printed } from './block-names.ts'
import { contentTooLarge, formatOf, noContent, readContent, type ContentArgs } from './content.ts'
import { librariesOf, writePage } from './edit-page.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { outlineOf, type OutlineEntry } from './outline.ts'
import { sectionsUnderOthers } from './outline-parents.ts'
import { findProsePage, pageTree } from './page.ts'
import type { PageDone } from './prose-edits.ts'
import { insertSection as insertInto, moveSection, sectionHeading, shiftLevel, type SectionPlace } from './sections.ts'

export interface InsertSection extends SectionPlace, Printed {
  readonly pageId: string
  readonly level: number
  readonly title: string
  readonly body?: string | undefined
  readonly format?: ContentArgs['format']
}

/** The problem of a call that shows without the document; `null` when there is none. [MCP-3] */
function insertSectionFlaw({ title, level, body = '' }: InsertSection): Refusal | null {
  const titled = sectionHeading(title, level)
  return isRefusal(titled) ? titled : contentTooLarge(body)
}

/** Inserts a heading with its body between the sections of a page. [TOOL-insert_section] */
export const insertSection: Edit<InsertSection, PageDone & { readonly index: number } & BlockList> = (
  body,
  args,
  environment,
) => {
  const content =
    args.body === undefined ? noContent : readContent({ content: args.body, format: args.format }, librariesOf(body, environment))
  if (isRefusal(content)) return content
  const page = findProsePage(body, args.pageId)
  if (isRefusal(page)) return page
  const titled = sectionHeading(args.title, args.level)
  if (isRefusal(titled)) return titled
  const stored = pageTree(page)
  const done = insertInto(stored.tree, [titled.heading, ...(content.isBlank ? [] : content.tree)], args)
  const warnings = [...plainTitle(args.title), ...content.warnings, ...sectionsUnderOthers(stored.tree, done.tree)]
  const told = { fixes: [...titled.fixes, ...content.fixes], warnings }
  return writePage({ body, pageId: page.id, stored, environment, content: told, naming: args.naming }, done, (written) => ({
    pageId: page.id,
    ok: true,
    index: done.index,
    ...formatOf(content),
    ...written.written('own'),
  }))
}

export interface RestructureOutline extends Printed {
  readonly pageId: string
  readonly op: 'promote' | 'demote' | 'move'
  readonly index: number
  readonly toIndex?: number | undefined
}

export interface Restructured {
  readonly pageId: string
  readonly outline: readonly OutlineEntry[]
}

/** The problem of a call that shows without the document; `null` when there is none. [MCP-3] */
function restructureOutlineFlaw({ op, toIndex }: RestructureOutline): Refusal | null {
  if (op !== 'move' || toIndex !== undefined) return null
  const expected = 'the index at which the section ends up, from 0'
  return refused('ERR_BAD_ARGUMENT', `op move needs toIndex: ${expected}.`, { argument: 'toIndex', expected })
}

/** Changes the level of a heading, or moves its section. [TOOL-restructure_outline] */
export const restructureOutline: Edit<RestructureOutline, Restructured> = (body, args, environment) => {
  const flaw = restructureOutlineFlaw(args)
  if (flaw !== null) return flaw
  const page = findProsePage(body, args.pageId)
  if (isRefusal(page)) return page
  const { op, index, toIndex } = args
  const stored = pageTree(page)
  const done =
    op === 'move' ? moveSection(stored.tree, index, toIndex as number) : shiftLevel(stored.tree, index, op === 'promote' ? -1 : 1)
  if (isRefusal(done)) return done
  const named = [[headingAt(stored.tree, index), headingAt(done.tree, op === 'move' ? (toIndex as number) : index)]] as const
  const content = { fixes: [], warnings: sectionsUnderOthers(stored.tree, done.tree, named) }
  return writePage({ body, pageId: page.id, stored, environment, content }, done, ({ tree }) => ({
    pageId: page.id,
    outline: outlineOf(tree, namingOf(args)),
  }))
}

function headingAt(tree: ProseTree, index: number): ProseElement {
  const headings = tree.filter(({ type }) => type === 'heading')
  return headings[Math.min(index, headings.length - 1)] as ProseElement
}

const MARKUP = /\*\*|__|`|\{\{|\$[^\s$]+\$|\]\(|^#{1,6} |<\/?[a-z][^<>]*>/

/** Warns of markup in a title, which is plain text. [AG-41] */
function plainTitle(title: string): readonly Warning[] {
  const found = MARKUP.exec(title)?.[0]
  if (found === undefined) return []
  return [{ reason: `a title is plain text only, so markup such as "${quote(found)}" is kept as it is`, field: 'title' }]
}

export const sectionEdits = {
  insert_section: { edit: insertSection, flaw: insertSectionFlaw },
  restructure_outline: { edit: restructureOutline, flaw: restructureOutlineFlaw },
} as const satisfies Record<string, EditRow>
