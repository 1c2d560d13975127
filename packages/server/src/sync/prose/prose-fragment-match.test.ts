import type { ProseElement } from '@docrelay/model/prose/node'
import { expect, it } from 'vitest'
import { matchBlocks } from './prose-fragment-match.ts'

it('[LIFE-14] matching accepts pages with more blocks than a function call may have arguments', () => {
  const block = (id: number): ProseElement => ({ type: 'paragraph', attrs: { id: `blk-${id}` }, content: [] })
  const before = Array.from({ length: 150_000 }, (_, id) => block(id))
  const after = [...before.slice(1, -1), block(150_000)]
  const wanted = before.map((_, index) => (index === 0 || index === 149_999 ? -1 : index - 1))
  for (const moved of [new Set<string>(), new Set(before.map(({ attrs }) => String(attrs['id'])))])
    expect(matchBlocks(before, after, moved)).toEqual(wanted)
})

it('[CONC-13] matching moved blocks takes time proportional to the page', () => {
  const block = (id: number, text: string): ProseElement => ({
    type: 'paragraph',
    attrs: { id: `blk-${id}` },
    content: [{ type: 'text', text, marks: [] }],
  })
  const size = 40_000
  const before = Array.from({ length: size }, (_, id) => block(id, 'a'))
  const everyOther = before.filter((_, id) => id % 2 === 0)
  const changed = before.map((node, id) => (id % 2 === 0 || id === size - 1 ? block(id, 'b') : node))
  const swapped = [...before.slice(size / 2), ...before.slice(0, size / 2)]
  for (const [after, written] of [
    [changed, everyOther],
    [swapped, before.slice(0, size / 2)],
  ] as const) {
    const moved = new Set(written.map(({ attrs }) => String(attrs['id'])))
    const from = process.threadCpuUsage()
    const match = matchBlocks(before, after, moved)
    const { user, system } = process.threadCpuUsage(from)
    expect(match.filter((index) => index === -1)).toHaveLength(after === changed ? 0 : size / 2)
    expect((user + system) / 1000).toBeLessThan(1_000)
  }
})
