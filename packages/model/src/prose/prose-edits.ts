import type { DocumentBody } from '../body.ts'
import {
  isRefusal,
  refused,
  type Edit,
  type EditRow,
  type Edited,
  type EditEnvironment,
  type Fix,
  type Refusal,
  type Warning,
} from '../edit.ts'
import type { BlockList } from './block-list.ts'
import type { Printed } from './block-names.ts'
import { contentTooLarge, formatOf, readContent, type Content, type ContentArgs } from './content.ts'
import type { Located } from './blocks.ts'
import { withKnownIds } from './content-ids.ts'
import { librariesOf, writePage, type PageWrite } from './edit-page.ts'
import { isBlankPage } from './equal.ts'
import { insertAt, insertBesideUnit, placeFlaw, type InsertPlace } from './insert-place.ts'
import { deleteUnits, moveUnits, takeUnits } from './move.ts'
import { findProsePage, pageTree, type PageTree } from './page.ts'
import { replaceSpan } from './replace.ts'
import { replacePage } from './replace-page.ts'
import { needlessArgument } from '../needless.ts'
import { PageSight } from '../seen/page-sight.ts'
import { type NamedTarget, refuseOverwrite, replacedWarnings, rewrittenWarnings } from '../seen/unseen-targets.ts'
import { checkWholePage, keptWarnings, shownAfter } from '../seen/whole-page.ts'
import { codeText, isCodeText, setOneBlock } from './set-one-block.ts'
import {
  addressFlaw,
  endsOf,
  findTarget,
  isAddressed,
  spanOf,
  targetFlaw,
  unitOf,
  type Address,
  type AddressNames,
  type Span,
  type TargetPage,
} from './targets.ts'
import type { Side } from './applied.ts'
import { nodeAt, type Path } from './tree-path.ts'

/** The arguments that every edit of blocks has. */
interface PageArgs extends Printed {
  readonly pageId: string
  /** The version that the caller read, checked before the edit runs. A call with `expectedVersion` may use handles. [PROSE-47] */
  readonly expectedVersion?: number | undefined
}

export interface PageDone {
  readonly pageId: string
  readonly ok: true
}

/** A page whose blocks an edit addresses. */
export interface OpenPage extends TargetPage, Omit<PageWrite, 'content'> {
  readonly stored: PageTree
}

export function openPage(body: DocumentBody, args: PageArgs, environment: EditEnvironment): OpenPage | Refusal {
  const page = findProsePage(body, args.pageId)
  if (isRefusal(page)) return page
  const stored = pageTree(page)
  const isVersionNamed = args.expectedVersion !== undefined
  const sight = environment.seen && new PageSight(environment.seen, page.id)
  return { body, pageId: page.id, stored, tree: stored.tree, isVersionNamed, environment, naming: args.naming, sight }
}

export interface SetProse extends PageArgs, ContentArgs, Address {
  readonly untilId?: string | undefined
  readonly anchorUntil?: string | undefined
  /** Whether the content replaces the page whatever others wrote there. [AG-24] */
  readonly replace?: boolean | undefined
}

const untilNames: AddressNames = { id: 'untilId', anchor: 'anchorUntil' }

/** Refuses arguments of set_prose that are wrong for every document; `null` otherwise. [MCP-3] */
function setProseFlaw(args: SetProse): Refusal | null {
  const until = untilOf(args)
  return (
    contentTooLarge(args.content) ??
    addressFlaw(args, args.expectedVersion) ??
    addressFlaw(until, args.expectedVersion, untilNames) ??
    (isAddressed(until) && !isAddressed(args) ? openSpan() : null) ??
    (args.replace === true && isAddressed(args) ? replacedAlone() : null)
  )
}

function replacedAlone(): Refusal {
  const why = 'it is for a page that is written as a whole'
  return needlessArgument('replace', why, 'replace without id and anchor; a block is checked by the stamp of its id')
}

