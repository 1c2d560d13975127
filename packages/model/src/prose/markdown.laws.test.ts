import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalTrees } from './equal.ts'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import { serialiseHtml } from './html.ts'
import { parseMarkdown } from './markdown-read.ts'
import { serialiseMarkdown, serialiseNamedMarkdown } from './markdown-write.ts'
import type { ProseAttrs, ProseNode, ProseTree } from './node.ts'
import { anyTree, looseNodes, tagSoup } from './testing/arbitrary.ts'
import { markdownSoup, markdownTree } from './testing/arbitrary-markdown.ts'
import { placedOn } from './testing/placed.ts'
import { violations } from './testing/content-model.ts'

/** Removes from a tree the ids, and the labels of fields, since Markdown has neither; a write fills in labels. [PROSE-37, PROSE-39] */
function carried(tree: ProseTree): ProseTree {
  const strip = (node: ProseNode): ProseNode => {
    if (node.type === 'text') return node
    const dropped = node.type === 'fieldRef' ? 'label' : 'id'
    const attrs = Object.fromEntries(Object.entries(node.attrs).filter(([name]) => name !== dropped)) as ProseAttrs
    return { ...node, attrs, content: node.content.map(strip) }
  }
  return tree.map(strip) as unknown as ProseTree
}

function expectRoundTrip(tree: ProseTree, isNamed: boolean): void {
  const markdown = isNamed ? serialiseNamedMarkdown(placedOn(tree), 'stamped') : serialiseMarkdown(tree)
  const back = parseMarkdown(markdown)
  const [given, read] = [carried(tree), carried(back.tree)]
  if (!equalTrees(read, given)) expect(`${serialiseHtml(read)}\n${markdown}`).toBe(`${serialiseHtml(given)}\n${markdown}`)
  expect(back.fixes).toEqual([])
}

describe('laws of prose Markdown', () => {
  it('[PROSE-39] a page written as Markdown reads back equal except for ids, without fixes', () => {
    fc.assert(
      fc.property(anyTree, fc.boolean(), (tree, isNamed) => expectRoundTrip(tree, isNamed)),
      { numRuns: 600 },
    )
  })

  it('[PROSE-39] a page full of Markdown characters written as Markdown reads back equal', () => {
    fc.assert(
      fc.property(markdownTree, fc.boolean(), (tree, isNamed) => expectRoundTrip(tree, isNamed)),
      { numRuns: 1000 },
    )
  })
  it('[PROSE-39] a repaired page written as Markdown reads back equal', () => {
    fc.assert(
      fc.property(looseNodes, (nodes) => expectRoundTrip(heal(nodes, new FixList()), false)),
      { numRuns: 400 },
    )
  })

  it('[PROSE-25] [PROSE-22] any text is read as a page of the model, which reads back equal from its Markdown', () => {
    fc.assert(
      fc.property(fc.oneof(markdownSoup, tagSoup), (text) => {
        const { tree } = parseMarkdown(text)
        expect(violations(tree)).toEqual([])
        expectRoundTrip(tree, false)
      }),
      { numRuns: 1000 },
    )
  })
})
