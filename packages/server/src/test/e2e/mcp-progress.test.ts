import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { dice } from '../../kernel/testing/dice.ts'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { mcpSession } from '../mcp-session.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { openWire, type WireClient } from '../wire-client.ts'

type Members = Readonly<Record<string, unknown>>

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'bot', role: 'owner' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
/** Puts a document in which a person has a cursor in the block `blk-a`. */
async function opened(content: string) {
  const docId = `progress-${++documents}`
  await relay
    .rest({ sub: 'ann' })
    .putDocument(docId, { name: 'Progress', pages: [], richTextPages: [{ id: 'p', name: 'P', content }] })
  const person = await (await openWire(relay)).enter(relay.token({ sub: 'ann', role: 'owner' }), docId, ['ack'])
  let typed = ''
  const textIn = (id: string): Y.XmlText => nodeWithId(person, id).get(0) as Y.XmlText
  return {
    at: { docId, pageId: 'p' },
    person,
    typed: () => typed,
    /** Types a letter at the end of a block, without waiting for the relay. */
    key(id = 'blk-a') {
      const letter = 'abcdefghij'[typed.length % 10] as string
      typed += letter
      person.update(person.edit(() => textIn(id).insert(textIn(id).length, letter)))
    },
    async [Symbol.asyncDispose]() {
      await person.acknowledged()
      person.socket.close()
      await person.closed
    },
  }
}

const shown = async ({ docId }: { readonly docId: string }, args: Members = {}): Promise<string> =>
  String(((await agent.call('get_prose', { docId, pageId: 'p', ...args }))['page'] as Members)['content'])

/**
 * Whether the person strikes a key between an answer and the next call: one in five, as for an agent that takes 40 ms and a person who strikes
 * five keys a second.
 */
const strikes = (roll: (below: number) => number): boolean => roll(5) === 0
const ROUNDS = Array.from({ length: 20 }, (_, i) => i)

