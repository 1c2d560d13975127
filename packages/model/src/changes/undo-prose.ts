import type { DocumentBody } from '../body.ts'
import { type EditEnvironment, isRefusal } from '../edit.ts'
import { updateChips } from '../fields/set-fields.ts'
import { blockIdMint, completeIds, idsOf } from '../prose/blocks.ts'
import { settleChips } from '../prose/chips.ts'
import { FixList } from '../prose/fixes.ts'
import { heal } from '../prose/heal.ts'
import type { ProseElement } from '../prose/node.ts'
import { pageTree, withPageTree } from '../prose/page.ts'
import { hashOfText } from '../stamps/stamp.ts'
import type { ChangeSet, MemberChange } from './change-set.ts'
import { prosePageHash } from './changes-between.ts'
import { applyPlan, planPage, withoutMinted } from './undo-blocks.ts'
import type { Kept } from './undo-list.ts'
import { undoPages, withUndoneMembers } from './undo-pages.ts'

interface ProseUndo {
  readonly kept: Kept[]
  /** Fields that have another value than before the undo. */
  readonly changedFields: ReadonlySet<string>
  readonly isFieldKept: boolean
  readonly environment: EditEnvironment
}

export function undoProse(given: DocumentBody, { prose }: ChangeSet, undo: ProseUndo): DocumentBody {
  const { kept, isFieldKept, environment } = undo
  const pages = undoPages({ list: given.prose.pages, change: prose, hash: prosePageHash }, kept)
  let body = pages === given.prose.pages ? given : { ...given, prose: { ...given.prose, pages } }
  const plans = (prose?.pages ?? []).flatMap((change) => {
    const page = body.prose.pages.find(({ id }) => id === change.id)
    if (page === undefined) kept.push({ id: change.id, text: '', isGone: true })
    return page === undefined ? [] : [{ page, plan: planPage(pageTree(page).tree, change) }]
  })
  const back = (prose?.list ?? []).filter(({ before, after }) => before !== undefined && after === undefined)
  // Pages that are as before the call.
  const settled = new Set(back.map(({ id }) => id))
  const staying = new Set(plans.flatMap(({ plan }) => plan.kept.map(({ id }) => id)))
  for (const { page, plan } of plans) {
    const { change } = plan
    const isExact = hashOfText(page.content) === change.after && !isFieldKept
    if (isExact) settled.add(change.id)
    const libraries = { fields: body.fields, references: body.references, nowMs: environment.nowMs }
    const shown = (block: ProseElement) => (isExact ? block : (settleChips([block], libraries).tree[0] as ProseElement))
    kept.push(...plan.kept)
    if ((change.blocks ?? []).length > 0 || (isExact && change.minted !== undefined)) {
      const done = applyPlan(plan, { isExact, isElsewhere: (id) => staying.has(id), shown })
      kept.push(...done.kept)
      const tree = heal(isExact ? withoutMinted(done.nodes, change.minted ?? []) : done.nodes, new FixList())
      const complete = isExact ? tree : completeIds(tree, blockIdMint(body, environment, idsOf(tree)))
      body = withPageTree(body, page.id, complete)
    }
    body = undoPageMembers(body, change, kept)
  }
  return withChips(body, settled, undo)
}

/**
 * Shows the values that fields got back in chips that were written or changed since; the others have what they showed before the call. `settled`: pages
 * that are as before it. [FIELD-4]
 */
function withChips(body: DocumentBody, settled: ReadonlySet<string>, { changedFields, environment }: ProseUndo): DocumentBody {
  const chips = updateChips(body, changedFields, environment, ({ id }) => !settled.has(id))
  // Chips that would show more than a page can hold are left as they are: an undo is not refused for what is derived.
  return isRefusal(chips) ? body : chips.body
}

interface Named {
  readonly id: string
  readonly members?: readonly MemberChange[]
}

function undoPageMembers(body: DocumentBody, { id, members = [] }: Named, kept: Kept[]): DocumentBody {
  const pages = body.prose.pages.map((page) => (page.id === id ? withUndoneMembers(page, members, kept) : page))
  const isSame = pages.every((page, index) => page === body.prose.pages[index])
  return isSame ? body : { ...body, prose: { ...body.prose, pages } }
}
