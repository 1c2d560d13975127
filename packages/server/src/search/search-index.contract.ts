import { randomUUID } from 'node:crypto'
import { readStoredBody } from '@docrelay/model/body-parse'
import { isRefusal } from '@docrelay/model/edit'
import { matchOf, readQuery, type SearchQuery } from '@docrelay/model/search/query'
import { type HitGroup, PLACE_CLASSES, rankGroups } from '@docrelay/model/search/ranking'
import { rowWords, textsOf } from '@docrelay/model/search/texts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentHead, DocumentStore } from '../documents/document-store.port.ts'
import { change, creation, written } from '../documents/testing/document-writes.ts'
import type { Found, SearchIndex } from './search-index.port.ts'

export interface OpenSearchIndex extends AsyncDisposable {
  readonly documents: DocumentStore
  readonly index: SearchIndex
  /** Closes and opens the index, as a restart does. */
  reopen(): Promise<void>
  /** Removes the index while it is in use, as an operator does. */
  drop(): Promise<void>
  /** Damages the stored index, as a disk does; `null` for an engine that looks after its own files. */
  readonly damage: ((workspaceId: string) => void) | null
}

const query = (text: string): SearchQuery => {
  const read = readQuery(text)
  if (isRefusal(read)) throw new Error(read.message)
  return read
}

interface Written {
  readonly head: DocumentHead
  readonly text: string
}

const page = (id: string, name: string, content: string) => ({ id, name, content })
const textOf = (name: string, ...blocks: readonly string[]): string =>
  JSON.stringify({ name, richTextPages: [page('p1', 'Page', blocks.join(''))] })
const paragraphs = (...texts: readonly string[]): readonly string[] => texts.map((text) => `<p>${text}</p>`)

