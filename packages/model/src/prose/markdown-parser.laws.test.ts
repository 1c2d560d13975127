import * as fc from 'fast-check'
import Markdown, { type Token } from 'markdown-it'
import { expect, it } from 'vitest'
import { MarkdownParser } from './markdown-parser.ts'
import { tagSoup } from './testing/arbitrary.ts'
import { markdownSoup } from './testing/arbitrary-markdown.ts'

/** The published parser, without its own check of URLs. */
const published = new Markdown({ html: true })
published.validateLink = () => true
published.normalizeLink = (url) => url

/** The fields of a token and of its children, without their class. */
function fields(token: Token): object {
  return { ...token, children: token.children?.map(fields) ?? null }
}

const odd = fc.constantFrom(
  ...['', '\0', '\r', '\t', '\u2028', '\u0001', '\ud800'],
  ...['&#0;', '&nbsp;', '<B>', '<!-- c -->', '![i](s "t")', '@'],
)
/** Generates short lines with one or two kinds of markup, so that the law notices a kind that the fast parser misses. */
const shortLine = fc
  .array(fc.constantFrom('a', ' ', ':', '~~a~~', '*a*', '_a_', '`a`', '\\*', '[a](b)', '<b>', '&lt;', 'a\nb'), { maxLength: 3 })
  .map((pieces) => pieces.join(''))
/** Text without the characters that begin math and fields, since only the parser of the relay reads these. [PROSE-32, PROSE-33] */
const text = fc
  .tuple(fc.oneof(markdownSoup, tagSoup, shortLine), odd, fc.nat())
  .map(([soup, piece, at]) =>
    `${soup.slice(0, at % (soup.length + 1))}${piece}${soup.slice(at % (soup.length + 1))}`.replace(/[${]/g, ''),
  )

it('[PROSE-25] [PROSE-21] the fast parser, also on lines without markup, gives the tokens of the published parser', () => {
  let plainLines = 0
  fc.assert(
    fc.property(text, (markdown) => {
      const parser = new MarkdownParser()
      const wanted: Token[] = []
      const env = {}
      published.block.parse(markdown, published, env, wanted)
      expect(parser.blocks(markdown).map(fields)).toEqual(wanted.map(fields))
      for (const { type, content } of wanted) {
        if (type !== 'inline') continue
        const inside: Token[] = []
        published.inline.parse(content, published, env, inside)
        expect(parser.inline(content).map(fields)).toEqual(inside.map(fields))
        if (inside.length === 1 && inside[0]?.type === 'text') plainLines++
      }
    }),
    { seed: 21, numRuns: Number(process.env['RUNS'] ?? 2_000) },
  )
  expect(plainLines).toBeGreaterThan(100)
})