function untilOf({ untilId: id, anchorUntil: anchor }: SetProse): Address {
  return { id, anchor }
}

function openSpan(): Refusal {
  const expected = 'id or anchor of the first block of the span'
  return refused('ERR_BAD_ARGUMENT', `untilId and anchorUntil end a span; give the ${expected} too.`, {
    argument: 'id',
    expected,
  })
}

interface ProseSet extends PageDone, BlockList {
  /** The number of blocks that stayed as they were; only after a write of a whole page. [AG-42] */
  readonly unchanged?: number
}

/** Replaces a page, a block or consecutive blocks. [TOOL-set_prose] */
export const setProse: Edit<SetProse, ProseSet> = (body, args, environment) => {
  const flaw = setProseFlaw(args)
  if (flaw !== null) return flaw
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const found = findSpan(page, args)
  if (found !== null && isRefusal(found)) return found
  const refusal = found && refuseOverwrite(page, found.targets, found.span)
  if (refusal !== null) return refusal
  const span = found && found.span
  const one = span?.count === 1 ? nodeAt(page.tree, span.path) : undefined
  const isCode = one?.type === 'codeBlock' && isCodeText(args)
  const read = isCode ? codeText(args, one) : readContent(args, librariesOf(body, environment), page.tree)
  if (isRefusal(read)) return read
  if (found === null || span === null) return setPage(page, read, args)
  const content = { ...read, tree: withKnownIds(read.tree, page.tree) }
  const warned = { ...content, warnings: [...content.warnings, ...replacedWarnings(page, found.targets)] }
  if (one !== undefined) return setBlock(page, span.path, warned, args.format)
  const done = replaceSpan(page.tree, span, content.tree)
  return writePage({ ...page, content: warned }, done, (written) => ({
    pageId: page.pageId,
    ok: true,
    ...formatOf(content),
    ...written.written('own'),
  }))
}

function setBlock(page: OpenPage, path: Path, content: Content, format: SetProse['format']): Edited<PageDone & BlockList> {
  const isMarkdown = format !== 'html' && content.format === undefined
  const { done, fixes, warnings } = setOneBlock(page.tree, path, content, isMarkdown)
  const told = { ...content, fixes: [...content.fixes, ...fixes], warnings: [...content.warnings, ...warnings] }
  return writePage({ ...page, content: told }, done, (written) => ({
    pageId: page.pageId,
    ok: true,
    ...formatOf(content),
    ...written.written('own'),
  }))
}

/**
 * Writes a whole page. Reports no heals of the stored page, since the call replaces every block. [PROSE-24, PROSE-54]
 */
function setPage(page: OpenPage, content: Content, args: SetProse): Edited<ProseSet> | Refusal {
  const stored = { ...page.stored, warnings: [] }
  const checked = checkWholePage(page, content, args.replace === true)
  if (isRefusal(checked)) return checked
  const done = replacePage(page.tree, withKnownIds(checked.tree, page.tree))
  const empty = content.isBlank && !isBlankPage(page.tree) ? [emptied(page.tree.length)] : []
  const isMeant = args.replace === true || done.tree === page.tree
  const kept = isMeant ? keptWarnings(page.tree, checked) : []
  const warnings = [...content.warnings, ...empty, ...checked.warnings, ...kept, ...rewrittenWarnings(page, done.tree)]
  const edited = writePage({ ...page, stored, content: { ...content, warnings } }, done, (written) => ({
    pageId: page.pageId,
    ok: true as const,
    ...formatOf(content),
    ...written.whole(checked.untouched),
  }))
  return { ...edited, shown: [shownAfter(page, done.tree, checked)], ...(checked.isBlind && { isBlind: true }) }
}

/** Warns about an empty `content`, which may be a mistake of the caller. [TOOL-19] */
function emptied(blocks: number): Warning {
  return { reason: `the page had ${blocks} ${blocks === 1 ? 'block' : 'blocks'} and is empty now` }
}

