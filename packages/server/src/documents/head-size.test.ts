import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }
const put = (id: string, body: unknown) => relay.call('PUT', `/api/docs/${id}`, { as: ann, body })
const get = (id: string) => relay.call('GET', `/api/docs/${id}`, { as: ann })

it('[BODY-16] [C1] [WS-55] a body with megabytes of title and tags has short metadata in answers, lists and events, and GET returns it whole', async () => {
  const long = 'ä'.repeat(2_000_000)
  const given = {
    name: long,
    title: long,
    tags: ['t'.repeat(6_000_000)],
    lockedBy: 'ann',
    version: { a: ['v'.repeat(1_000_000)] },
  }
  const seen = relay.events.length
  const saved = await put('huge', { ...given, collectionId: 'of-huge' })
  await relay.call('PUT', '/api/docs/huge/collection', { as: ann, body: { collectionId: 'also-huge' } })
  const listed = await relay.call('GET', '/api/docs', { as: ann })
  const collected = await relay.call('GET', '/api/collections/also-huge/documents', { as: ann })
  const shown = { title: 'ä'.repeat(1_024), lockedBy: 'ann' }
  expect(saved.json).toMatchObject(shown)
  expect(listed.list.find((entry) => entry.id === 'huge')).toMatchObject(shown)
  expect(collected.json.documents).toMatchObject([shown])
  const heads = relay.events.slice(seen).map((event) => (event.kind === 'deleted' ? event.before : event.head))
  const sizes = [saved.text, collected.text, ...heads.map((head) => JSON.stringify(head))].map((text) => text.length)
  expect(sizes).toHaveLength(4)
  expect(Math.max(...sizes)).toBeLessThan(16_384)
  expect((await get('huge')).json).toMatchObject({ name: long, title: long, tags: given.tags })
})

it('[BODY-16] [BODY-10] a title of 5,000 characters is changed by name or title, and stays whole when a PUT repeats it', async () => {
  const long = 'x'.repeat(5_000)
  const after = async (name: string, title: string) => {
    await put('long-title', { name: long, title: long })
    await put('long-title', { name, title })
    const { json } = await get('long-title')
    return [json.name, json.title]
  }
  expect(await after(long, long)).toEqual([long, long])
  expect(await after(long, 'B')).toEqual(['B', 'B'])
  expect(await after('B', long)).toEqual(['B', 'B'])
  expect(await after(`${long}!`, long)).toEqual([`${long}!`, `${long}!`])
})
