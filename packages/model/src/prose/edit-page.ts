import type { DocumentBody } from '../body.ts'
import type { Edited, EditEnvironment, Fix, Warning } from '../edit.ts'
import { blockId, blockIdMint, completeIds, elementsOf, idsOf, isIdBearing, listBlocks, type BlockList } from './blocks.ts'
import type { Libraries } from './chips.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { withPageTree, type PageTree } from './page.ts'
import { nodeAt } from './tree-path.ts'
import type { Verbed } from './verb.ts'

export function librariesOf(body: DocumentBody, environment: EditEnvironment): Libraries {
  return { fields: body.fields, references: body.references, nowMs: environment.nowMs }
}

/** A page as it is written, for the result of an edit. */
export interface WrittenPage {
  readonly tree: ProseTree
  /** What the verb wrote. */
  written(): BlockList
  /** Everything on the page. */
  all(): BlockList
}

/** One prose page on its way through an edit. */
export interface PageWrite {
  readonly body: DocumentBody
  readonly pageId: string
  readonly stored: PageTree
  readonly environment: EditEnvironment
  /** What reading the call's content had to tell. */
  readonly content?: { readonly fixes: readonly Fix[]; readonly warnings: readonly Warning[] } | undefined
}

/**
 * Writes what a verb made of a page, with every id in place. [PROSE-44] A verb that changed nothing writes nothing: ids and heals wait for a
 * write of the page. [PROSE-54]
 */
export function writePage<R>(write: PageWrite, done: Verbed, result: (page: WrittenPage) => R): Edited<R> {
  const { body, pageId, stored, environment, content } = write
  const isChanged = done.tree !== stored.tree
  const tree = isChanged ? completeIds(done.tree, blockIdMint(body, environment, idsOf(done.tree))) : done.tree
  const isWritten = (_: ProseElement, path: readonly number[]) => done.isWritten(nodeAt(done.tree, path))
  return {
    kind: 'edited',
    body: isChanged ? withPageTree(body, pageId, tree) : body,
    result: result({ tree, written: () => listBlocks(tree, isWritten), all: () => listBlocks(tree) }),
    fixes: [...(content?.fixes ?? []), ...done.fixes],
    warnings: [...(content?.warnings ?? []), ...(isChanged ? stored.warnings : [])],
    writtenBlocks: isChanged ? writtenIds(done, tree) : [],
  }
}

/** `tree` is the verb's with ids completed, so its blocks stand in the same places. */
function writtenIds(done: Verbed, tree: ProseTree): readonly string[] {
  const before = elementsOf(done.tree)
  return elementsOf(tree).flatMap((block, i) => {
    const id = isIdBearing(block) && done.isWritten(before[i] as ProseElement) ? blockId(block) : null
    return id ?? []
  })
}
