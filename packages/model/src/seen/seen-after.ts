import type { DocumentBody } from '../body.ts'
import { bodyDelta, type PageDelta, stillUnseen } from './body-delta.ts'
import type { Seen, SeenPage } from './seen.ts'
import { outlineShown, outlineWritten } from './seen-outline.ts'
import { readShownBlock, type ShownBlock, type ShownPage } from './shown.ts'

/**
 * Returns what the caller of several steps has seen after one of the steps. The caller knows what the step wrote, so the next step is compared with that and
 * not with what the caller saw before the call. `wholePages` are the pages that the step wrote as a whole. [AG-19, AG-53]
 */
export function seenAfter(
  seen: Seen,
  bodies: { readonly before: DocumentBody; readonly after: DocumentBody },
  wholePages: readonly ShownPage[] = [],
): Seen {
  const delta = bodyDelta(bodies.before, bodies.after)
  if (delta.length + wholePages.length === 0) return seen
  const pages = new Map(seen.pages.map((page) => [page.pageId, page]))
  for (const change of delta) {
    const page = pages.get(change.pageId)
    if (change.isGone === true) pages.delete(change.pageId)
    else if (page !== undefined || change.isNew === true || change.written.length > 0)
      pages.set(change.pageId, writtenPage(page, change))
  }
  for (const { pageId, blocks, headings } of wholePages)
    pages.set(pageId, { pageId, isWhole: true, blocks, outline: headings === undefined ? [] : outlineShown([], headings) })
  return { ...seen, pages: [...pages.values()] }
}

function writtenPage(known: SeenPage | undefined, change: PageDelta): SeenPage {
  const { pageId, outlines, isNew } = change
  const { blocks = [], isWhole = isNew === true, outline = [] } = known ?? {}
  const now = outlines === undefined ? outline : isNew === true ? outlines.after : (outlineWritten(outline, outlines) ?? [])
  const byId = new Map(blocks.map((block) => [readShownBlock(block).id, block]))
  const unseen = stillUnseen(change, (id) => byId.get(id), false)
  const isTold = (block: ShownBlock) => !unseen.has(readShownBlock(block).id ?? '')
  const [gone, written] = [change.gone.filter(isTold), change.written.filter(isTold)]
  return { pageId, isWhole, blocks: [...without(blocks, [...gone, ...written]), ...written], outline: now }
}

/** Removes the blocks `left` from `blocks`: blocks with an id by the id alone, each block without id once for each time that `left` has it. */
function without(blocks: readonly ShownBlock[], left: readonly ShownBlock[]): readonly ShownBlock[] {
  const ids = new Set(left.map((block) => readShownBlock(block).id))
  const counts = new Map<ShownBlock, number>()
  for (const block of left) counts.set(block, (counts.get(block) ?? 0) + 1)
  return blocks.filter((block) => {
    const { id } = readShownBlock(block)
    if (id !== null) return !ids.has(id)
    const count = counts.get(block) ?? 0
    counts.set(block, count - 1)
    return count <= 0
  })
}
