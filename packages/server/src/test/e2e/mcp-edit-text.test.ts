import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { patience } from '../../kernel/testing/patience.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved, until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { pause } from '../wire-client.ts'

const ANN = { sub: 'ann', role: 'member' }

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** Puts a document with one page, which a person has open. */
async function opened(content: string) {
  const { id, prosePageId } = await agent.call('create_document', { name: 'Words' })
  const [docId, pageId] = [String(id), String(prosePageId)]
  await agent.call('set_prose', { docId, pageId, content, format: 'html' })
  const person = relay.sync(docId, ANN)
  await saved(person)
  const paragraph = person.doc.getXmlFragment(`prose:${pageId}`).get(0) as Y.XmlElement
  return { docId, pageId, person, paragraph, text: paragraph.get(0) as Y.XmlText }
}

/** Returns a person's cursor in a text, as editors store it: it stays with the character after it. */
function cursorAt(doc: Y.Doc, text: Y.XmlText, index: number) {
  let cursor = Y.createRelativePositionFromTypeIndex(text, index, -1)
  const place = () => Y.createAbsolutePositionFromRelativePosition(cursor, doc)?.index ?? -1
  return {
    place,
    type(letter: string) {
      const at = place()
      text.insert(at, letter)
      cursor = Y.createRelativePositionFromTypeIndex(text, at + 1, -1)
    },
  }
}

const stored = async (docId: string, pageId: string): Promise<string> =>
  String(((await agent.call('get_prose', { docId, pageId, format: 'html' }))['page'] as { content: string }).content)

describe.concurrent('edit_text beside a person', () => {
  it('[AG-48] 20 of 20 edits of a paragraph succeed at the first try while a person types 5 letters a second in it', {
    timeout: patience(60_000),
  }, async () => {
    const words = Array.from({ length: 20 }, (_, i) => `word${i}.`)
    const { docId, pageId, person, text } = await opened(`<p id="blk-a">${words.join(' ')}</p>`)
    const cursor = cursorAt(person.doc, text, text.toString().indexOf('word10.'))
    let [typed, isTyping] = ['', true]
    const typing = (async () => {
      while (isTyping) {
        const letter = 'abcdefghij'[typed.length % 10] as string
        cursor.type(letter)
        typed += letter
        await pause(200)
      }
    })()
    for (const word of words) {
      await agent.call('edit_text', { docId, edits: [{ find: word, replace: word.replace('word', 'Term ') }] })
      await pause(120)
    }
    isTyping = false
    await typing
    await saved(person)
    const terms = words.map((word) => word.replace('word', 'Term '))
    const expected = [...terms.slice(0, 10), typed + terms[10], ...terms.slice(11)].join(' ')
    expect(typed.length).toBeGreaterThan(10)
    await until('the page to say both', async () => (await stored(docId, pageId)) === `<p id="blk-a">${expected}</p>`)
    expect(text.toString()).toBe(expected)
    expect(text.toString().slice(0, cursor.place())).toBe(`${terms.slice(0, 10).join(' ')} ${typed}`)
    person.destroy()
  })

  it('[AG-48] several replacements in a paragraph touch only the replaced words: marks and a cursor between them stay', async () => {
    const { docId, pageId, person, paragraph, text } = await opened(
      '<p id="blk-a">cat <em>zz</em> cat b<strong>ig</strong> cat</p>',
    )
    const whole = (text.toDelta() as readonly { readonly insert: string }[]).map(({ insert }) => insert).join('')
    const cursors = ['zz', 'b', 'g'].map((letter) => cursorAt(person.doc, text, whole.indexOf(letter)))
    await agent.call('edit_text', { docId, pageId, edits: [{ find: 'cat', replace: 'elephant', all: true }] })
    await until('the words', () => text.toString().includes('elephant'))
    expect(paragraph.get(0)).toBe(text)
    for (const cursor of cursors) cursor.type('|')
    await saved(person)
    expect(await stored(docId, pageId)).toBe('<p id="blk-a">elephant |<em>zz</em> elephant |b<strong>i|g</strong> elephant</p>')
    person.destroy()
  })

  it('[AG-48] a person gets an edit of many pages as one update, hardly larger than the words', async () => {
    const { docId, person } = await opened('<p id="blk-a">old name</p>')
    const pages = await Promise.all(
      Array.from({ length: 20 }, () =>
        agent.call('add_prose_page', { docId, content: 'The old name is here.\n\nAnd old name there.' }),
      ),
    )
    await saved(person)
    const sizes: number[] = []
    person.doc.on('update', (update: Uint8Array) => sizes.push(update.length))
    const answer = await agent.call('edit_text', { docId, edits: [{ find: 'old name', replace: 'new name', all: true }] })
    expect(answer['edits']).toMatchObject([{ count: 1 + 2 * pages.length }])
    await until('the words', () => sizes.length > 0)
    expect(sizes).toHaveLength(1)
    expect(sizes[0]).toBeLessThan(41 * 60)
    person.destroy()
  })
})

describe.concurrent('set_block beside a person', () => {
  it('[AG-51] ticking a task keeps every live node, and a block that becomes a heading keeps words typed at that moment', async () => {
    const { docId, pageId, person } = await opened(
      '<p id="blk-a">Title</p><ul data-type="taskList"><li data-type="taskItem"><p id="blk-1">one</p><p id="blk-2">two</p></li></ul>',
    )
    const fragment = person.doc.getXmlFragment(`prose:${pageId}`)
    const nodes = () => [...fragment.createTreeWalker(() => true)]
    const before = nodes()
    await agent.call('set_block', { docId, pageId, id: 'blk-1', checked: true })
    await until('the tick', () => fragment.toString().includes('checked="true"'))
    expect(nodes()).toEqual(before)
    const made = agent.call('set_block', { docId, pageId, id: 'blk-a', level: 2 })
    for (let i = 0; i < 20; i++) {
      const now = (fragment.get(0) as Y.XmlElement).get(0) as Y.XmlText
      now.insert(now.length, '.')
      await pause(10)
    }
    await made
    await saved(person)
    expect(await stored(docId, pageId)).toContain(`<h2 id="blk-a">Title${'.'.repeat(20)}</h2>`)
    person.destroy()
  })
})
