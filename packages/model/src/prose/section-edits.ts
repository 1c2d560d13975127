import { isRefusal, refused, type Edit, type EditRow, type Refusal } from '../edit.ts'
import type { BlockList } from './blocks.ts'
import { contentTooLarge, formatOf, noContent, readContent, type ContentArgs } from './content.ts'
import { librariesOf, writePage } from './edit-page.ts'
import { outlineOf, type OutlineEntry } from './outline.ts'
import { findProsePage, pageTree } from './page.ts'
import type { PageDone } from './prose-edits.ts'
import { insertSection as insertInto, moveSection, sectionHeading, shiftLevel, type SectionPlace } from './sections.ts'

export interface InsertSection extends SectionPlace {
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
  const told = { fixes: [...titled.fixes, ...content.fixes], warnings: content.warnings }
  return writePage({ body, pageId: page.id, stored, environment, content: told }, done, (written) => ({
    pageId: page.id,
    ok: true,
    index: done.index,
    ...formatOf(content),
    ...written.written(),
  }))
}

export interface RestructureOutline {
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
  return writePage({ body, pageId: page.id, stored, environment }, done, ({ tree }) => ({
    pageId: page.id,
    outline: outlineOf(tree),
  }))
}

export const sectionEdits = {
  insert_section: { edit: insertSection, flaw: insertSectionFlaw },
  restructure_outline: { edit: restructureOutline, flaw: restructureOutlineFlaw },
} as const satisfies Record<string, EditRow>