/** The blocks that a call names (`targets`), and the blocks that the call replaces or removes (`span`). */
interface FoundSpan {
  readonly targets: readonly NamedTarget[]
  readonly span: Span
}

/** Returns the blocks to replace; `null` when the call replaces the whole page. [PROSE-52] */
function findSpan(page: OpenPage, args: SetProse): FoundSpan | Refusal | null {
  if (!isAddressed(args)) return null
  const end = untilOf(args)
  const from = findTarget(page, args)
  if (isRefusal(from)) return from
  const until = isAddressed(end) ? findTarget(page, end, untilNames) : from
  if (isRefusal(until)) return until
  const span = spanOf(endsOf(from).first, endsOf(until).last)
  if (isRefusal(span)) return span
  const first = { id: args.id, located: from }
  return { targets: until === from ? [first] : [first, { id: end.id, located: until }], span }
}

/** Returns the block beside which content goes: the target, or the first or last block of a target cell. */
function besideOf(target: Located, side: Side = 'after'): Located {
  const { first, last } = endsOf(target)
  return side === 'before' ? first : last
}

export interface InsertBlock extends PageArgs, ContentArgs, Address, InsertPlace {}

/** Refuses arguments of insert_block that are wrong for every document; `null` otherwise. [MCP-3] */
function insertBlockFlaw(args: InsertBlock): Refusal | null {
  return contentTooLarge(args.content) ?? placeFlaw(args, args.expectedVersion)
}

/** Inserts content beside a block, or at an end of the page. [TOOL-insert_block] */
export const insertBlock: Edit<InsertBlock, PageDone & BlockList> = (body, args, environment) => {
  const flaw = insertBlockFlaw(args)
  if (flaw !== null) return flaw
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const target = args.at === undefined ? findTarget(page, args) : null
  if (target !== null && isRefusal(target)) return target
  const content = readContent(args, librariesOf(body, environment))
  if (isRefusal(content)) return content
  if (content.isBlank) return nothingToInsert(content.fixes)
  const { done, fixes, warnings } =
    target === null
      ? { done: insertAt(page.tree, args.at ?? 'end', content.tree), fixes: [], warnings: [] }
      : insertBesideUnit(page.tree, unitOf(page.tree, besideOf(target, args.side).path), content.tree, args)
  const told = { ...content, fixes: [...content.fixes, ...fixes], warnings: [...content.warnings, ...warnings] }
  return writePage({ ...page, content: told }, done, (written) => ({
    pageId: page.pageId,
    ok: true,
    ...formatOf(content),
    ...written.written('own'),
  }))
}

/** Refuses content without a block. When all content was left out, the refusal gives the reasons. [TOOL-8] */
function nothingToInsert(fixes: readonly Fix[]): Refusal {
  const reasons = [...new Set(fixes.map(({ reason }) => reason))].slice(0, 3)
  const why = reasons.length === 0 ? '' : ` What came was left out: ${reasons.join('; ')}.`
  return refused('ERR_INSERT_EMPTY', `The content has no block; give at least one to insert.${why}`)
}

export interface DeleteBlock extends PageArgs, Address {
  readonly untilId?: string | undefined
}

/** Refuses arguments of delete_block that are wrong for every document; `null` otherwise. [MCP-3] */
function deleteBlockFlaw(args: DeleteBlock): Refusal | null {
  return targetFlaw(args, args.expectedVersion) ?? addressFlaw({ id: args.untilId }, args.expectedVersion, untilNames)
}

/** Deletes a block, or the blocks from one to another. [TOOL-delete_block, AG-81] */
export const deleteBlock: Edit<DeleteBlock, PageDone & { readonly deleted: readonly string[] }> = (body, args, environment) => {
  const flaw = deleteBlockFlaw(args)
  if (flaw !== null) return flaw
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const found = findUnits(page, args)
  if (isRefusal(found)) return found
  const { targets, span } = found
  const refusal = refuseOverwrite(page, targets, span)
  if (refusal !== null) return refusal
  const done = deleteUnits(page.tree, span)
  const content = { fixes: [], warnings: replacedWarnings(page, targets) }
  return writePage({ ...page, content }, done, () => ({ pageId: page.pageId, ok: true, deleted: done.deleted }))
}

