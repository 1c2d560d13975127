import type { Refusal, Warning } from '../edit.ts'
import { bareName, type Printed } from '../prose/block-names.ts'
import { blockId, idBearing, leaves, type Located } from '../prose/blocks.ts'
import { readHandle } from '../prose/handles.ts'
import type { ProseTree } from '../prose/node.ts'
import { blockChanged } from '../prose/stamped-blocks.ts'
import { blockText } from '../prose/text.ts'
import { indexOf, nodeAt, parentOf, type Path } from '../prose/tree-path.ts'
import { quote } from '../quote.ts'
import { readStampedId } from '../stamps/stamp.ts'
import { PageSight } from './page-sight.ts'
import type { Seen } from './seen.ts'
import { partId, partsOf, shownBlock } from './shown.ts'

/** A page of which a call overwrites or removes blocks. */
export interface OverwrittenPage extends Printed {
  readonly tree: ProseTree
  readonly isVersionNamed?: boolean
  readonly sight?: PageSight | undefined
}

/** A block that a call names, by `id`; a call without `id` names the block by its text. */
export interface NamedTarget {
  readonly id: string | undefined
  readonly located: Located
}

/** The blocks that a call removes or replaces: `count` consecutive blocks of one parent, from `path` on. */
interface Going {
  readonly path: Path
  readonly count: number
}

/**
 * Refuses to overwrite or remove blocks in two cases: a block that the call names by a bare id was changed, and not by an agent; or a block that would go
 * along, without being named, is not as the caller saw it. Returns `null` otherwise. [AG-27, AG-28]
 */
export function refuseOverwrite(page: OverwrittenPage, targets: readonly NamedTarget[], going: Going): Refusal | null {
  if (page.sight === undefined || page.isVersionNamed === true) return null
  for (const target of targets) {
    const refusal = refuseBare(page, page.sight, target)
    if (refusal !== null) return refusal
  }
  return refuseAlong(page, page.sight, targets, going)
}

/** Refuses a block that is named by a bare id and that somebody, not known to be an agent, changed after the caller saw it. [AG-28] */
function refuseBare(page: OverwrittenPage, sight: PageSight, { id, located }: NamedTarget): Refusal | null {
  if (id === undefined || stampOf(id) !== null || sight.of(located.block) !== 'changed') return null
  return sight.changer(id)?.kind === 'agent' ? null : blockChanged(page, id, located)
}

/** Refuses when a block that goes along with the named blocks is not as the caller saw it. [AG-27] */
function refuseAlong(page: OverwrittenPage, sight: PageSight, targets: readonly NamedTarget[], going: Going): Refusal | null {
  const stamped = targets.map(({ id }) => (id === undefined ? null : stampOf(id)))
  // The stamp of a handle covers all blocks in the block that the handle names.
  const isWithin = targets.length === 1 && going.path.length > (targets[0]?.located.path.length ?? 0)
  const isCovered = going.count === 1 || isWithin
  if (isCovered && stamped.some((found) => found !== null && readHandle(found.id) !== null)) return null
  const isStamped = stamped.some((found) => found !== null)
  // The blocks inside a named block count as named too.
  const named = new Set(targets.flatMap(({ located }) => leaves([located.block]).map(({ block }) => block)))
  const start = indexOf(going.path)
  for (let i = 0; i < going.count; i++) {
    const path = [...parentOf(going.path), start + i]
    for (const { path: inside, block } of leaves([nodeAt(page.tree, path)])) {
      if (named.has(block) || !isUnseen(sight, block, isStamped)) continue
      const located = { path: [...path, ...inside.slice(1)], block }
      const [first] = targets
      const name = first?.id ?? quote(blockText(first?.located.block ?? block))
      return blockChanged(page, name, located, { path, block: nodeAt(page.tree, path) })
    }
  }
  return null
}

