import { applied, withOwnIds, withPassedId, type Applied } from './applied.ts'
import { idsOf } from './blocks.ts'
import { withoutLabels } from './chips.ts'
import { equalAttrs, withContent } from './equal.ts'
import { pushAll } from './marks.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { pairContainers } from './pair-containers.ts'
import { keptBlocks } from './same-blocks.ts'

/**
 * Replaces a page's content. Blocks with equal content stay and keep their ids. In a list, table or other container of which only a part changes,
 * the equal items, rows, cells and blocks stay too. [PROSE-54, AG-25]
 */
export function replacePage(tree: ProseTree, content: ProseTree): Applied {
  const steps = stepsOf(tree, content)
  const { kept, fresh } = partsOf(steps)
  const own = withOwnIds(fresh, idsOf(kept))
  const page: Page = { fresh: own.values(), carried: new Set(idsOf(own)), own: [], changed: new Set() }
  const done = applied(tree, written(steps, page), page.own)
  return { ...done, isWritten: (block) => page.changed.has(block) || done.isWritten(block) }
}

/** One part of the new version of a list of blocks: a stored block, a container that is compared inside, or new blocks. */
type Step =
  | { readonly kind: 'kept'; readonly block: ProseElement }
  /** A container of the call takes the place of a stored container; `steps` compare the blocks inside both. */
  | { readonly kind: 'inside'; readonly stored: ProseElement; readonly written: ProseElement; readonly steps: readonly Step[] }
  | { readonly kind: 'new'; readonly blocks: readonly ProseElement[]; readonly replaced: readonly ProseElement[] }

function stepsOf(stored: ProseTree, content: ProseTree): readonly Step[] {
  const steps: Step[] = []
  let [i, j] = [0, 0]
  const upTo = (storedEnd: number, contentEnd: number) => {
    if (storedEnd > i || contentEnd > j) pushAll(steps, stepsOfGap(stored.slice(i, storedEnd), content.slice(j, contentEnd)))
  }
  for (const pair of keptBlocks(withoutLabels(stored), withoutLabels(content))) {
    upTo(pair.stored, pair.written)
    steps.push({ kind: 'kept', block: stored[pair.stored] as ProseElement })
    i = pair.stored + 1
    j = pair.written + 1
  }
  upTo(stored.length, content.length)
  return steps
}

/** Compares the stored and the written blocks between two blocks that stay. */
function stepsOfGap(stored: ProseTree, content: ProseTree): readonly Step[] {
  const steps: Step[] = []
  let [i, j] = [0, 0]
  const upTo = (storedEnd: number, contentEnd: number) => {
    if (contentEnd > j) steps.push({ kind: 'new', blocks: content.slice(j, contentEnd), replaced: stored.slice(i, storedEnd) })
  }
  for (const pair of pairContainers(stored, content)) {
    upTo(pair.stored, pair.written)
    const [old, own] = [stored[pair.stored] as ProseElement, content[pair.written] as ProseElement]
    steps.push({ kind: 'inside', stored: old, written: own, steps: stepsOf(old.content as ProseTree, own.content as ProseTree) })
    i = pair.stored + 1
    j = pair.written + 1
  }
  upTo(stored.length, content.length)
  return steps
}

interface Parts {
  readonly kept: ProseElement[]
  readonly fresh: ProseElement[]
}

/** Returns the stored blocks that stay (`kept`) and the new blocks (`fresh`), at any depth, in document order. */
function partsOf(steps: readonly Step[], parts: Parts = { kept: [], fresh: [] }): Parts {
  for (const step of steps) {
    if (step.kind === 'kept') parts.kept.push(step.block)
    else if (step.kind === 'new') pushAll(parts.fresh, step.blocks)
    else partsOf(step.steps, parts)
  }
  return parts
}

/** A page while it is put together. */
interface Page {
  /** The new blocks with the ids that they may keep, in document order. */
  readonly fresh: Iterator<ProseElement>
  readonly carried: ReadonlySet<string>
  /** The new blocks as they stand on the page. */
  readonly own: ProseElement[]
  /** Containers whose content or attributes changed while some stored blocks in them may stay. */
  readonly changed: Set<ProseElement>
}

function written(steps: readonly Step[], page: Page): readonly ProseElement[] {
  const nodes: ProseElement[] = []
  for (const step of steps) {
    if (step.kind === 'kept') nodes.push(step.block)
    else if (step.kind === 'inside') nodes.push(inside(step.stored, step.written, written(step.steps, page), page))
    else {
      const blocks = step.blocks.map(() => page.fresh.next().value as ProseElement)
      const passed = withPassedId(blocks, step.replaced, page.carried)
      pushAll(nodes, passed)
      pushAll(page.own, passed)
    }
  }
  return nodes
}

function inside(stored: ProseElement, { type, attrs }: ProseElement, content: readonly ProseElement[], page: Page): ProseElement {
  const same = stored.type === type && equalAttrs(stored.attrs, attrs)
  const block = withContent(same ? stored : { type, attrs, content: [] }, content)
  if (block !== stored) page.changed.add(block)
  return block
}
