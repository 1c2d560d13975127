import type { Warning } from '../edit.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { levelOf } from './outline.ts'
import { titleText } from './text.ts'

/** The heading of a section that the call named, before and after the edit. */
export type NamedHeading = readonly [before: ProseElement, after: ProseElement]

const SHOWN = 5
const SHOWN_CHARACTERS = 60

/**
 * Warns of sections that lie under another heading than before the edit, except sections that the call named. A section lies under the nearest heading before
 * it with a lower level. A heading that the call does not name is the same object (`===`) before and after the edit. [AG-40]
 */
export function sectionsUnderOthers(
  before: ProseTree,
  after: ProseTree,
  named: readonly NamedHeading[] = [],
): readonly Warning[] {
  const [was, is] = [parents(before), parents(after)]
  const formerly = new Map(named.map(([old, now]) => [now, old]))
  const moved: string[] = []
  let count = 0
  for (const [heading, parent] of is) {
    if (formerly.has(heading) || !was.has(heading)) continue
    const [old, now] = [was.get(heading) ?? null, parent === null ? null : (formerly.get(parent) ?? parent)]
    if (old === now) continue
    count++
    if (moved.length < SHOWN) moved.push(`"${titleOf(heading)}" was ${under(old)} and is ${under(parent)}`)
  }
  if (count === 0) return []
  const what = count === 1 ? 'a section lies' : `${count} sections lie`
  return [
    { reason: `${what} under another heading now: ${moved.join('; ')}${count > SHOWN ? `; and ${count - SHOWN} more` : ''}` },
  ]
}

/** Maps each top-level heading of a page to the heading under which its section lies; `null` for no heading. */
function parents(tree: ProseTree): ReadonlyMap<ProseElement, ProseElement | null> {
  const found = new Map<ProseElement, ProseElement | null>()
  const open: ProseElement[] = []
  for (const block of tree) {
    if (block.type !== 'heading') continue
    while (open.length > 0 && levelOf(open.at(-1) as ProseElement) >= levelOf(block)) open.pop()
    found.set(block, open.at(-1) ?? null)
    open.push(block)
  }
  return found
}

function under(heading: ProseElement | null): string {
  return heading === null ? 'under none' : `under "${titleOf(heading)}"`
}

function titleOf(heading: ProseElement): string {
  const points = [...titleText(heading)]
  return points.length <= SHOWN_CHARACTERS ? points.join('') : `${points.slice(0, SHOWN_CHARACTERS).join('')}…`
}
