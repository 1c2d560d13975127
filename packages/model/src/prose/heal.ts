import { boundUrls, maxUrlLength } from './url-budget.ts'
import { FixList, type HealReport } from './fixes.ts'
import { Healer, type Padding, pagePadding } from './healer.ts'
import { emptyParagraph, type ProseElement, type ProseNode, type ProseTree } from './node.ts'

/**
 * Turns any nodes into a page that satisfies the content model, by the table of heals. [PROSE-22, PROSE-23]
 *
 * Nodes may be anywhere and contain anything, but every attribute must have an allowed value (a span of 0 stands for an invalid span). Valid
 * nodes keep their identity (`===`), at every depth. Healing healed content returns it unchanged and reports nothing.
 */
export function heal(nodes: readonly ProseNode[], fixes: FixList): ProseTree {
  const blocks = new Healer((fix) => report(fixes, fix), pagePadding()).blocks(nodes, 1, undefined)
  return blocks.length === 0 ? [emptyParagraph()] : blocks
}

/** Returns the nodes as a page when they are not empty and need no healing, else `null`. */
export function healthy(nodes: readonly ProseNode[]): ProseTree | null {
  const fixes = new FixList()
  const blocks = new Healer((fix) => report(fixes, fix), { left: 0, isShort: false }).blocks(nodes, 1, undefined)
  return fixes.list.length > 0 || blocks.length === 0 ? null : blocks
}

function report(fixes: FixList, fix: HealReport): void {
  fixes.add(fix.action, fix.reason, fix.place, fix.place.name, fix.field)
}

/**
 * Heals nodes of a live page for showing. Reports nothing, and returns an empty list for no content. `padding` is the padding that the page may still use.
 * [PROSE-24]
 */
export function healShown(nodes: readonly ProseNode[], padding: Padding = pagePadding()): readonly ProseElement[] {
  // In a live page one format can give the same long link target to many runs, so a short update could otherwise produce HTML larger than
  // the longest string.
  return new Healer(() => {}, padding).blocks(boundUrls(nodes, maxUrlLength, new FixList()), 1, undefined)
}
