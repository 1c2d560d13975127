import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Edited } from '../edit.ts'
import { isRefusal } from '../edit.ts'
import { getProse } from './read-prose.ts'
import { completeIds, elementsOf, idBearing, mapIdBearing, withBlockId } from './blocks.ts'
import { equalTrees } from './equal.ts'
import { parseHtml, serialiseHtml } from './html.ts'
import { parseMarkdown } from './markdown-read.ts'
import { serialiseNamedMarkdown } from './markdown-write.ts'
import { withNames } from './block-names.ts'
import type { ProseTree } from './node.ts'
import { setProse } from './prose-edits.ts'
import { findTarget } from './targets.ts'
import { anyTree } from './testing/arbitrary.ts'
import { countingEnvironment, proseBody } from './testing/editing.ts'
import { placedOn } from './testing/placed.ts'

/** Ids as editors may store them, some of them missing. */
const anyId = fc.oneof(
  fc.stringMatching(/^blk-[A-Za-z0-9_-]{1,8}$/),
  fc.constant(null),
  fc.constantFrom('h1', 'a.b:c', '@3', 'x#rcsb', '--> ignore all that', 'ä', 'x'.repeat(65), ' ', '"><script>'),
)

/** Pages in which no two blocks have the same id. */
const namedTree: fc.Arbitrary<ProseTree> = fc.tuple(anyTree, fc.array(anyId, { maxLength: 12 })).map(([tree, ids]) => {
  let next = 0
  const used = new Set<string>()
  return mapIdBearing(tree, (block) => {
    const id = ids[next++] ?? null
    if (id === null || used.has(id)) return withBlockId(block, null)
    used.add(id)
    return withBlockId(block, id)
  })
})

const formats = {
  markdown: (tree: ProseTree) => serialiseNamedMarkdown(placedOn(tree), 'stamped'),
  html: (tree: ProseTree) => serialiseHtml(withNames(placedOn(tree), 'stamped')),
}
const format = fc.constantFrom('markdown' as const, 'html' as const)

/** The names in content, in order. */
function namesIn(content: string): readonly string[] {
  const names = content.matchAll(/<!-- (\S+) -->|<[^<>]* (?:id|data-handle)="([^"]*)"/g)
  return [...names].map(([, comment, attribute]) => (comment ?? attribute) as string)
}

describe('names in the content of pages', () => {
  it('[AG-12] [AG-13] each text block and each top-level block has a name that finds it, in document order', () => {
    fc.assert(
      fc.property(namedTree, format, (tree, form) => {
        const names = namesIn(formats[form](tree))
        const blocks = elementsOf(tree).filter(
          (block) => tree.includes(block) || idBearing([block]).some((b) => b.block === block),
        )
        expect(names).toHaveLength(blocks.length)
        const page = { body: proseBody(serialiseHtml(tree)), pageId: 'p', tree }
        for (const [index, name] of names.entries()) {
          const found = findTarget(page, { id: name })
          // Blocks without id and with equal content are told apart by their place, which needs a known version.
          const block = isRefusal(found) ? findTarget({ ...page, isVersionNamed: true }, { id: name }) : found
          expect('block' in block && block.block).toBe(blocks[index])
          expect(name).toMatch(/^(@[0-9.]+|[A-Za-z0-9_.:-]{1,64})#[0-9a-z]{4}$/)
        }
      }),
      { numRuns: 400, seed: 12 },
    )
  })

  it('[AG-16] content that was read with names brings the ids of its blocks, and their stamps are not stored', () => {
    fc.assert(
      fc.property(namedTree, format, (tree, form) => {
        const own = mapIdBearing(tree, (block) =>
          String(block.attrs['id']).startsWith('blk-') ? block : withBlockId(block, null),
        )
        const content = formats[form](own)
        const read = form === 'html' ? parseHtml(content, { source: 'call' }) : parseMarkdown(content)
        const ids = (page: ProseTree) => idBearing(page).map(({ block }) => block.attrs['id'])
        expect(ids(read.tree)).toEqual(ids(own))
        expect(read.fixes).toEqual([])
        expect([...(read.stamps?.keys() ?? [])]).toEqual(ids(own).filter((id) => id !== undefined))
        if (form === 'markdown' && !content.includes('{{')) expect(equalTrees(read.tree, own)).toBe(true)
      }),
      { numRuns: 600, seed: 16 },
    )
  })

  it('[AG-13] [AG-16] [PROSE-54] a page that is read with names and sent back unchanged is not changed', () => {
    fc.assert(
      fc.property(namedTree, format, fc.boolean(), (given, form, isComplete) => {
        const tree = isComplete ? completeIds(given, countingEnvironment().random.bind(null, 5)) : given
        const stored = proseBody(serialiseHtml(tree))
        const read = getProse(stored, { pageId: 'p', format: form, ids: true })
        if (isRefusal(read)) throw new Error(read.message)
        const items = [...read.from({ part: 0, index: 0 })].map(({ item }) => item)
        const { content } = read.show(items)['page'] as { content: string }
        fc.pre(!content.includes('data-field') && !content.includes('{{'))
        const answer = setProse(stored, { pageId: 'p', content, format: form }, countingEnvironment()) as Edited<unknown>
        expect(answer.fixes).toEqual([])
        expect(answer.body).toBe(stored)
      }),
      { numRuns: 600, seed: 34 },
    )
  })
})
