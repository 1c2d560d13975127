import type { DocumentBody } from '../body.ts'
import type { Edited, EditEnvironment, Fix, Warning } from '../edit.ts'
import { countBlocks, listBlocks, type BlockList } from './block-list.ts'
import { namingOf, type Printed } from './block-names.ts'
import { blockId, blockIdMint, completeIds, elementsOf, idsOf, isIdBearing } from './blocks.ts'
import type { Libraries } from './chips.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { withPageTree, type PageTree } from './page.ts'
import { nodeAt } from './tree-path.ts'
import type { Applied } from './applied.ts'

export function librariesOf(body: DocumentBody, environment: EditEnvironment): Libraries {
  return { fields: body.fields, references: body.references, nowMs: environment.nowMs }
}

/** A written page, for the result of an edit. */
export interface WrittenPage {
  readonly tree: ProseTree
  /** Lists the blocks that the operation wrote: new ones from the content of the call (`own`), or blocks of the stored page. */
  written(from: 'own' | 'stored'): BlockList
  /** Lists the changed blocks of a page that the call wrote as a whole. `untouched` are the ids of blocks that the call did not change. */
  whole(untouched: ReadonlySet<string>): BlockList & { readonly unchanged: number }
}

/** One prose page during an edit. */
export interface PageWrite extends Printed {
  readonly body: DocumentBody
  readonly pageId: string
  readonly stored: PageTree
  readonly environment: EditEnvironment
  /** Fixes, warnings and links from reading the content of the call. */
  readonly content?:
    | { readonly fixes: readonly Fix[]; readonly warnings: readonly Warning[]; readonly links?: readonly string[] }
    | undefined
}

/**
 * Writes the page that an operation produced, with every id present. [PROSE-44] When the operation changed nothing, nothing is written:
 * missing ids and heals wait for the next write of the page. [PROSE-54]
 */
export function writePage<R>(write: PageWrite, done: Applied, result: (page: WrittenPage) => R): Edited<R> {
  const { body, pageId, stored, environment, content } = write
  const naming = namingOf(write)
  const isChanged = done.tree !== stored.tree
  const tree = isChanged ? completeIds(done.tree, blockIdMint(body, environment, idsOf(done.tree))) : done.tree
  const isWritten = (_: ProseElement, path: readonly number[]) => done.isWritten(nodeAt(done.tree, path))
  const whole = (untouched: ReadonlySet<string>) => {
    const isNew = (block: ProseElement, path: readonly number[]) =>
      isWritten(block, path) && !(isIdBearing(block) && untouched.has(blockId(block) ?? ''))
    const list = listBlocks(tree, { naming, isOwn: true, isListed: isNew })
    return { ...list, unchanged: countBlocks(tree) - (list.blocksTotal ?? list.blocks.length) }
  }
  return {
    kind: 'edited',
    body: isChanged ? withPageTree(body, pageId, tree) : body,
    result: result({
      tree,
      written: (from) => listBlocks(tree, { naming, isOwn: from === 'own', isListed: isWritten }),
      whole,
    }),
    fixes: [...(content?.fixes ?? []), ...done.fixes],
    warnings: [...(content?.warnings ?? []), ...(isChanged ? stored.warnings : [])],
    writtenPage: pageId,
    writtenBlocks: isChanged ? writtenIds(done, tree) : [],
    ...linksOf(pageId, content?.links),
  }
}

/** Returns the links in the content of a call as the member `links` of its edit; no member without links. [AG-84] */
export function linksOf(pageId: string, links: readonly string[] = []): Pick<Edited<unknown>, 'links'> {
  return links.length === 0 ? {} : { links: links.map((href) => ({ href, pageId })) }
}

/** Returns the ids of the written blocks. `tree` is the tree of the operation with complete ids, so its blocks have the same positions. */
function writtenIds(done: Applied, tree: ProseTree): readonly string[] {
  const before = elementsOf(done.tree)
  return elementsOf(tree).flatMap((block, i) => {
    const id = isIdBearing(block) && done.isWritten(before[i] as ProseElement) ? blockId(block) : null
    return id ?? []
  })
}
