import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHtml, serialiseHtml } from './html.ts'
import { storedBlocks } from './stored-blocks.ts'
import { anyTree } from './testing/arbitrary.ts'

const wholly = (html: string) => parseHtml(html, { source: 'stored' }).tree

describe('reading a stored page block by block', () => {
  const patches = [
    '<',
    '"',
    '&',
    '</p>',
    '<p>',
    ' ',
    '\0',
    '\r',
    '<!--',
    '</ul>',
    '<td>',
    '<A>',
    '<li>x</li>',
    '</div>',
    '<table>',
    '<b>',
  ]

  it('[PROSE-24] [TOOL-25] reading a page block by block gives the same page as at once, from each position on', () => {
    fc.assert(
      fc.property(anyTree, anyTree, fc.nat(), fc.nat(6), fc.constantFrom('', ...patches), (first, second, at, cut, patch) => {
        const html = serialiseHtml(first) + serialiseHtml(second)
        const place = at % (html.length + 1)
        const given = patch === '' ? html : html.slice(0, place) + patch + html.slice(place + cut)
        const blocks = [...storedBlocks(given, 0)]
        expect(blocks.map(({ block }) => block)).toEqual(wholly(given))
        blocks.forEach(({ place: from }, index) => expect([...storedBlocks(given, from)]).toEqual(blocks.slice(index)))
      }),
      { seed: 13, numRuns: 500 },
    )
  })

  it('[TOOL-25] a position that no reading returned has no block', () => {
    expect([...storedBlocks('<p>a</p><ul><li>x</ul>', 4)]).toEqual([])
    expect([...storedBlocks('<p>a</p>', 99)]).toEqual([])
    expect([...storedBlocks('<p>a</p>', 100)]).toEqual([])
  })

  it('[PROSE-9] an empty page has one empty paragraph', () => {
    expect([...storedBlocks('', 0)].map(({ block }) => block)).toEqual(wholly(''))
    expect([...storedBlocks('<p></p>', 0)].map(({ block }) => block)).toEqual(wholly('<p></p>'))
  })
})
