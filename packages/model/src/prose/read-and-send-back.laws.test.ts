import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { isRefusal, type Edited } from '../edit.ts'
import { completeIds } from './blocks.ts'
import { serialiseHtml } from './html.ts'
import type { ProseTree } from './node.ts'
import { setProse } from './prose-edits.ts'
import { getProse, type GetProse } from './read-prose.ts'
import { anyTree } from './testing/arbitrary.ts'
import { markdownTree } from './testing/arbitrary-markdown.ts'
import { contentOf, countingEnvironment, proseBody } from './testing/editing.ts'
import { el, markRows, nodeRows, text } from './testing/every-row.ts'

/** Every way in which a tool shows a page. */
const WAYS: readonly Pick<GetProse, 'format' | 'ids'>[] = [
  undefined,
  'html' as const,
  'markdown' as const,
  'md' as const,
].flatMap((format) => [true, false, undefined].map((ids) => ({ format, ids })))

/** Returns the page of a document as get_prose shows it. */
function shown(stored: DocumentBody, way: (typeof WAYS)[number]): string {
  const listing = getProse(stored, { pageId: 'p', ...way })
  if (isRefusal(listing)) throw new Error(listing.message)
  const { page } = listing.show([...listing.from({ part: 0, index: 0 })].map(({ item }) => item))
  return (page as { readonly content: string }).content
}

/** Reads a page in every way and sends each shown text back without a format; equal texts are sent back once. */
function expectNoChange(tree: ProseTree): void {
  const stored = proseBody(serialiseHtml(tree))
  const contents = new Map(WAYS.map((way) => [shown(stored, way), way]))
  for (const [content, way] of contents) {
    const answer = setProse(stored, { pageId: 'p', content }, countingEnvironment()) as Edited<unknown>
    const about = `${JSON.stringify(way)} ${content}`
    expect(answer, about).toMatchObject({ kind: 'edited', fixes: [] })
    expect(contentOf(answer.body), about).toBe(contentOf(stored))
    expect(answer.body, about).toBe(stored)
  }
}

function counter(): () => string {
  let count = 0
  return () => `blk-own${++count}`
}

describe('a page that is read and sent back', () => {
  it.each(nodeRows)('[AG-34] a page with a %s that is read in any format and sent back is not changed: %s', (_, __, tree) => {
    expectNoChange(tree)
    expectNoChange(completeIds(tree, counter()))
  })

  it.each(markRows)(
    '[AG-34] a page with the mark %s that is read in any format and sent back is not changed: %s',
    (_, __, mark) => expectNoChange([el('paragraph', { id: 'blk-1' }, text('a'), text('t', mark), text('b'))]),
  )

  it('[AG-34] any page that is read in any format and sent back is not changed', () => {
    fc.assert(
      fc.property(fc.oneof(anyTree, markdownTree), fc.boolean(), (given, hasIds) =>
        expectNoChange(hasIds ? completeIds(given, counter()) : given),
      ),
      { numRuns: 300, seed: 34 },
    )
  })
})
