import { boundUrls, maxUrlLength } from './url-budget.ts'
import { FixList, type HealReport } from './fixes.ts'
import { Healer, type Padding, pagePadding } from './healer.ts'
import { emptyParagraph, type ProseElement, type ProseNode, type ProseTree } from './node.ts'

/**
 * Makes any nodes a page that satisfies the content model, by the table of heals. [PROSE-22, PROSE-23]
 *
 * The nodes may stand anywhere and hold anything, but every attribute has an allowed value (a span of 0 is an invalid one). What is
 * already right keeps its identity (`===`), at every depth; healing healed content returns it as it is and reports nothing.
 */
export function heal(nodes: readonly ProseNode[], fixes: FixList): ProseTree {
  const blocks = new Healer((fix) => report(fixes, fix), pagePadding()).blocks(nodes, 1, undefined)
  return blocks.length === 0 ? [emptyParagraph()] : blocks
}

/** The page that nodes are as they stand, `null` when something in them needs healing. */
export function healthy(nodes: readonly ProseNode[]): ProseTree | null {
  const fixes = new FixList()
  const blocks = new Healer((fix) => report(fixes, fix), { left: 0, isShort: false }).blocks(nodes, 1, undefined)
  return fixes.list.length > 0 || blocks.length === 0 ? null : blocks
}

function report(fixes: FixList, fix: HealReport): void {
  fixes.add(fix.action, fix.reason, fix.place, fix.place.name, fix.field)
}

/**
 * The blocks that nodes found in a live page are shown as; nothing is reported, and no paragraph stands for nothing. `padding` is what the page
 * has left for them. [PROSE-24]
 */
export function healShown(nodes: readonly ProseNode[], padding: Padding = pagePadding()): readonly ProseElement[] {
  // Formatting says a target once for many runs, so a short update could ask for HTML that no string holds.
  return new Healer(() => {}, padding).blocks(boundUrls(nodes, maxUrlLength, new FixList()), 1, undefined)
}
