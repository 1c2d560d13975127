import { readQuery, type SearchQuery } from '@docrelay/model/search/query'
import { isRefusal } from '@docrelay/model/edit'
import { expect, it } from 'vitest'
import { creation, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { patience } from '../../../kernel/testing/patience.ts'
import { inProcess, temporaryStore } from '../testing/store-under-test.ts'
import { openSearchIndex } from './search-index.ts'

const WORDS = Array.from('abcdefghijklmno', (letter) => `${letter}${letter}`)

const query = (text: string): SearchQuery => {
  const read = readQuery(text)
  if (isRefusal(read)) throw new Error(read.message)
  return read
}

it('[AG-63] waiting searches of one workspace end in time, end no thread, and let a search of another one run', async () => {
  const { url, remove } = temporaryStore()
  const warnings: unknown[] = []
  const log = { ...silentLogger, warn: (event: string, _: string, fields?: unknown) => void warnings.push([event, fields]) }
  try {
    await using store = await inProcess(url)
    await using index = openSearchIndex({ url, log, slackMs: patience(20_000) })
    const stored = async (workspaceId: string, content: string) => {
      const text = JSON.stringify({ name: 't', richTextPages: [{ id: 'p', name: 'P', content }] })
      const head = written(await store.documents.write(creation({ workspaceId, id: 'd' }, text)))
      await index.refresh([head])
      return head
    }
    const many = await stored('busy', `<p>${WORDS.join(' ')}</p>`.repeat(10_000))
    const few = await stored('quiet', '<p>medlar</p>')
    const find = (document: typeof many, text: string, withinMs: number) => {
      const { workspaceId } = document
      return index.find({ workspaceId, documents: [document], query: query(text), most: 10, withinMs })
    }
    await find(few, 'medlar', 60_000)
    // No text contains the last word, so each search has to count the rows with all other words, for as long as it may.
    const busy = Array.from({ length: 60 }, () => find(many, `${WORDS.join(' ')} zz`, 100))
    const among = await find(few, 'medlar', 60_000)
    expect([among.cutOff, among.groups.length]).toEqual([false, 1])
    const ends = await Promise.all(busy)
    expect(ends.filter(({ cutOff }) => cutOff).length).toBeGreaterThan(20)
    expect(warnings).toEqual([])
  } finally {
    remove()
  }
})
