import { describe, expect, it } from 'vitest'
import { done, proseBody, refusal } from '../prose/testing/editing.ts'
import { limitHere, threadTime } from '../testing/thread-time.ts'
import { editText } from './edit-text.ts'

const LINE =
  'The quick brown fox <strong>jumps</strong> over the lazy dog, “again” and again &amp; again, until the café closes. '
const pageOf = (n: number): string =>
  Array.from(
    { length: 14 },
    (_, i) => `<h2>Part ${n}.${i}</h2><p id="blk-${n}-${i}">${LINE.repeat(3)}</p><ul><li><p>${LINE}</p></li></ul>`,
  ).join('')
const [first = '', ...others] = Array.from({ length: 200 }, (_, n) => pageOf(n))
const body = proseBody(first, {}, ...others.map((content, n) => ({ id: `p${n}`, name: `p${n}`, content })))

/** Returns the lowest processor time of some runs, in milliseconds. */
function bestOf(runs: number, work: () => unknown): number {
  const measured = Array.from({ length: runs }, () => {
    const elapsed = threadTime()
    work()
    return elapsed()
  })
  return Math.min(...measured)
}

describe('time of edit_text', () => {
  it('[AG-49] the pages used for timing have 1 MiB of text', () => {
    const text = body.prose.pages.reduce((sum, { content }) => sum + content.replace(/<[^>]*>/g, '').length, 0)
    expect([body.prose.pages.length, text >= 1_048_576]).toEqual([200, true])
  })

  it.each([
    [
      'one word on each page',
      () =>
        done(editText, body, {
          edits: [
            { find: 'Part 7.3', replace: 'Chapter 7.3', all: true },
            { find: '.3', replace: '.4', all: true },
          ],
        }),
    ],
    ['words everywhere', () => done(editText, body, { edits: [{ find: 'Part', replace: 'Chapter', all: true }] })],
    [
      'words in another spelling',
      () => done(editText, body, { edits: [{ find: 'the cafe\u0301 closes', replace: 'we close', id: 'blk-7-3', all: true }] }),
    ],
    [
      'fifty words',
      () =>
        done(editText, body, {
          edits: Array.from({ length: 50 }, (_, i) => ({ find: `Part ${i}.1`, replace: `Chapter ${i}`, occurrence: 1 })),
        }),
    ],
    ['words that stand nowhere', () => refusal(editText, body, { edits: [{ find: 'the slow brown fix', replace: 'x' }] })],
  ])('[AG-49] editing 200 pages with 1 MiB of text takes at most a second of processor time: %s', (_, work) => {
    const ms = bestOf(3, work)
    process.stdout.write(`edit_text of 200 pages with 1 MiB, ${_}: ${Math.round(ms)} ms\n`)
    expect(ms).toBeLessThanOrEqual(limitHere(ms, 1_000))
  })

  it('[AG-49] words made of repeated characters are found in linear time', () => {
    const given = proseBody(`<p>${'a'.repeat(1_048_576)}b</p>`)
    const [short, long] = ['b', 'cb'].map((end) => 'a'.repeat(500) + end) as [string, string]
    const edits = Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? { find: short, replace: long } : { find: long, replace: short },
    )
    expect(bestOf(3, () => done(editText, given, { edits }))).toBeLessThanOrEqual(1_000)
  })
})