/** Returns the unit that a call names, or the units from this unit to the unit of `untilId`. [PROSE-51, AG-81] */
function findUnits(page: OpenPage, args: Address & { readonly untilId?: string | undefined }): FoundSpan | Refusal {
  const from = findTarget(page, args)
  if (isRefusal(from)) return from
  const until = args.untilId === undefined ? from : findTarget(page, { id: args.untilId }, untilNames)
  if (isRefusal(until)) return until
  const unit = (block: Located): Located => ({ ...block, path: unitOf(page.tree, block.path) })
  const span = spanOf(unit(endsOf(from).first), unit(endsOf(until).last))
  if (isRefusal(span)) return span
  const first = { id: args.id, located: from }
  return { targets: until === from ? [first] : [first, { id: args.untilId, located: until }], span }
}

export interface MoveBlock extends PageArgs, Address {
  readonly untilId?: string | undefined
  readonly targetId?: string | undefined
  readonly targetAnchor?: string | undefined
  /** The page of the target; when absent, the page of the moved blocks. */
  readonly toPageId?: string | undefined
  readonly side?: Side | undefined
}

const moveNames: AddressNames = { id: 'targetId', anchor: 'targetAnchor' }

function targetOf({ targetId: id, targetAnchor: anchor }: MoveBlock): Address {
  return { id, anchor }
}

/** Refuses arguments of move_block that are wrong for every document; `null` otherwise. [MCP-3] */
function moveBlockFlaw(args: MoveBlock): Refusal | null {
  const { expectedVersion, untilId: id } = args
  return (
    targetFlaw(args, expectedVersion) ??
    addressFlaw({ id }, expectedVersion, untilNames) ??
    targetFlaw(targetOf(args), expectedVersion, moveNames)
  )
}

/** Moves a block, or consecutive blocks, beside a block of the same or another page. [TOOL-move_block, AG-81] */
export const moveBlock: Edit<MoveBlock, PageDone & BlockList> = (body, args, environment) => {
  const flaw = moveBlockFlaw(args)
  if (flaw !== null) return flaw
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const found = findUnits(page, args)
  if (isRefusal(found)) return found
  const source = found.span
  const { toPageId = page.pageId, side = 'after' } = args
  const there = toPageId === page.pageId ? page : openPage(body, { ...args, pageId: toPageId }, environment)
  if (isRefusal(there)) return there
  const target = findTarget(there, targetOf(args), moveNames)
  if (isRefusal(target)) return target
  const to = unitOf(there.tree, besideOf(target, side).path)
  if (there === page) {
    const done = moveUnits(page.tree, source, to, side)
    return isRefusal(done)
      ? done
      : writePage(page, done, (written) => ({ pageId: page.pageId, ok: true, ...written.written('stored') }))
  }
  const done = takeUnits(page.tree, source, { tree: there.tree, unit: to, side })
  if (isRefusal(done)) return done
  const left = writePage(page, done.left, () => null)
  const taken = writePage({ ...there, body: left.body }, done.taken, (written) => ({
    pageId: there.pageId,
    ok: true as const,
    ...written.written('stored'),
  }))
  return { ...taken, fixes: [...left.fixes, ...taken.fixes], warnings: [...left.warnings, ...taken.warnings] }
}

export const blockEdits = {
  set_prose: { edit: setProse, flaw: setProseFlaw },
  insert_block: { edit: insertBlock, flaw: insertBlockFlaw },
  delete_block: { edit: deleteBlock, flaw: deleteBlockFlaw },
  move_block: { edit: moveBlock, flaw: moveBlockFlaw },
} as const satisfies Record<string, EditRow>
