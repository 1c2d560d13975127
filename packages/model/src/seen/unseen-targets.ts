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

/** A block as the call names it; without `id` by its text. */
export interface NamedTarget {
  readonly id: string | undefined
  readonly located: Located
}

/** What goes: consecutive blocks of one parent. */
interface Going {
  readonly path: Path
  readonly count: number
}

/**
 * Why blocks may not be overwritten or removed: a person changed one that is named by a bare id, or one that goes along is not as the caller saw
 * it. `null` when they may. [AG-27, AG-28]
 */
export function refuseOverwrite(page: OverwrittenPage, targets: readonly NamedTarget[], going: Going): Refusal | null {
  if (page.sight === undefined || page.isVersionNamed === true) return null
  for (const target of targets) {
    const refusal = refuseBare(page, page.sight, target)
    if (refusal !== null) return refusal
  }
  return refuseAlong(page, page.sight, targets, going)
}

/** [AG-28] */
function refuseBare(page: OverwrittenPage, sight: PageSight, { id, located }: NamedTarget): Refusal | null {
  if (id === undefined || stampOf(id) !== null || sight.of(located.block) !== 'changed') return null
  return sight.changer(id)?.kind === 'agent' ? null : blockChanged(page, id, located)
}

/** [AG-27] */
function refuseAlong(page: OverwrittenPage, sight: PageSight, targets: readonly NamedTarget[], going: Going): Refusal | null {
  const stamped = targets.map(({ id }) => (id === undefined ? null : stampOf(id)))
  // The stamp of a handle covers all that is in its block.
  const isWithin = targets.length === 1 && going.path.length > (targets[0]?.located.path.length ?? 0)
  const isCovered = going.count === 1 || isWithin
  if (isCovered && stamped.some((found) => found !== null && readHandle(found.id) !== null)) return null
  const isStamped = stamped.some((found) => found !== null)
  // What is in a block that is named by a handle is named with it.
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
  /** The id of the call, when it has one. With a stamp it says what was seen, so that what is not known counts as changed. */
  readonly id?: string | undefined
}

/**
 * Why blocks may not go that a call removes without naming them; `null` when all are as the caller saw them. `left`: the page without them.
 * `unit`: the container from which they go, whose handle says that all of it was seen; absent: the page. [AG-27]
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

/** Quotes what another agent wrote and this call replaces without having seen it. [AG-28] */
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

/** So many blocks are quoted; of the others only their number is told. */
const MOST_QUOTED = 20

/**
 * Quotes the blocks that a write of the whole page gives other words and keeps under their ids, so that `removed` does not name them: those that
 * the caller had not seen as they were. [AG-28]
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