/** Registers the contract of every driver of `SearchIndex`. */
export function describeSearchIndexContract(name: string, open: () => Promise<OpenSearchIndex>): void {
  describe(`SearchIndex: ${name}`, () => {
    let store: OpenSearchIndex
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    const write = async (workspaceId: string, text: string, nowMs = 1000): Promise<Written> => {
      const ref = { workspaceId, id: `doc-${randomUUID()}` }
      return { head: written(await store.documents.write(creation(ref, text, { nowMs }))), text }
    }
    const rewrite = async ({ head }: Written, text: string): Promise<Written> => ({
      head: written(await store.documents.write(change(head, text))),
      text,
    })
    const refsOf = (documents: readonly Written[]) =>
      documents.map(({ head }) => ({ workspaceId: head.workspaceId, key: head.key }))
    const filled = async (...documents: readonly Written[]): Promise<readonly Written[]> => {
      await store.index.refresh(refsOf(documents))
      return documents
    }
    const find = (documents: readonly Written[], text: string, more: { most?: number; withinMs?: number } = {}): Promise<Found> =>
      store.index.find({
        workspaceId: documents[0]?.head.workspaceId ?? 'none',
        documents: documents.map(({ head }) => head),
        query: query(text),
        most: more.most ?? 200,
        withinMs: more.withinMs ?? 60_000,
      })
    const counts = ({ groups }: Found) => groups.map(({ document, placeClass, count }) => [document, placeClass, count])

    it('[AG-60] [AG-61] an index finds the same groups as a direct match of the texts, for any words and phrases', async () => {
      const workspaceId = `ws \0 ${randomUUID()}`
      const word = fc.constantFrom(
        'plan',
        'planung',
        'Größe',
        'grosse',
        'b',
        'bc',
        '東京都',
        '京',
        'x1',
        'the',
        'Thesis',
        'план',
        'планы',
        'grød',
      )
      const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
      const blocks = fc.array(fc.tuple(fc.constantFrom('p', 'h2'), text), { maxLength: 5 })
      const bodies = fc
        .sample(fc.tuple(text, blocks), { numRuns: 12, seed: 7 })
        .map(([title, parts]) => textOf(title, ...parts.map(([tag, said]) => `<${tag}>${said}</${tag}>`)))
      const documents: Written[] = []
      for (const body of bodies) documents.push(await write(workspaceId, body))
      await filled(...documents)
      const quoted = text.map((words) => `"${words}"`)
      const queries = fc.oneof(
        text,
        quoted,
        fc.tuple(text, quoted).map((parts) => parts.join(' ')),
        fc.constant('the missing plan'),
      )
      for (const asked of fc.sample(queries, { numRuns: 60, seed: 11 })) {
        if (isRefusal(readQuery(asked))) continue
        const { groups, partial, stale, cutOff } = await find(documents, asked)
        expect([stale, cutOff]).toEqual([[], false])
        expect({ asked, groups, partial }).toEqual({ asked, ...expectedOf(documents, query(asked)) })
      }
    })

    it('[AG-61] a query that repeats its only word or phrase matches exactly only a text that repeats it too', async () => {
      const workspaceId = randomUUID()
      const documents = await filled(
        await write(workspaceId, textOf('C and C++', ...paragraphs('C', 'c c', 'a 12/12 b', '12 of 12', 'no', 'no no no'))),
        await write(workspaceId, textOf('ab', ...paragraphs('of b', 'of b of b', 'of b, then of b'))),
      )
      for (const asked of ['C C++', '12/12', 'no no', '"of b" "of b"', '"c c" "c c"', 'c', '"no"']) {
        const { groups, partial } = await find(documents, asked)
        expect({ asked, groups, partial }).toEqual({ asked, ...expectedOf(documents, query(asked)) })
        expect([asked, groups.length > 0]).toEqual([asked, true])
      }
    })

    it('[AG-61] documents that the caller may not read, and other workspaces, change no answer', async () => {
      const workspaceId = randomUUID()
      const documents = await filled(await write(workspaceId, textOf('a', ...paragraphs('whale one', 'whale whale'))))
      const before = await find(documents, 'whale one')
      const others = [await write(workspaceId, textOf('whale one')), await write(randomUUID(), textOf('whale one'))]
      await filled(...others)
      expect(await find(documents, 'whale one')).toEqual(before)
      expect(counts(before)).toEqual([[0, 'rest', 1]])
      expect(counts(await find([], 'whale'))).toEqual([])
    })

    it('[AG-61] 10,000 better matches in documents that the caller may not read change no byte of the answer', async () => {
      const workspaceId = randomUUID()
      const documents = await filled(
        await write(workspaceId, textOf('notes', ...paragraphs('quince with medlar', 'quince'))),
        await write(workspaceId, textOf('more', ...paragraphs('medlar', 'a quince and a medlar'))),
      )
      const asked = ['quince medlar', 'quince', '"quince medlar"', 'quince medlar rowan', 'medl']
      const answers = async () => JSON.stringify(await Promise.all(asked.map((text) => find(documents, text, { most: 3 }))))
      const before = await answers()
      const better = '<h2>quince medlar rowan</h2>'.repeat(5_000)
      await filled(await write(workspaceId, textOf('quince', better)), await write(workspaceId, textOf('medlar', better)))
      expect(await answers()).toBe(before)
    })

    it('[AG-61] documents rank in the order of the call, and no more hits than wanted are counted', async () => {
      const workspaceId = randomUUID()
      const text = textOf('x', ...paragraphs(...new Array<string>(5).fill('same words')))
      const documents = await filled(await write(workspaceId, text), await write(workspaceId, text))
      expect(counts(await find(documents.toReversed(), 'words', { most: 7 }))).toEqual([
        [0, 'rest', 5],
        [1, 'rest', 2],
      ])
    })

    it('[AG-63] a document that was not indexed in its present state is reported as stale until a refresh', async () => {
      const workspaceId = randomUUID()
      const first = await write(workspaceId, textOf('first', ...paragraphs('old words')))
      expect(await find([first], 'words')).toMatchObject({ stale: [first.head.key], cutOff: false })
      await filled(first)
      const second = await rewrite(first, textOf('first', ...paragraphs('new words')))
      // The index may have read the document by itself meanwhile; then it has the new words.
      const { groups, stale } = await find([second], 'old')
      expect(stale.length === 0 ? groups : stale).toEqual(stale.length === 0 ? [] : [second.head.key])
      await filled(second)
      expect(await find([second], 'old')).toMatchObject({ groups: [], stale: [] })
      expect(counts(await find([second], 'new'))).toEqual([[0, 'rest', 1]])
    })

    it('[AG-64] after texts are added, moved and removed, each word is found as often as the texts contain it', async () => {
      const workspaceId = randomUUID()
      const versions = [['a', 'b', 'b', 'c'], ['c', 'x', 'b', 'a'], ['x'], ['x', 'x', 'a', 'a', 'a']]
      let document = await write(workspaceId, textOf('t', ...paragraphs(...(versions[0] ?? []))))
      for (const [at, words] of versions.entries()) {
        if (at > 0) document = await rewrite(document, textOf('t', ...paragraphs(...words)))
        await filled(document)
        for (const word of ['a', 'b', 'c', 'x']) {
          const held = words.filter((other) => other === word).length
          expect([words, word, counts(await find([document], word))]).toEqual([
            words,
            word,
            held === 0 ? [] : [[0, 'rest', held]],
          ])
        }
      }
    })

    it('[AG-64] a deleted document leaves the index, and a search that names it reports its key as stale', async () => {
      const document = await write(randomUUID(), textOf('gone', ...paragraphs('some words')))
      await filled(document)
      const { head } = document
      await store.documents.remove(head, head.key, 2000)
      await store.index.refresh(refsOf([document]))
      expect(await find([document], 'words')).toMatchObject({ groups: [], stale: [head.key] })
    })

    it('[AG-64] an index outlives a restart, and a rebuild by itself gives the same answers', async () => {
      const document = await write(randomUUID(), textOf('lasting', ...paragraphs('some words')))
      await filled(document)
      await store.reopen()
      const before = await find([document], 'words')
      expect(counts(before)).toEqual([[0, 'rest', 1]])
      await store.index.rebuild()
      await expect.poll(() => find([document], 'words'), { timeout: 20_000 }).toEqual(before)
    })

    it('[AG-64] documents that were written before the index was first used are found without a refresh', async () => {
      const workspaceId = randomUUID()
      const earlier = await write(workspaceId, textOf('earlier', ...paragraphs('old words')))
      await store.reopen()
      await filled(await write(randomUUID(), textOf('any')))
      await expect.poll(async () => counts(await find([earlier], 'words')), { timeout: 20_000 }).toEqual([[0, 'rest', 1]])
    })

    it('[AG-64] an index that an operator removed is built again while it is in use', async () => {
      const workspaceId = randomUUID()
      const documents = await filled(
        await write(workspaceId, textOf('one', ...paragraphs('some words'))),
        await write(workspaceId, textOf('two', ...paragraphs('more words'))),
      )
      const before = await find(documents, 'words')
      await store.drop()
      // A pass over all documents that an earlier test started may have indexed one of these documents again.
      const { groups, stale } = await find(documents, 'words')
      const keys = documents.map(({ head }) => head.key)
      expect([...groups.map(({ document }) => keys[document]), ...stale].toSorted()).toEqual(keys)
      await filled(await write(workspaceId, textOf('three')))
      await expect.poll(() => find(documents, 'words'), { timeout: 20_000 }).toEqual(before)
    })

    it('[AG-64] a damaged index is built again', async (context) => {
      if (store.damage === null) return context.skip('the server looks after its own files')
      const workspaceId = randomUUID()
      const documents = await filled(
        await write(workspaceId, textOf('one', ...paragraphs('some words'))),
        await write(workspaceId, textOf('two', ...paragraphs('more words'))),
      )
      const before = await find(documents, 'words')
      store.damage(workspaceId)
      const after = await find(documents, 'words')
      expect(after.groups.length === 0 ? after.stale.length : 0).toBe(after.groups.length === 0 ? 2 : 0)
      await expect.poll(() => find(documents, 'words'), { timeout: 20_000 }).toEqual(before)
    })

    it('[AG-64] the first 10,000 words of a text and thousands of texts of a document are indexed', async () => {
      const long = `${'w '.repeat(9_999)}last beyond`
      const many = paragraphs(...Array.from({ length: 3_000 }, (_, at) => `row number${at}`))
      const [document] = await filled(await write(randomUUID(), textOf('long', `<p>${long}</p>`, ...many)))
      const documents = document === undefined ? [] : [document]
      expect(counts(await find(documents, 'last'))).toEqual([[0, 'rest', 1]])
      expect(counts(await find(documents, 'beyond'))).toEqual([])
      expect(counts(await find(documents, 'row', { most: 5_000 }))).toEqual([[0, 'rest', 3_000]])
      expect(counts(await find(documents, '"row number2999"'))).toEqual([[0, 'rest', 1]])
    })

    it('[AG-63] a search whose time is over reports that it was cut off', async () => {
      const many = paragraphs(...new Array<string>(9_000).fill('common words'))
      const [document] = await filled(await write(randomUUID(), textOf('many', ...many)))
      const found = await find(document === undefined ? [] : [document], 'common words', { withinMs: 0 })
      expect([found.cutOff, found.stale]).toEqual([true, []])
    })
  })
}

/** Matches the texts of the documents directly, without an index. */
function expectedOf(documents: readonly Written[], asked: SearchQuery): { groups: readonly HitGroup[]; partial: boolean } {
  const groups = new Map<string, HitGroup>()
  for (const [document, { text }] of documents.entries()) {
    for (const { placeClass, text: said } of textsOf(readStoredBody(new TextEncoder().encode(text))).texts) {
      const match = matchOf(rowWords(said).words, asked)
      const key = JSON.stringify([document, PLACE_CLASSES.indexOf(placeClass), match])
      const count = (groups.get(key)?.count ?? 0) + 1
      if (match.matched > 0) groups.set(key, { document, placeClass, ...match, count })
    }
  }
  return rankGroups([...groups.values()], asked, 200)
}
