import { threadTime } from '@docrelay/model/testing/thread-time'
import { expect, it } from 'vitest'
import type * as Y from 'yjs'
import { lateScene, textsIn } from '../testing/late-scene.ts'
import { element, plain, shown } from '../testing/live-page.ts'
import { UpdateWriter } from '../testing/update-writer.ts'

const CLIENT = 77

type Where = (text: Y.Item, i: number) => readonly [client: number, clock: number]

/** Measures how long the relay takes for `count` late items of `letters` each in one update. Also returns the page afterwards. */
function placed(count: number, letters: string, behind: Where): { readonly tookMs: number; readonly html: string } {
  const { page, edit, receive, relay } = lateScene('<p id="a">one</p>')
  const item = textsIn(page)[0]?._start as Y.Item
  edit('<h2 id="a">one</h2>')
  const update = new UpdateWriter()
    .block(CLIENT, 0, count, (writer, i) => writer.stringAfter(...behind(item, i), letters))
    .deletes([])
  const took = threadTime()
  receive(update)
  return { tookMs: took(), html: shown(relay) }
}

const last = ({ id, length }: Y.Item): readonly [number, number] => [id.client, id.clock + length - 1]

it.each<readonly [string, string, Where]>([
  ['each behind the one before', 'x', (text, i) => (i === 0 ? last(text) : [CLIENT, i - 1])],
  ['each within the one before', 'xy', (text, i) => (i === 0 ? last(text) : [CLIENT, 2 * i - 2])],
])('[AG-110] the time to place late letters grows with their number: %s', (_, letters, behind) => {
  placed(1_000, letters, behind)
  const [few, many] = [placed(5_000, letters, behind), placed(40_000, letters, behind)]
  process.stdout.write(`late letters: 5,000 in ${few.tookMs.toFixed(0)} ms, 40,000 in ${many.tookMs.toFixed(0)} ms\n`)
  expect(many.html).toHaveLength('<h2 id="a">one</h2>'.length + 40_000 * letters.length)
  expect(many.tookMs).toBeLessThan(24 * Math.max(few.tookMs, 20))
})

/**
 * Measures how long the relay takes for one update of a person who wrote into a quote, after an agent turned the quote into a heading. Also
 * returns the page afterwards.
 */
function inQuote(writes: (paragraph: Y.Item, writer: UpdateWriter) => UpdateWriter): {
  readonly tookMs: number
  readonly html: string
} {
  const { page, edit, receive, relay } = lateScene('<blockquote><p id="a">one</p></blockquote>')
  const paragraph = (page.get(0) as Y.XmlElement).get(0)._item as Y.Item
  edit('<h2 id="a">one</h2>')
  const update = writes(paragraph, new UpdateWriter()).deletes([])
  const took = threadTime()
  receive(update)
  return { tookMs: took(), html: shown(relay) }
}

/** Info bytes of items with an origin: one that inserts a node, and one that changes formatting. `ELEMENT`: the type number of an element. */
const [NODE_BEHIND, FORMAT_BEHIND, ELEMENT] = [0x87, 0x86, 3]

const rules = (count: number) =>
  inQuote(({ id }, update) =>
    update.block(CLIENT, 0, count, (writer, i) =>
      writer
        .raw([NODE_BEHIND])
        .uint(i === 0 ? id.client : CLIENT)
        .uint(i === 0 ? id.clock : i - 1)
        .uint(ELEMENT)
        .text('horizontalRule'),
    ),
  )

/** Between two paragraphs stands a change of formatting. So each paragraph seems to be inside the paragraph before it. */
const nested = (count: number) =>
  inQuote(({ id }, update) =>
    update.block(CLIENT, 0, 2 * count, (writer, i) =>
      i % 2 === 1
        ? writer.raw([FORMAT_BEHIND]).uint(id.client).uint(id.clock).text('bold').text('{}')
        : writer
            .raw([NODE_BEHIND])
            .uint(i === 0 ? id.client : CLIENT)
            .uint(i === 0 ? id.clock : i - 1)
            .uint(ELEMENT)
            .text('paragraph'),
    ),
  )

it.each([
  ['rules', rules, 40_000, '<hr>'],
  ['paragraphs that seem to be inside each other', nested, 16_000, ''],
] as const)('[AG-110] the time for late blocks in one update grows with their number: %s', (what, write, count, tag) => {
  write(1_000)
  const [few, many] = [write(count / 8), write(count)]
  process.stdout.write(`late ${what}: ${count / 8} in ${few.tookMs.toFixed(0)} ms, ${count} in ${many.tookMs.toFixed(0)} ms\n`)
  if (tag !== '') expect(many.html.split(tag)).toHaveLength(count + 1)
  expect(many.tookMs).toBeLessThan(24 * Math.max(few.tookMs, 20))
})

/** Measures how long the relay takes when a person pastes over a page of `count` paragraphs that an agent replaced meanwhile. */
function pasted(count: number, after: (i: number) => string): number {
  const lines = (line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i)).join('')
  const { page, edit, held, receive, ann } = lateScene(lines((i) => `<p id="b${i}">text ${i}</p>`))
  ann.transact(() => {
    for (const text of textsIn(page)) text.delete(0, text.length)
    page.insert(
      0,
      Array.from({ length: 2 * count }, (_, i) => element('paragraph', {}, plain(`words ${i}`))),
    )
  })
  edit(lines(after))
  const took = threadTime()
  for (const update of held) receive(update)
  return took()
}

it.each([
  ['wrote anew', (i: number) => `<h2 id="n${i}">something else ${i}</h2>`],
  ['made headings of', (i: number) => `<h2 id="b${i}">text ${i}</h2>`],
])(
  '[AG-110] the time for a paste over a whole page grows with the number of its blocks, for a page that an agent %s',
  (what, after) => {
    pasted(100, after)
    const [few, many] = [pasted(250, after), pasted(2_000, after)]
    process.stdout.write(`pasted over what an agent ${what}: 250 in ${few.toFixed(0)} ms, 2,000 in ${many.toFixed(0)} ms\n`)
    expect(many).toBeLessThan(24 * Math.max(few, 20))
  },
)
