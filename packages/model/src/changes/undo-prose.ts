import type { DocumentBody, ProsePage } from '../body.ts'
import { type EditEnvironment, isRefusal } from '../edit.ts'
import { updateChips } from '../fields/set-fields.ts'
import { blockIdMint, completeIds, idsOf } from '../prose/blocks.ts'
import { settleChips } from '../prose/chips.ts'
import { FixList } from '../prose/fixes.ts'
import { heal } from '../prose/heal.ts'
import type { ProseElement } from '../prose/node.ts'
import { pageTree, withPageTree, withProsePage, withProsePages } from '../prose/page.ts'
import { hashOfText } from '../stamps/stamp.ts'
import type { ChangeSet } from './change-set.ts'
import { prosePageHash } from './changes-between.ts'
import { applyPlan, type PagePlan, planPage, withoutMinted } from './undo-blocks.ts'
import type { Kept } from './undo-list.ts'
import {
  type Elsewhere,
  elsewhereOf,
  isHomeless,
  keptStrays,
  saidBefore,
  strayBlocks,
  treeOf,
  treeWithout,
  withNothingLost,
} from './undo-moves.ts'
import { undoPages, withUndoneMembers } from './undo-pages.ts'

interface ProseUndo {
  readonly kept: Kept[]
  /** Names of the fields whose values the undo changed. */
  readonly changedFields: ReadonlySet<string>
  readonly isFieldKept: boolean
  readonly environment: EditEnvironment
}

export function undoProse(given: DocumentBody, set: ChangeSet, undo: ProseUndo): DocumentBody {
  const present = new Map(given.prose.pages.map((page) => [page.id, page]))
  const changes = set.prose?.pages ?? []
  const planned = changes.flatMap((change) => {
    const page = present.get(change.id)
    return page === undefined ? [] : [planPage(pageTree(page).tree, change)]
  })
  const { plans, homes } = withNothingLost(planned, set, given)
  const isStuck = (made: ProsePage) => isHomeless(treeOf(made), homes)
  const rules = { list: given.prose.pages, change: set.prose, hash: prosePageHash, mustStay: isStuck }
  const pages = undoPages(rules, undo.kept)
  const staying = pages.filter(({ id }) => present.has(id))
  const made = staying.filter(({ id }) => isMade(id, set))
  const gone = changes.filter(({ id }) => !present.has(id))
  for (const { id } of gone) undo.kept.push({ id, text: '', isGone: true })
  const list = (set.prose?.list ?? []).filter(({ id }) => !present.has(id) || staying.some((page) => page.id === id))
  const around = { list, gone, pages: staying }
  const strays = strayBlocks(plans, around)
  const elsewhere = elsewhereOf(plans, { made, strays, said: saidBefore(set) })
  let body = pages === given.prose.pages ? given : withProsePages(given, pages)
  for (const page of pages) if (!present.has(page.id)) body = withPageBack(body, page, elsewhere)
  const told = new Set(idsOf([...plans.flatMap((plan) => plan.staying.map(({ block }) => block)), ...made.flatMap(treeOf)]))
  const settled = new Set(pages.filter(({ id }) => !present.has(id)).map(({ id }) => id))
  undo.kept.push(...keptStrays(plans, around, strays).filter(({ id }) => !homes.former.has(id) || !homes.open.has(id)))
  for (const plan of plans) {
    const isExact = isAsLeft(present.get(plan.change.id) as ProsePage, plan) && !undo.isFieldKept
    if (isExact) settled.add(plan.change.id)
    body = undoPage(body, plan, { ...undo, isExact, elsewhere, isTold: (id) => told.has(id) })
  }
  return withChips(body, settled, undo)
}

function isMade(id: string, { prose }: ChangeSet): boolean {
  return (prose?.list ?? []).some((entry) => entry.id === id && entry.before === undefined && entry.from === undefined)
}

/** Whether nobody wrote on a page since the call, and everything that the call did there is undone. */
function isAsLeft({ content }: ProsePage, { change, kept }: PagePlan): boolean {
  return hashOfText(content) === change.after && kept.length === 0
}

function withPageBack(body: DocumentBody, page: ProsePage, elsewhere: Elsewhere): DocumentBody {
  const tree = treeOf(page)
  const left = treeWithout(tree, elsewhere)
  return left === tree ? body : withPageTree(body, page.id, heal(left, new FixList()))
}

interface PageUndo extends Omit<Parameters<typeof applyPlan>[1], 'shown'>, ProseUndo {}

function undoPage(body: DocumentBody, plan: PagePlan, { kept, environment, ...how }: PageUndo): DocumentBody {
  const { change } = plan
  const { isExact } = how
  const libraries = { fields: body.fields, references: body.references, nowMs: environment.nowMs }
  const shown = (block: ProseElement) => (isExact ? block : (settleChips([block], libraries).tree[0] as ProseElement))
  let undone = body
  kept.push(...plan.kept)
  if ((change.blocks ?? []).length > 0 || (isExact && change.minted !== undefined)) {
    const done = applyPlan(plan, { ...how, shown })
    kept.push(...done.kept)
    const tree = heal(isExact ? withoutMinted(done.nodes, change.minted ?? []) : done.nodes, new FixList())
    const complete = isExact ? tree : completeIds(tree, blockIdMint(body, environment, idsOf(tree)))
    undone = withPageTree(body, change.id, complete)
  }
  return withProsePage(undone, change.id, (page) => withUndoneMembers(page, change.members ?? [], kept))
}

/**
 * Updates chips to the restored values of their fields. Skips the pages `settled`: they are as before the call, and so are their chips. [FIELD-4]
 */
function withChips(body: DocumentBody, settled: ReadonlySet<string>, { changedFields, environment }: ProseUndo): DocumentBody {
  const chips = updateChips(body, changedFields, environment, ({ id }) => !settled.has(id))
  // When the new labels would be too long for a page, all chips stay as they are: derived text is no reason to refuse an undo.
  return isRefusal(chips) ? body : chips.body
}
