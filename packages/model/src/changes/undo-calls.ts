import type { DocumentBody } from '../body.ts'
import type { Router } from '../canvas/route.ts'
import { routedAs } from '../canvas/ways.ts'
import { type Edit, type EditRow, refused, type Refusal, type Warning } from '../edit.ts'
import { type BlockList, listBlocks } from '../prose/block-list.ts'
import { type Naming, namingOf, type Printed } from '../prose/block-names.ts'
import { blockId } from '../prose/blocks.ts'
import type { ProseElement } from '../prose/node.ts'
import { pageTree } from '../prose/page.ts'
import type { ChangeSet } from './change-set.ts'
import { changesBetween } from './changes-between.ts'
import { toldKept } from './told-kept.ts'
import { undoChanges } from './undo-changes.ts'
import type { Kept } from './undo-list.ts'

/** A stored call, with its record as JSON. */
export interface UndoTarget {
  readonly callId: string
  readonly record: string
}

/** The arguments of `undo`, with the calls that the server found in the store for these arguments. */
export interface UndoCalls extends Printed {
  readonly callId?: string | undefined
  readonly last?: number | undefined
  /** The calls to undo, newest first. */
  readonly targets?: readonly UndoTarget[] | undefined
  /** Why the calls cannot be undone. A repeat of an `undo` with the same request id still gets the first answer, not this refusal. */
  readonly refusal?: Refusal | undefined
}

export interface CallsUndone extends BlockList {
  /** The ids of the calls of which at least one change was undone. */
  readonly undone: readonly string[]
  readonly kept?: readonly Kept[]
  readonly keptTotal?: number
}

const MOST_KEPT = 20

/** Checks the arguments that do not depend on the document. [MCP-3] */
function undoFlaw({ callId, last }: UndoCalls): Refusal | null {
  if ((callId === undefined) !== (last === undefined)) return null
  const expected = 'either callId or last'
  const got = callId === undefined ? 'neither' : 'both'
  return refused('ERR_BAD_ARGUMENT', `Give ${expected}: the call to undo, or how many of your last calls.`, {
    argument: 'callId',
    expected,
    got,
  })
}

/** Undoes calls, newest first, all in one write. [AG-68 to AG-71] */
export function undoCalls(route: Router): Edit<UndoCalls, CallsUndone> {
  return (body, args, environment) => {
    const { refusal, targets = [] } = args
    if (refusal !== undefined) return refusal
    const kept = new Map<string, Kept>()
    const undone: string[] = []
    const warnings: Warning[] = []
    let present = body
    for (const { callId, record } of targets) {
      const done = undoChanges(present, JSON.parse(record) as ChangeSet, environment, route)
      if (done.body !== present) undone.push(callId)
      present = done.body
      for (const each of done.kept) kept.set(each.id, each)
      warnings.push(...done.warnings)
    }
    const list = [...kept.values()]
    const shown = toldKept(list, present, environment.seen).slice(0, MOST_KEPT)
    const told = list.length === 0 ? {} : { kept: shown, ...(list.length > shown.length && { keptTotal: list.length }) }
    return {
      kind: 'edited',
      body: present,
      result: { undone, ...told, ...writtenBlocks(body, present, namingOf(args)) },
      fixes: [],
      warnings: undone.length > 0 ? warnings : [nothingUndone(list)],
    }
  }
}

function nothingUndone(kept: readonly Kept[]): Warning {
  return { reason: `nothing was changed: ${whyNothing(kept)}` }
}

function whyNothing(kept: readonly Kept[]): string {
  if (kept.length === 0) return 'nothing of it is left'
  const gone = kept.filter(({ isGone }) => isGone === true).length
  if (gone === 0) return 'somebody changed everything since, see kept'
  return `${gone === kept.length ? 'everything' : 'what is not changed'} was removed since, see kept; undo what removed it first`
}

/** Lists the blocks that the undo restored or changed. */
function writtenBlocks(before: DocumentBody, after: DocumentBody, naming: Naming): BlockList {
  const lists = (changesBetween(before, after, {}).set.prose?.pages ?? []).map(({ id, blocks = [] }) => {
    const written = new Set(blocks.flatMap((block) => [...(block.id === undefined ? [] : [block.id]), ...(block.ids ?? [])]))
    const page = after.prose.pages.find((each) => each.id === id)
    const isListed = (block: ProseElement) => written.has(blockId(block) ?? '')
    return listBlocks(page === undefined ? [] : pageTree(page).tree, { naming, isOwn: false, isListed })
  })
  const total = lists.reduce((sum, { blocks, blocksTotal }) => sum + (blocksTotal ?? blocks.length), 0)
  const blocks = lists.flatMap((list) => list.blocks).slice(0, MOST_BLOCKS)
  return { blocks, ...(total > blocks.length && { blocksTotal: total }) }
}

const MOST_BLOCKS = 200

export const undoEdits = {
  undo: { edit: routedAs(undoCalls), flaw: undoFlaw, routes: true },
} as const satisfies Record<string, EditRow>
