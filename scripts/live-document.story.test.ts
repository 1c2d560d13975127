import { readFileSync } from 'node:fs'
import { join as path } from 'node:path'
import { markSpecs, nodeSpecs } from '../packages/model/src/prose/schema.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { open, openPage } from '../examples/editor/editor.ts'
import { proseSchema as schema } from '../packages/prosemirror/src/prose-schema.ts'
import { bindEditor } from '../packages/server/src/sync/testing/editor.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../packages/server/src/test/relay-under-test.ts'

const ROOT = path(import.meta.dirname, '..')
const guide = readFileSync(path(ROOT, 'docs', 'live-document.md'), 'utf8')

let relay: RelayUnderTest
beforeAll(async () => {
  relay = await startRelayUnderTest()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

it('[YDOC-1] [PROSE-7] the editor of the guide opens a page, and typed text is in the body', async () => {
  const content = '<h1 id="blk-h">Head</h1><p id="blk-p">Text.</p><table><tr><td><p id="blk-c">a</p></td></tr></table>'
  const ann = relay.rest({ sub: 'ann' })
  await ann.putDocument('page', { name: 'P', pages: [], richTextPages: [{ id: 'one', name: 'One', order: 0, content }] })
  const document = await open(relay.baseUrl, 'page', relay.token({ sub: 'ann', role: 'member' }), 'Ann')
  const editor = bindEditor(openPage(document, String(document.ydoc.getArray('prosePageOrder').get(0))))
  // Position 12 is after the text of the paragraph: 6 for the heading, 1 to enter the paragraph, 5 characters.
  editor.dispatch(editor.state.tr.insertText(' Typed.', 12))
  await document.flush({ timeoutMs: 10_000 })
  const body = (await ann.getDocument('page')) as { richTextPages: readonly { readonly content: string }[] }
  expect(body.richTextPages[0]?.content).toBe(content.replace('Text.', 'Text. Typed.'))
  editor.close()
  await document.close()
})

it('[WS-21] the editor of the guide shows why it cannot open a document', async () => {
  await expect(open(relay.baseUrl, 'none', relay.token({ sub: 'ann' }), 'Ann')).rejects.toThrow('ERR_UNKNOWN_DOC')
})

it('[PROSE-2] the schema of the example has every node and mark, and the guide names them', () => {
  const types = [...nodeSpecs, ...markSpecs].map(({ type }) => type)
  expect(types.filter((type) => !(type in schema.nodes) && !(type in schema.marks))).toEqual([])
  expect(types.filter((type) => !guide.includes(`\`${type}\``))).toEqual([])
  for (const { type, attrs } of nodeSpecs) for (const { name } of attrs) expect(guide, `${type}.${name}`).toContain(`\`${name}\``)
})

it('the code in the guide equals examples/editor', () => {
  const code = readFileSync(path(ROOT, 'examples', 'editor', 'editor.ts'), 'utf8')
  expect(guide).toContain(`\`\`\`ts\n${code}\`\`\``)
})