describe('progress of an agent while a person types', () => {
  it('[AG-101] edit_text in the paragraph where a person types succeeds 20 of 20 times at the first try', async () => {
    const words = ROUNDS.map((i) => `word${i}.`)
    await using page = await opened(`<p id="blk-a">${words.join(' ')} </p>`)
    for (const word of words) {
      page.key()
      const edit = agent.call('edit_text', { ...page.at, edits: [{ find: word, replace: word.replace('word', 'Term ') }] })
      page.key()
      await edit
    }
    await page.person.acknowledged()
    const terms = words.map((word) => word.replace('word', 'Term ')).join(' ')
    expect(await shown(page.at)).toBe(`<p id="blk-a">${terms} ${page.typed()}</p>`)
  })

  it('[AG-101] a stamped set_prose of another paragraph succeeds 20 of 20 times at the first try', async () => {
    await using page = await opened('<p id="blk-a">Ann </p><p id="blk-b">Bot</p>')
    for (const round of ROUNDS) {
      const [id] = /blk-b#\w{4}/.exec(await shown(page.at, { ids: true })) ?? []
      page.key()
      const write = agent.call('set_prose', { ...page.at, id, content: `Bot ${round}` })
      page.key()
      await write
    }
    await page.person.acknowledged()
    expect(await shown(page.at)).toBe(`<p id="blk-a">Ann ${page.typed()}</p><p id="blk-b">Bot 19</p>`)
  })

  it('[AG-101] a stamped set_prose of the paragraph is refused, and succeeds within three tries 19 of 20 times', async () => {
    await using page = await opened('<p id="blk-a">Ann </p>')
    const roll = dice(101)
    let done = 0
    for (const round of ROUNDS) {
      let [id = ''] = /blk-a#\w{4}/.exec(await shown(page.at, { ids: true })) ?? []
      page.key()
      await page.person.acknowledged()
      let said = 'never read'
      for (let tries = 0; tries <= 3; tries++) {
        const { isError, result } = await agent.answer('set_prose', {
          ...page.at,
          id,
          content: `${said} (${round})`,
          format: 'markdown',
        })
        if (!isError) {
          expect(tries).toBeGreaterThan(0)
          done++
          break
        }
        expect(result.code).toBe('ERR_BLOCK_CHANGED')
        const current = result['current'] as { readonly id: string; readonly content: string }
        ;[id, said] = [current.id, current.content]
        if (strikes(roll)) {
          page.key()
          await page.person.acknowledged()
        }
      }
    }
    await page.person.acknowledged()
    expect(done).toBeGreaterThanOrEqual(19)
    const letters = (await shown(page.at)).replaceAll(/<[^>]*>|^Ann | ?\(\d+\)/g, '').replace('Ann ', '')
    expect(letters).toBe(page.typed())
  })

  it('[AG-101] reading a page by cursor gives every block once, 20 of 20 times, while the person types and adds paragraphs', async () => {
    const content = Array.from({ length: 30 }, (_, i) => `<p id="blk-${i === 15 ? 'a' : i}">Words ${i} </p>`).join('')
    await using page = await opened(content)
    const roll = dice(102)
    for (const round of ROUNDS) {
      const seen: string[] = []
      for (let cursor: unknown; ; ) {
        const answer = await agent.call('get_prose', { ...page.at, ids: true, limit: 7, ...(cursor !== undefined && { cursor }) })
        const content = String((answer['page'] as Members)['content'])
        seen.push(...[...content.matchAll(/<!-- (blk-\w+)#/g)].map(([, id]) => String(id)))
        cursor = answer['nextCursor']
        if (cursor === undefined) break
        page.key()
        if (roll(3) === 0)
          addParagraph(page.person, roll(page.person.doc.getXmlFragment('prose:p').length), `blk-n${round}x${seen.length}`)
        await page.person.acknowledged()
      }
      const old = seen.filter((id) => !id.startsWith('blk-n'))
      expect([round, old.length, new Set(seen).size]).toEqual([round, 30, seen.length])
    }
  })
})

describe('a page that is read with ids and sent back whole', () => {
  const list = (first: string, second: string) =>
    `<ul><li><p id="blk-f">${first}</p></li><li><p id="blk-a">${second}</p></li></ul>`
  const tasks = (first: string, second: string) =>
    `<ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p id="blk-f">${first}</p></li><li data-type="taskItem" data-checked="true"><p id="blk-a">${second}</p></li></ul>`
  const table = (first: string, second: string) =>
    `<table><tr><th><p id="blk-h">A</p></th><th><p id="blk-i">B</p></th></tr><tr><td><p id="blk-f">${first}</p></td><td><p id="blk-a">${second}</p></td></tr></table>`
  const callout = (first: string, second: string) =>
    `<div data-callout data-variant="tip"><p id="blk-f">${first}</p><blockquote><p id="blk-a">${second}</p></blockquote></div>`

  it.each([
    ['item of the same list', list],
    ['task of the same list', tasks],
    ['cell of the same table', table],
    ['paragraph of the same callout', callout],
  ])(
    '[AG-25] changed in one place keeps the words, the cursor and the live node of a person who types in another %s',
    async (_, page) => {
      await using open = await opened(page('first', 'Ann '))
      const { person, at } = open
      const node = () => nodeWithId(person, 'blk-a')
      const text = node().get(0) as Y.XmlText
      for (const round of ROUNDS.slice(0, 5)) {
        const content = await shown(at, { ids: true })
        open.key()
        const cursor = Y.createRelativePositionFromTypeIndex(text, text.length, -1)
        await person.acknowledged()
        const before = node()
        const write = agent.call('set_prose', { ...at, content: content.replace('first', `first ${round}`) })
        open.key()
        expect(await write).toMatchObject({ changed: 1 })
        await person.acknowledged()
        expect(node() === before && before.get(0) === text).toBe(true)
        expect(Y.createAbsolutePositionFromRelativePosition(cursor, person.doc)?.type === text).toBe(true)
      }
      expect(await shown(at)).toBe(page(`first ${[...ROUNDS.slice(0, 5)].reverse().join(' ')}`, `Ann ${open.typed()}`))
    },
  )
})

function nodeWithId(person: WireClient, id: string): Y.XmlElement {
  for (const node of person.doc.getXmlFragment('prose:p').createTreeWalker((one) => one instanceof Y.XmlElement))
    if (node instanceof Y.XmlElement && node.getAttribute('id') === id) return node
  throw new Error(`there is no block ${id}`)
}

function addParagraph(person: WireClient, index: number, id: string): void {
  const paragraph = new Y.XmlElement('paragraph')
  paragraph.setAttribute('id', id)
  paragraph.insert(0, [new Y.XmlText('new')])
  person.update(person.edit((doc) => doc.getXmlFragment('prose:p').insert(index, [paragraph])))
}

describe('two agents on one document', () => {
  const bots = async () => {
    const names = ['Writer A', 'Writer B']
    const made = names.map((name, i) => mcpSession(relay.mcpUrl, relay.token({ sub: `bot-${i}`, role: 'owner' }), name))
    return { names, calls: await Promise.all(made) }
  }

  it.each([
    ['set_prose', (id: string, text: string) => ({ id, content: text })],
    [
      'edit_document',
      (id: string, text: string) => ({ steps: [{ tool: 'set_prose', arguments: { pageId: 'p', id, content: text } }] }),
    ],
  ])(
    '[AG-102] of two calls of %s with one stamp on one block exactly one wins, and the error of the other shows its text and name',
    async (tool, argsOf) => {
      const { names, calls } = await bots()
      for (const isLive of [false, true])
        for (const round of ROUNDS.slice(0, 10)) {
          const docId = `race-${tool}-${isLive}-${round}`
          const body = { name: 'Race', pages: [], richTextPages: [{ id: 'p', name: 'P', content: '<p id="blk-a">Before</p>' }] }
          await relay.rest({ sub: 'ann' }).putDocument(docId, body)
          const person = isLive ? relay.sync(docId, { sub: 'ann', role: 'member' }) : null
          if (person !== null) await saved(person)
          const [id = ''] = /blk-a#\w{4}/.exec(await shown({ docId }, { ids: true })) ?? []
          for (const call of calls) await call('get_prose', { docId, pageId: 'p', ids: true })
          const texts = names.map((name) => `Words of ${name} ${round}`)
          const at = tool === 'edit_document' ? { docId } : { docId, pageId: 'p' }
          const answers = await Promise.all(calls.map((call, i) => call(tool, { ...at, ...argsOf(id, texts[i] as string) })))
          const lost = answers.flatMap((answer, i) => (answer['code'] === undefined ? [] : [i]))
          expect(lost).toHaveLength(1)
          const [loser] = lost as [number]
          const winner = 1 - loser
          const current = { content: texts[winner] }
          const changedBy = { id: `bot-${winner}`, kind: 'agent', name: names[winner] }
          expect(answers[loser]).toMatchObject({ code: 'ERR_BLOCK_CHANGED', current, changedBy })
          expect(await shown({ docId })).toBe(`<p id="blk-a">${texts[winner]}</p>`)
          person?.destroy()
        }
    },
  )

  const repeatable = TOOL_ROWS.filter(
    ({ inputSchema, access }) => access === 'edit' && 'requestId' in (inputSchema['properties'] as object),
  )
    .filter(({ name }) => name !== 'create_document')
    .flatMap(({ name, examples }) => examples.slice(0, 1).map((args) => [name, args as Members] as const))

  it.each(repeatable)(
    '[AG-102] repeats of %s with one requestId, at the same time and later, are done once, cold and live',
    async (tool, args) => {
      for (const isLive of [false, true]) {
        const docId = `once-${tool}-${isLive}`
        await relay.rest({ sub: 'ann' }).putDocument(docId, SAMPLE_DOCUMENT)
        const person = isLive ? relay.sync(docId, { sub: 'ann', role: 'member' }) : null
        if (person !== null) await saved(person)
        const { serverVersion: before } = await agent.call('get_document', { docId })
        const call = { ...args, docId, requestId: docId }
        const answers = await Promise.all(Array.from({ length: 5 }, () => agent.answer(tool, call)))
        const done = answers.filter(({ isError, result }) => !isError && result['replayed'] !== true)
        expect(done, JSON.stringify(answers)).toHaveLength(1)
        const { result: first } = done[0] as (typeof done)[number]
        expect(await agent.call(tool, call)).toEqual({ ...first, replayed: true })
        for (const { isError, result } of answers)
          expect(isError ? result.code : result['callId']).toBe(isError ? 'ERR_REQUEST_IN_PROGRESS' : first['callId'])
        const { serverVersion } = await agent.call('get_document', { docId })
        expect(serverVersion).toBe(Number(before) + 1)
        person?.destroy()
      }
    },
  )
})
