import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import type { NodeType, ProseAttrs, ProseElement, ProseNode } from './node.ts'
import { violations } from './testing/content-model.ts'

const el = (type: NodeType, content: readonly ProseNode[], attrs: ProseAttrs = {}): ProseElement => ({ type, attrs, content })

const { node } = fc.letrec<{ node: ProseNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'caption' },
    fc.constantFrom<ProseNode>(
      { type: 'text', text: 'words', marks: [] },
      el('image', [], { src: 'a' }),
      el('mathBlock', [], { latex: 'x' }),
      el('mathInline', [], { latex: 'x' }),
      el('embeddedGroup', [], { groupName: 'words' }),
      el('horizontalRule', []),
    ),
    fc
      .tuple(
        fc.constantFrom<NodeType>(
          'paragraph',
          'heading',
          'blockquote',
          'bulletList',
          'listItem',
          'figure',
          'figcaption',
          'gallery',
          'tableRow',
          'tableCell',
        ),
        fc.array(tie('node'), { maxLength: 4 }),
      )
      .map(([type, content]) => el(type, content)),
  ),
}))

/** How many images, formulas and groups of words there are at any depth. */
function countOf(nodes: readonly ProseNode[]): { images: number; formulas: number; words: number } {
  const said = JSON.stringify(nodes)
  const count = (part: string | RegExp) => said.split(part).length - 1
  return { images: count('"image"'), formulas: count(/"math(?:Block|Inline)"/), words: count('words') }
}

describe('laws of repairing captions', () => {
  it('[PROSE-16] [PROSE-22] every image, formula and word in blocks inside a caption is still there once after the repair', () => {
    fc.assert(
      fc.property(fc.array(node, { maxLength: 4 }), (content) => {
        const nodes = [el('figure', [el('image', [], { src: 'a' }), el('figcaption', content)])]
        const healed = heal(nodes, new FixList())
        expect(countOf(healed)).toEqual(countOf(nodes))
        expect(violations(healed)).toEqual([])
        const fixes = new FixList()
        expect(heal(healed, fixes)).toBe(healed)
        expect(fixes.list).toEqual([])
      }),
      { numRuns: 400 },
    )
  })
})
