import { isRefusal, refused, type Edit, type Edited, type EditRow, type Refusal, type Warning } from '../edit.ts'
import { needlessArgument } from '../needless.ts'
import { quote } from '../quote.ts'
import { applied } from './applied.ts'
import { isToldWhole, listBlocks, type BlockList } from './block-list.ts'
import { namingOf, type Printed } from './block-names.ts'
import { contentTooLarge, formatFlaw, formatOf, noContent, readContent, type ContentArgs } from './content.ts'
import { librariesOf, writePage } from './edit-page.ts'
import { isIdBearing, isLeaf } from './blocks.ts'
import { namesIn } from './move.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { headingPlaces, outlineChange, type OutlineChange } from './outline.ts'
import { type NamedHeading, sectionsUnderOthers } from './outline-parents.ts'
import { findProsePage, pageTree } from './page.ts'
import { type OpenPage, openPage, type PageDone } from './prose-edits.ts'
import { findHeading, type SectionAddress, sectionEnd, sectionFlaw, type SectionNames } from './section-places.ts'
import {
  insertSection as insertInto,
  moveSection,
  sectionHeading,
  type SectionPlace,
  type SectionSpan,
  shiftLevels,
  takeSection,
} from './sections.ts'
import { partsOf, shownBlock, shownHeadings, type ShownPage } from '../seen/shown.ts'
import { refuseOverwrite } from '../seen/unseen-targets.ts'
import { addressFlaw, type AddressNames } from './targets.ts'

export interface InsertSection extends SectionPlace, Printed {
  readonly pageId: string
  /** The id of the heading of the section that the new section follows. */
  readonly afterId?: string | undefined
  /** Whether the new section also follows the subsections of the section before it. */
  readonly withSubsections?: boolean | undefined
  readonly expectedVersion?: number | undefined
  readonly level: number
  readonly title: string
  readonly body?: string | undefined
  readonly format?: ContentArgs['format']
}

/** Refuses arguments of insert_section that are wrong for every document; `null` otherwise. [MCP-3] */
function insertSectionFlaw(args: InsertSection): Refusal | null {
  const { title, level, body = '', afterId: id, afterIndex: index, withSubsections, expectedVersion } = args
  const titled = sectionHeading(title, level)
  if (isRefusal(titled)) return titled
  const flaw = formatFlaw(args, 'body') ?? contentTooLarge(body)
  if (flaw !== null) return flaw
  if (id !== undefined && args.position !== undefined)
    return needlessArgument('position', 'afterId says where the section stands', 'position or afterId, not both')
  if (id !== undefined || index !== undefined)
    return sectionFlaw({ id, index }, afterSection) ?? addressFlaw({ id }, expectedVersion, afterTarget)
  if (withSubsections === undefined) return null
  const expected = 'afterId or afterIndex beside withSubsections'
  const sentence = `withSubsections says behind what the section stands; expected ${expected}.`
  return refused('ERR_BAD_ARGUMENT', sentence, { argument: 'withSubsections', expected })
}

const afterSection: SectionNames = { id: 'afterId', index: 'afterIndex' }
const afterTarget: AddressNames = { id: 'afterId', anchor: '' }

/** Returns the index of the last section before the new section; `undefined` when `position` decides. [AG-78] */
function lastBefore(
  page: OpenPage,
  { afterId: id, afterIndex: index, withSubsections }: InsertSection,
): number | undefined | Refusal {
  const places = headingPlaces(page.tree)
  // An index past the last section means the end of the page. [PROSE-62]
  if (id === undefined && (index === undefined || index >= places.length)) return index
  const heading = findHeading(page, { id, index }, afterSection)
  if (typeof heading === 'object') return heading
  const end = sectionEnd(page.tree, heading, withSubsections === true)
  return places.filter((place) => place < end).length - 1
}

/** Warns of a `position` that has no effect, since `afterIndex` wins over `position`. [PROSE-62, AG-33] */
function idlePosition({ position, afterIndex }: InsertSection): readonly Warning[] {
  if (position === undefined || afterIndex === undefined) return []
  return [{ reason: 'position has no effect here, since afterIndex says where the section stands', field: 'position' }]
}

