import type { DocumentBody } from '../body.ts'
import { bareName, isPrintable } from '../prose/block-names.ts'
import { blockId, idBearing } from '../prose/blocks.ts'
import { readHandle } from '../prose/handles.ts'
import { pageTree } from '../prose/page.ts'
import { quote } from '../quote.ts'
import { changedBy } from '../seen/page-sight.ts'
import type { Seen } from '../seen/seen.ts'
import type { Kept } from './undo-list.ts'

/**
 * Returns `kept` as the answer of an undo lists it: each entry with who changed it last, and without ids that may not be printed, since an editor can
 * store any text as an id. [AG-12, AG-70]
 */
export function toldKept(kept: readonly Kept[], body: DocumentBody, seen: Seen | undefined): readonly Kept[] {
  return kept.flatMap(({ id, text }): readonly Kept[] => {
    const name = isPrintable(id) || readHandle(id) !== null ? id : nameOfOther(id, body)
    const who = seen?.changes.find((change) => change.id === id)?.who
    return name === null ? [] : [{ id: name, text, ...changedBy(who) }]
  })
}

/** Names a part whose id may not be printed: a block by its place, a field or reference by its quoted name. `null` for a shape or page. */
function nameOfOther(id: string, { prose, canvas }: DocumentBody): string | null {
  for (const page of prose.pages) {
    const found = page.content === '' ? undefined : idBearing(pageTree(page).tree).find(({ block }) => blockId(block) === id)
    if (found !== undefined) return bareName(found)
  }
  const isOfPages = [...prose.pages, ...canvas.pages, ...canvas.pages.flatMap(({ shapes }) => shapes)].some(
    (one) => one.id === id,
  )
  return isOfPages ? null : quote(id)
}
