import { boundUrls, maxUrlLength } from './url-budget.ts'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import type { ReadMarkup } from './literal-markup.ts'
import { BlockReader } from './markdown-blocks.ts'
import { withoutIds } from './marks.ts'
import { isCallId, plainIds } from './content-ids.ts'
import { MarkdownParser } from './markdown-parser.ts'
import { SlotReader } from './markdown-slots.ts'
import type { ParsedPage } from './html.ts'
import { cleanText } from './values.ts'

interface MarkdownPage extends ParsedPage {
  /** Markup that the tree does not show any more. [AG-41] */
  readonly read: readonly ReadMarkup[]
}

/**
 * Reads Markdown as a page that satisfies the content model. [PROSE-25 to PROSE-36]
 *
 * White space collapses as in HTML; white space written as a character reference is kept. Comments and raw HTML bring ids, and only
 * ids of this relay's form are kept. [PROSE-46, AG-16] `fixes` lists the adjustments. Never throws. Input is at most 1 MiB; processing that costs more than
 * linear time is limited and reported. [PROSE-21] `wholeIds`: ids of the stored page that look like an id with a stamp. [AG-6]
 */
export function parseMarkdown(text: string, wholeIds?: ReadonlySet<string>): MarkdownPage {
  const fixes = new FixList()
  const clean = cleanText(text.replaceAll('\0', '').replace(/\r\n?/g, '\n'))
  const parser = new MarkdownParser()
  const reader = new BlockReader(parser, new SlotReader(clean, fixes), fixes, parser.blocks(clean))
  const nodes = reader.blocks(undefined, undefined).map((node) => withoutIds(node, isCallId))
  const tree = heal(boundUrls(nodes, maxUrlLength, fixes), fixes)
  for (const reason of parser.env.cuts) fixes.add('clamped', reason, undefined, 'page')
  return { ...plainIds(tree, wholeIds), fixes: fixes.list, read: reader.read }
}