/** Inserts a heading with its body between the sections of a page. [TOOL-insert_section] */
export const insertSection: Edit<InsertSection, PageDone & { readonly index: number } & BlockList> = (
  body,
  args,
  environment,
) => {
  const flaw = insertSectionFlaw(args)
  if (flaw !== null) return flaw
  const content =
    args.body === undefined ? noContent : readContent({ content: args.body, format: args.format }, librariesOf(body, environment))
  if (isRefusal(content)) return content
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const titled = sectionHeading(args.title, args.level)
  if (isRefusal(titled)) return titled
  const afterIndex = lastBefore(page, args)
  if (typeof afterIndex === 'object') return afterIndex
  const section = [titled.heading, ...(content.isBlank ? [] : content.tree)]
  const done = insertInto(page.tree, section, { position: args.position, afterIndex })
  const warnings = [
    ...plainTitle(args.title),
    ...idlePosition(args),
    ...content.warnings,
    ...sectionsUnderOthers(page.tree, done.tree),
  ]
  const told = { fixes: [...titled.fixes, ...content.fixes], warnings, links: content.links }
  return writePage({ ...page, content: told }, done, (written) => ({
    pageId: page.pageId,
    ok: true,
    index: done.index,
    ...formatOf(content),
    ...written.written('own'),
  }))
}

export interface RestructureOutline extends SectionAddress, Printed {
  readonly pageId: string
  readonly op: 'promote' | 'demote' | 'move'
  readonly withSubsections?: boolean | undefined
  /** Where a moved section goes: its index on the page `toPageId`. When absent, the section goes to the end of that page. */
  readonly toIndex?: number | undefined
  readonly toPageId?: string | undefined
  readonly expectedVersion?: number | undefined
}

export interface Restructured extends OutlineChange {
  readonly pageId: string
}

/** Refuses arguments of restructure_outline that are wrong for every document; `null` otherwise. [MCP-3] */
function restructureOutlineFlaw(args: RestructureOutline): Refusal | null {
  const { op, toIndex, toPageId } = args
  const bad = (argument: string, expected: string, why: string) =>
    refused('ERR_BAD_ARGUMENT', `${why}: ${expected}.`, { argument, expected })
  if (op === 'move' && toIndex === undefined && toPageId === undefined)
    return bad('toIndex', 'the index at which the section ends up, from 0', 'op move needs toIndex')
  for (const [name, value] of Object.entries({ toIndex, toPageId }))
    if (op !== 'move' && value !== undefined) return needlessArgument(name, `${op} moves nothing`, 'it with op move only')
  return sectionFlaw(args) ?? addressFlaw({ id: args.id }, args.expectedVersion)
}

/** Changes the level of a heading, or moves its section, with or without its subsections. [TOOL-restructure_outline, AG-78] */
export const restructureOutline: Edit<RestructureOutline, Restructured> = (body, args, environment) => {
  const flaw = restructureOutlineFlaw(args)
  if (flaw !== null) return flaw
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const { op, toIndex, toPageId, withSubsections = false } = args
  const from = findHeading(page, args)
  if (typeof from === 'object') return from
  const span = { from, end: sectionEnd(page.tree, from, withSubsections) }
  if (toPageId !== undefined && toPageId !== page.pageId) return moveToPage(page, span, { ...args, toPageId })
  const isMove = op === 'move'
  const done = isMove
    ? moveSection(page.tree, span, toIndex)
    : shiftLevels(page.tree, span, op === 'promote' ? -1 : 1, withSubsections)
  const named = page.tree
    .slice(from, isMove ? from + 1 : span.end)
    .map((block, i): NamedHeading => [block, isMove ? block : (done.tree[from + i] as ProseElement)])
  const content = { fixes: [], warnings: sectionsUnderOthers(page.tree, done.tree, named) }
  return withOutlineShown(
    writePage({ ...page, content }, done, ({ tree }) => ({
      pageId: page.pageId,
      ...outlineChange(page.tree, tree, namingOf(args)),
    })),
  )
}

