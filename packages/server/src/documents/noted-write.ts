import type { BodyDelta, PageDelta } from '@docrelay/model/seen/body-delta'
import { readShownBlock, type ShownBlock } from '@docrelay/model/seen/shown'
import type { NotedChange } from './change-record.ts'

/** Returns the changes of a stored write for the record of changes. A write that changed no page is one change of the document. [AG-20] */
export function notedChanges(delta: BodyDelta): readonly NotedChange[] {
  const changes = delta.flatMap((page) => [...pageChanges(page), ...blockChanges(page), ...shapeChanges(page)])
  return changes.length > 0 ? changes : [{ kind: 'document', pageId: '', id: null, isRemoved: false }]
}

function pageChanges({ pageId, isNew, isGone }: PageDelta): readonly NotedChange[] {
  return isNew === true || isGone === true ? [{ kind: 'page', pageId, id: null, isRemoved: isGone === true }] : []
}

/** Returns the changed blocks. A list or table is named by the blocks with ids in it. If only blocks without ids changed: one change without id. */
function blockChanges({ pageId, written, gone }: PageDelta): readonly NotedChange[] {
  const now = idsOf(written)
  const known = new Set(now)
  const went = idsOf(gone).filter((id) => !known.has(id))
  const changes = [...now.map((id) => ({ id, isRemoved: false })), ...went.map((id) => ({ id, isRemoved: true }))]
  const isNameless = changes.length === 0 && written.length + gone.length > 0
  const told = isNameless ? [{ id: null, isRemoved: written.length === 0 }] : changes
  return told.map((change) => ({ kind: 'block', pageId, ...change }))
}

function idsOf(blocks: readonly ShownBlock[]): readonly string[] {
  return blocks.flatMap((shown) => readShownBlock(shown).id ?? [])
}

function shapeChanges({ pageId, shapes, goneShapes }: PageDelta): readonly NotedChange[] {
  return [
    ...shapes.map((id): NotedChange => ({ kind: 'shape', pageId, id, isRemoved: false })),
    ...goneShapes.map((id): NotedChange => ({ kind: 'shape', pageId, id, isRemoved: true })),
  ]
}
