import { blockStamp } from '../prose/block-stamp.ts'
import type { ProseElement } from '../prose/node.ts'
import type { SeenOutline } from './seen.ts'
import { partId, readShownBlock, type ShownBlock, type ShownHeadings } from './shown.ts'

/** Returns the outline that a caller knows after an answer showed some headings. [AG-79] */
export function outlineShown(known: SeenOutline, { from, blocks, isAll }: ShownHeadings): SeenOutline {
  const before = isAll === true ? [] : Array.from({ length: from }, (_, index) => known[index] ?? null)
  return [...before, ...blocks, ...(isAll === true ? [] : known.slice(from + blocks.length))]
}

/**
 * Returns the outline that a caller knows after a write of its own: with the headings that the write added, moved or removed, and without the changes that
 * others made before the write. Returns `null` when the caller did not know a whole outline. [AG-79]
 */
export function outlineWritten(
  known: SeenOutline,
  { before, after }: { readonly before: readonly ShownBlock[]; readonly after: readonly ShownBlock[] },
): SeenOutline | null {
  const shown = known.filter((heading) => heading !== null)
  if (shown.length < known.length) return null
  const was = (heading: ShownBlock) => before.some((other) => isSame(other, heading))
  const list = after.filter((heading) => !was(heading) || shown.some((other) => isSame(other, heading)))
  for (const [index, heading] of shown.entries()) {
    if (was(heading)) continue
    // Somebody else removed this heading, which the caller does not know. So the heading stays behind the heading that was before it.
    const earlier = shown.slice(0, index).findLast((other) => list.some((each) => isSame(each, other)))
    const place = earlier === undefined ? 0 : list.findIndex((each) => isSame(each, earlier)) + 1
    list.splice(place, 0, heading)
  }
  return list
}

/** Whether two shown headings are the same: by id, or by stamp when one of them has no id, since a heading may get an id later. */
function isSame(a: ShownBlock, b: ShownBlock): boolean {
  const [one, other] = [readShownBlock(a), readShownBlock(b)]
  return one.id !== null && other.id !== null ? one.id === other.id : one.stamp === other.stamp
}

/** Whether a stored block is a heading that was shown. */
export function isShownHeading(shown: ShownBlock, block: ProseElement): boolean {
  const { id, stamp } = readShownBlock(shown)
  return id === null ? blockStamp(block) === stamp : id === partId(block)
}