/** Records that the answer shows headings with their places in the outline. [AG-79] */
function withOutlineShown(edited: Edited<Restructured>): Edited<Restructured> {
  const { pageId, outline } = edited.result
  const page = findProsePage(edited.body, pageId)
  if (isRefusal(page) || outline.length === 0) return edited
  const headings = shownHeadings(pageTree(page).tree)
  const shown = outline.map(({ index }): ShownPage => {
    const blocks = headings.slice(index, index + 1)
    return { pageId, blocks, isPart: true, headings: { from: index, blocks } }
  })
  return { ...edited, shown }
}

/** Moves a section with its ids to another page. The answer shows the outline of that other page. [AG-78] */
function moveToPage(
  page: OpenPage,
  { from, end }: SectionSpan,
  { toPageId, toIndex }: { readonly toPageId: string; readonly toIndex?: number | undefined },
): Edited<Restructured> | Refusal {
  const target = findProsePage(page.body, toPageId)
  if (isRefusal(target)) return target
  const section = page.tree.slice(from, end)
  const left = applied(page.tree, [...page.tree.slice(0, from), ...page.tree.slice(end)], [])
  const there = pageTree(target)
  const done = takeSection(there.tree, section, toIndex)
  const warnings = [
    ...sectionsUnderOthers(page.tree, left.tree),
    ...sectionsUnderOthers(there.tree, done.tree, headingsIn(section)),
  ]
  const source = writePage({ ...page, content: { fixes: [], warnings } }, left, () => null)
  const { environment } = page
  const written = writePage({ body: source.body, pageId: target.id, stored: there, environment }, done, ({ tree }) => ({
    pageId: target.id,
    ...outlineChange(there.tree, tree, namingOf(page)),
  }))
  const fixes = [...source.fixes, ...written.fixes]
  return withOutlineShown({ ...written, fixes, warnings: [...source.warnings, ...written.warnings] })
}

function headingsIn(section: ProseTree): readonly NamedHeading[] {
  return section.filter(({ type }) => type === 'heading').map((heading) => [heading, heading])
}

export interface DeleteSection extends Printed {
  readonly pageId: string
  readonly id: string
  readonly withSubsections?: boolean | undefined
  readonly expectedVersion?: number | undefined
}

/** Refuses arguments of delete_section that are wrong for every document; `null` otherwise. [MCP-3] */
function deleteSectionFlaw({ id, expectedVersion }: DeleteSection): Refusal | null {
  return addressFlaw({ id }, expectedVersion)
}

/** Deletes a section. [TOOL-delete_section, AG-80] */
export const deleteSection: Edit<DeleteSection, PageDone & { readonly deleted: readonly string[] } & BlockList> = (
  body,
  args,
  environment,
) => {
  const flaw = deleteSectionFlaw(args)
  if (flaw !== null) return flaw
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const from = findHeading(page, args)
  if (typeof from === 'object') return from
  const end = sectionEnd(page.tree, from, args.withSubsections === true)
  const section = page.tree.slice(from, end)
  const heading = { id: args.id, located: { path: [from], block: section[0] as ProseElement } }
  const refusal = refuseOverwrite(page, [heading], { path: [from], count: end - from })
  if (refusal !== null) return refusal
  const done = applied(page.tree, [...page.tree.slice(0, from), ...page.tree.slice(end)], [])
  const content = { fixes: [], warnings: sectionsUnderOthers(page.tree, done.tree) }
  let after: readonly ProseElement[] = []
  const edited = writePage({ ...page, content }, done, ({ tree }) => {
    const place = Math.min(from, tree.length - 1)
    after = tree.slice(place, place + 1)
    return {
      pageId: page.pageId,
      ok: true as const,
      deleted: section.flatMap((block, i) => namesIn([from + i], block)),
      ...listBlocks(tree, { naming: namingOf(args), isOwn: false, isListed: (_, [top]) => top === place }),
    }
  })
  // An entry shows the text of a block but not its images and formulas, so only blocks that the entry shows whole count as seen.
  const blocks = [...partsOf(after)]
    .filter((block) => isToldWhole(block) && (isIdBearing(block) || !isLeaf(block)))
    .map(shownBlock)
  return { ...edited, shown: [{ pageId: page.pageId, blocks, isPart: true }] }
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
  delete_section: { edit: deleteSection, flaw: deleteSectionFlaw },
} as const satisfies Record<string, EditRow>
