import { threadTime } from '@docrelay/model/testing/thread-time'
import { expect, it } from 'vitest'
import type * as Y from 'yjs'
import { lateScene, textsIn } from '../testing/late-scene.ts'
import { shown } from '../testing/live-page.ts'
import { UpdateWriter } from '../testing/update-writer.ts'

const CLIENT = 77

type Where = (text: Y.Item, i: number) => readonly [client: number, clock: number]

/** How long the relay takes for late items of `letters` each, which arrive in one update, and what the page is afterwards. */
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
