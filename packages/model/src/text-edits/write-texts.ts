import type { DocumentBody } from '../body.ts'
import { withCanvasPage } from '../canvas/find-page.ts'
import { labelOverflows } from '../canvas/label-fit.ts'
import { withValues } from '../canvas/write-page.ts'
import type { Edited, EditEnvironment, Warning } from '../edit.ts'
import { applied } from '../prose/applied.ts'
import { type BlockList, listBlocks } from '../prose/block-list.ts'
import type { Naming } from '../prose/block-names.ts'
import { blockId, blockIdMint, completeIds, idsOf, type Mint } from '../prose/blocks.ts'
import { withContent } from '../prose/equal.ts'
import { pushAll } from '../prose/marks.ts'
import type { ProseElement, ProseNode, ProseTree } from '../prose/node.ts'
import { withPageTree } from '../prose/page.ts'
import { isTextBlock, type TextChange } from '../prose/text-splices.ts'
import { nodeAt, type Path } from '../prose/tree-path.ts'
import { quote } from '../quote.ts'
import type { BlockHolder, OpenProsePage, OpenTexts, ShapeHolder, TextHolder } from './text-holders.ts'
import { nameOfText } from './text-refusals.ts'

/** An answer lists at most this many blocks, and at most this many ids for each edit. [AG-49] */
export const MAX_LISTED = 20

interface WrittenTexts {
  readonly edited: Edited<BlockList>
  /** Returns the name of a text after the call. */
  readonly nameOf: (holder: TextHolder) => string
}

/** Writes the changed texts of a call to the body, each page once. */
export function writeTexts(texts: OpenTexts, environment: EditEnvironment): WrittenTexts {
  const opened = [...texts.openedProse()].filter(({ holders }) => holders.some(isChanged))
  const trees = new Map<OpenProsePage, ProseTree>()
  const changes: TextChange[] = []
  const lists: BlockList[] = []
  const warnings: Warning[] = []
  let { body } = texts
  const mint = blockIdMint(
    body,
    environment,
    opened.flatMap(({ stored }) => idsOf(stored.tree)),
  )
  for (const page of opened) {
    const tree = writtenTree(page, { mint, lists, naming: texts.naming })
    if (tree === page.stored.tree) continue
    trees.set(page, tree)
    body = withPageTree(body, page.page.id, tree)
    pushAll(warnings, page.stored.warnings)
    for (const holder of page.holders.filter(isChanged)) {
      const after = nodeAt(tree, holder.path)
      changes.push({ id: blockId(after), from: holder.stored.content, to: after.content, steps: holder.steps })
    }
  }
  const nameOf = (holder: TextHolder): string => {
    if (holder.kind === 'shape') return holder.id
    const tree = trees.get(holder.page) ?? holder.page.stored.tree
    return nameOfText(tree, { path: holder.path, block: nodeAt(tree, holder.path) }, holder.text, texts.naming)
  }
  for (const { holders } of opened)
    for (const holder of holders)
      if (holder.text === '' && isChanged(holder)) warnings.push({ reason: `the block ${quote(nameOf(holder))} is empty now` })
  const shapes = [...texts.openedCanvas()].flatMap((holders) => holders.filter(({ value, stored }) => value !== stored))
  body = withLabels(body, shapes, environment.nowMs)
  for (const { id, value } of shapes)
    if (labelOverflows(value)) warnings.push({ reason: `the text is longer than ${quote(id)} has room for` })
  if (body === texts.body) warnings.push({ reason: 'the text already says so; nothing was changed' })
  const [first] = [...[...trees.keys()].map(({ page }) => page.id), ...shapes.map(({ page }) => page.id)]
  const blocks = lists.flatMap((list) => list.blocks).slice(0, MAX_LISTED)
  const blocksTotal = lists.reduce((sum, list) => sum + (list.blocksTotal ?? list.blocks.length), 0)
  return {
    nameOf,
    edited: {
      kind: 'edited',
      body,
      result: blocksTotal > blocks.length ? { blocks, blocksTotal } : { blocks },
      fixes: [],
      warnings,
      writtenBlocks: changes.flatMap(({ id }) => (id === null ? [] : [id])),
      ...(first === undefined ? {} : { writtenPage: first }),
      ...(changes.length === 0 && shapes.length > 0 ? { selection: shapes.map(({ id }) => id) } : {}),
      textChanges: changes,
    },
  }
}

function isChanged({ stored, block }: BlockHolder): boolean {
  return block !== stored
}

/** Returns a page with its changed blocks and all ids; the stored tree when the edits changed nothing. Adds its written blocks to `lists`. */
function writtenTree(
  { stored, holders }: OpenProsePage,
  { mint, lists, naming }: { readonly mint: Mint; readonly lists: BlockList[]; readonly naming: Naming },
): ProseTree {
  let next = 0
  const exchanged = <T extends ProseNode>(nodes: readonly T[]): readonly T[] =>
    nodes.map((node): ProseNode => {
      if (node.type === 'text') return node
      const element: ProseElement = node
      return isTextBlock(element) ? (holders[next++]?.block ?? element) : withContent(element, exchanged(element.content))
    }) as readonly ProseNode[] as readonly T[]
  const done = applied(
    stored.tree,
    exchanged(stored.tree),
    holders.filter(isChanged).map(({ block }) => block),
  )
  if (done.tree === stored.tree) return stored.tree
  const tree = completeIds(done.tree, mint)
  const isListed = (_: ProseElement, path: Path): boolean => done.isWritten(nodeAt(done.tree, path))
  lists.push(listBlocks(tree, { naming, isOwn: false, isListed }))
  return tree
}

function withLabels(body: DocumentBody, shapes: readonly ShapeHolder[], nowMs: number): DocumentBody {
  let written = body
  for (const page of new Set(shapes.map((shape) => shape.page))) {
    const values = new Map(shapes.filter((shape) => shape.page === page).map(({ id, value }) => [id, value]))
    written = withCanvasPage(written, { ...page, shapes: withValues(page.shapes, values, nowMs) })
  }
  return written
}
