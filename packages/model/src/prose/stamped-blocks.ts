import { changedBy, type PageSight } from '../seen/page-sight.ts'
import { refused, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'
import { bareName, blockName, namingOf, type Naming, type Printed } from './block-names.ts'
import { blockId, isCell, type Located } from './blocks.ts'
import { serialiseMarkdown } from './markdown-write.ts'
import type { ProseTree } from './node.ts'

const MOST_BYTES = 4_000
const utf8 = new TextEncoder()

/** A block as it is stored now, for a caller whose stamp no longer fits. */
export interface CurrentBlock {
  /** The name of the block, with a stamp unless the content is cut: a stamp says that the caller has seen the whole block. */
  readonly id: string
  readonly type: string
  /** The content of the block as Markdown. */
  readonly content: string
  readonly cut?: true
}

export function currentBlock(located: Located, naming: Naming, mostBytes = MOST_BYTES): CurrentBlock {
  const { block } = located
  const { type } = block
  const content = serialiseMarkdown(isCell(block) ? (block.content as ProseTree) : [block]).trimEnd()
  if (utf8.encode(content).length <= mostBytes) return { id: blockName(located, naming), type, content }
  return { id: bareName(located), type, content: cutTo(content, mostBytes), cut: true }
}

function cutTo(text: string, bytes: number): string {
  // A part of a character at the end is decoded as U+FFFD, which is removed.
  return new TextDecoder().decode(utf8.encode(text).slice(0, bytes)).replace(/\ufffd+$/, '')
}

interface ChangedPage extends Printed {
  readonly sight?: PageSight | undefined
}

/** Refuses a call on a block that somebody changed after the caller saw it. Shows the block as it is now, or `shown`, a block around it. [AG-7] */
export function blockChanged(page: ChangedPage, id: string, located: Located, shown = located): Refusal {
  const current = currentBlock(shown, namingOf(page))
  const repair =
    current.cut === true
      ? 'Read it again with ids, then repeat the call'
      : 'Make your change in what it says now, and repeat the call with that id'
  const now = `It is now ${current.id} (${current.type}) "${quote(current.content)}".`
  return refused('ERR_BLOCK_CHANGED', `The block ${quote(id)} was changed after you read it. ${now} ${repair}.`, {
    id: quote(id),
    current,
    ...changedBy(page.sight?.changer(blockId(located.block))),
  })
}
