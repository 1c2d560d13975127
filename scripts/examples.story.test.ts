import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { serialiseHtml } from '../packages/model/src/prose/html.ts'
import { nodeRows } from '../packages/model/src/prose/testing/every-row.ts'
import { CHROMIUM, NEEDS_CHROMIUM } from '../packages/server/src/test/browser.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../packages/server/src/test/relay-under-test.ts'

const EXAMPLES = ['tiptap', 'react', 'y-websocket'] as const
const ROOT = join(import.meta.dirname, '../examples')
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

const BLANK = '<svg xmlns="http://www.w3.org/2000/svg"/>'

/** Everything that a page may hold, after a paragraph in which the test types. */
const CONTENT = `<p id="blk-start">Start.</p>${serialiseHtml(nodeRows.flatMap(([, , tree]) => tree)).replaceAll(/ id="[^"]*"/g, '')}`

let relay: RelayUnderTest
let folder: string
let server: Server
let browser: Browser
beforeAll(async () => {
  if (CHROMIUM === null) return
  folder = mkdtempSync(join(tmpdir(), 'examples-'))
  const input = EXAMPLES.map((name) => join(ROOT, name, 'index.html'))
  const options = { outDir: folder, emptyOutDir: true, target: 'es2023', rolldownOptions: { input } }
  ;[relay] = await Promise.all([
    startRelayUnderTest(),
    build({ root: ROOT, logLevel: 'warn', configFile: false, build: options }),
  ])
  server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    const file = join(folder, normalize(path.endsWith('/') ? `${path}index.html` : path))
    const type = TYPES[extname(file)]
    // The images of the page have no files, so each gets a blank image.
    if (type === undefined) response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(BLANK)
    else response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-background-networking'] })
})
beforeEach((context) => {
  if (CHROMIUM === null) context.skip(NEEDS_CHROMIUM)
})
afterAll(async () => {
  await browser?.close()
  server?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  await relay?.[Symbol.asyncDispose]()
})

const contentOf = async (id: string): Promise<string> => {
  const body = (await relay.rest({ sub: 'ann' }).getDocument(id)) as { richTextPages: readonly { readonly content: string }[] }
  return body.richTextPages[0]?.content ?? ''
}

it.each(EXAMPLES)('the example for %s edits a page beside others, and loses nothing that the page holds', async (name) => {
  const id = `page-${name}`
  const ann = relay.rest({ sub: 'ann' })
  const body = { name, pages: [], richTextPages: [{ id: 'one', name: 'One', order: 0, content: CONTENT }] }
  await ann.putDocument(id, body)
  const before = await contentOf(id)
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
  const { port } = server.address() as AddressInfo
  const asked = [relay.baseUrl, id, 'one', relay.token({ sub: 'ann', role: 'member' })].join(',')
  await page.goto(`http://127.0.0.1:${port}/${name}/#${encodeURIComponent(asked)}`)
  const first = page.locator('.ProseMirror p').first()
  await first.click()
  await page.keyboard.press('End')
  await page.keyboard.type(' Typed here.')
  const typed = before.replace('Start.', 'Start. Typed here.')
  await until('what was typed is in the body', async () => (await contentOf(id)) === typed)
  await ann.putDocument(id, {
    ...body,
    richTextPages: [{ ...body.richTextPages[0], content: typed.replace('Start.', 'Begin.') }],
  })
  if (name !== 'y-websocket')
    await page
      .locator('#saved')
      .filter({ hasText: /^saved$/ })
      .waitFor()
  await first.filter({ hasText: 'Begin. Typed here.' }).waitFor()
  expect(await contentOf(id)).toBe(typed.replace('Start.', 'Begin.'))
  expect(problems).toEqual([])
  await page.close()
})