function isUnseen(sight: PageSight, block: Located['block'], isStamped: boolean): boolean {
  const found = sight.of(block)
  if (found !== 'unknown') return found === 'changed'
  return isStamped || sight.isWhole || sight.changer(blockId(block)) !== undefined
}

/** A page of which a call removes blocks that it does not name. */
export interface ShrunkPage extends Printed {
  readonly pageId: string
  readonly tree: ProseTree
  readonly expectedVersion?: number | undefined
  /** The `id` argument of the call, if any. When `id` has a stamp, a block that the caller is not known to have seen counts as changed. */
  readonly id?: string | undefined
}

/**
 * Refuses to remove blocks that the call does not name when one of these blocks is not as the caller saw it; `null` otherwise. `left` is the page after the
 * removal. `unit` is the container of the removed blocks, whose handle the refusal shows; absent for the page itself. [AG-27]
 */
export function refuseGone(
  seen: Seen,
  { pageId, tree, expectedVersion, naming, id: named }: ShrunkPage,
  left: ProseTree = [],
  unit?: Located,
): Refusal | null {
  const stamped = named === undefined ? null : stampOf(named)
  if (expectedVersion !== undefined || (stamped !== null && readHandle(stamped.id) !== null)) return null
  const sight = new PageSight(seen, pageId)
  const stays = new Set(Array.from(partsOf(left), (block) => partId(block) ?? shownBlock(block)))
  for (const located of leaves(tree)) {
    const id = partId(located.block)
    if (!stays.has(id ?? shownBlock(located.block)) && isUnseen(sight, located.block, stamped !== null))
      return blockChanged({ sight, naming }, id ?? bareName(located), located, unit)
  }
  return null
}

/** Quotes the named blocks that this call replaces although another agent changed them after the caller saw them. [AG-28] */
export function replacedWarnings(
  { sight, isVersionNamed }: OverwrittenPage,
  targets: readonly NamedTarget[],
): readonly Warning[] {
  if (sight === undefined || isVersionNamed === true) return []
  return targets.flatMap(({ id, located }): readonly Warning[] => {
    if (id === undefined || stampOf(id) !== null || sight.of(located.block) !== 'changed') return []
    return [replacedWords(sight, id, located.block)]
  })
}

/** The most blocks that warnings quote; the further blocks are only counted. */
const MOST_QUOTED = 20

/**
 * Quotes the blocks whose words a write of the whole page replaces under the same ids, and that the caller had not seen as they were. The list `removed` of
 * the answer does not name these blocks. [AG-28]
 */
export function rewrittenWarnings({ tree, sight, isVersionNamed }: OverwrittenPage, after: ProseTree): readonly Warning[] {
  if (sight === undefined || isVersionNamed === true) return []
  const texts = new Map(idBearing(after).map(({ block }) => [blockId(block), blockText(block)]))
  const rewritten = idBearing(tree).flatMap(({ block }) => {
    const id = blockId(block)
    const text = id === null ? undefined : texts.get(id)
    return id === null || text === undefined || text.includes(blockText(block)) || sight.of(block) === 'same'
      ? []
      : [{ id, block }]
  })
  const more = rewritten.length - MOST_QUOTED
  return [
    ...rewritten.slice(0, MOST_QUOTED).map(({ id, block }) => replacedWords(sight, id, block)),
    ...(more > 0 ? [{ reason: `${more} more blocks that you had not seen said something else` }] : []),
  ]
}

function replacedWords(sight: PageSight, id: string, block: Located['block']): Warning {
  const said = `the block ${quote(id)} said "${quote(blockText(block))}"`
  if (sight.of(block) === 'unknown') return { reason: `${said}, which you were not shown` }
  const who = sight.changer(id)
  const by = who === undefined ? 'somebody' : quote(who.name === undefined ? who.id : `${who.name} (${who.id})`)
  return { reason: `${said}, written by ${by} after you read it` }
}

function stampOf(id: string) {
  return readStampedId(id)
}
