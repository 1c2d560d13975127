import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { createRelay } from '@docrelay/client'
import { mcpAgent } from '@docrelay/server/test/mcp-agent'
import { type ConsoleUnderTest, openConsole } from './open-console.ts'
import { largeDocument } from './pages.ts'
import { saved, step, textOf } from './prose-page.ts'

const PAGE = 'text'

/** A document of one prose page. */
async function documentWith(content: string, { rest }: ConsoleUnderTest): Promise<void> {
  const client = await rest('ann')
  await client.putDocument('minutes', { name: 'Minutes', richTextPages: [{ id: PAGE, name: 'Text', content }] })
  await client.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
}

async function storedHtml({ rest }: ConsoleUnderTest): Promise<string> {
  const { richTextPages } = (await (await rest('ann')).getDocument('minutes')) as {
    readonly richTextPages: readonly { readonly content: string }[]
  }
  return richTextPages[0]?.content ?? ''
}

/** Puts the caret at the end of a block. */
async function caretAfter(page: Page, text: string): Promise<void> {
  await page.locator('.prose-text').getByText(text).click()
  await step(page, 'End')
}

it('[CONC-1] two people type into one paragraph at once, and both pages and the store end equal', async (context) => {
  const opened = await openConsole(context)
  await documentWith('<p id="blk-a">start</p>', opened)
  const [ann, ben] = await Promise.all([opened.openAs('ann', '#doc/minutes'), opened.openAs('ben', '#doc/minutes')])
  await Promise.all([caretAfter(ann, 'start'), caretAfter(ben, 'start')])
  await step(ann, 'Home')
  await Promise.all([ann.keyboard.type('from Ann ', { delay: 40 }), ben.keyboard.type(' and from Ben', { delay: 40 })])
  for (const page of [ann, ben]) await expect.poll(() => textOf(page)).toBe('from Ann start and from Ben')
  await Promise.all([saved(ann), saved(ben)])
  expect(await storedHtml(opened)).toBe('<p id="blk-a">from Ann start and from Ben</p>')
  expect(await ben.locator('.docrelay-caret-name').textContent()).toContain('Ann')
})

it('[CON-30] keys alone write headings, lists, tasks, code, marks, links and tables, and undo them', async (context) => {
  const opened = await openConsole(context)
  await documentWith('', opened)
  const ann = await opened.openAs('ann', '#doc/minutes')
  const keys = ann.keyboard
  await ann.locator('.prose-text').focus()
  await keys.type('# Title')
  await keys.press('Enter')
  await keys.type('- one')
  await keys.press('Enter')
  await keys.press('Tab')
  await keys.type('nested')
  for (let times = 0; times < 3; times++) await keys.press('Enter')
  await keys.type('[ ] task')
  await keys.press('ControlOrMeta+Enter')
  for (let times = 0; times < 2; times++) await keys.press('Enter')
  await keys.type('```ts let a')
  await keys.press('ControlOrMeta+Enter')
  await keys.press('ControlOrMeta+b')
  await keys.type('bold')
  await keys.press('ControlOrMeta+b')
  await keys.type(' ')
  await keys.press('ControlOrMeta+k')
  await ann.getByRole('dialog').waitFor()
  await keys.type('example.org')
  await keys.press('Tab')
  await keys.type('link')
  await keys.press('Enter')
  await ann.locator('.prose-text a').waitFor()
  await keys.press('Alt+F10')
  await keys.press('End')
  for (let times = 0; times < 5; times++) await keys.press('ArrowLeft')
  expect(await ann.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Table')
  await keys.press('Enter')
  for (const cell of ['a', 'b', 'c']) {
    await keys.type(cell)
    await keys.press('Tab')
  }
  await keys.type('under')
  await expect.poll(() => ann.locator('.prose-text td').first().textContent()).toBe('under')
  await saved(ann)
  const written = await storedHtml(opened)
  expect(written).toContain('<h1>Title</h1><ul><li><p>one</p><ul><li><p>nested</p></li></ul></li></ul>')
  expect(written).toContain('<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>task</p></li></ul>')
  expect(written).toContain('<pre><code class="language-ts">let a</code></pre>')
  expect(written).toContain('<p><strong>bold</strong> <a href="https://example.org">link</a></p>')
  expect(written).toContain('<th><p>a</p></th><th><p>b</p></th><th><p>c</p></th>')

  // Undoes everything, and redoes it.
  const before = await textOf(ann)
  for (let times = 0; times < 60 && (await textOf(ann)) !== ''; times++) await keys.press('ControlOrMeta+z')
  expect(await textOf(ann)).toBe('')
  for (let times = 0; times < 60 && (await textOf(ann)) !== before; times++) await keys.press('ControlOrMeta+Shift+z')
  expect(await textOf(ann)).toBe(before)
  // After Escape, Tab moves the focus out of the text.
  await keys.press('Escape')
  await keys.press('Tab')
  expect(await ann.evaluate(() => document.activeElement?.closest('.prose-text'))).toBeNull()
})

it('[CON-30] text and shapes can be undone after another page was shown', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const box = { id: 'box', type: 'rectangle', x: 0, y: 0, width: 160, height: 80, label: 'Box' }
  await (await rest('ann')).putDocument('notes', {
    name: 'Notes',
    richTextPages: [{ id: 'p', name: 'Text', content: '<p>Words.</p>' }],
    pages: [{ id: 'c', name: 'Plan', shapes: [box] }],
  })
  const ann = await openAs('ann', '#doc/notes/c')
  const shape = ann.locator('.canvas-drawing [data-shape="box"]').first()
  await shape.waitFor()
  const { x, y, width, height } = (await shape.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await ann.mouse.click(x + width / 2, y + height / 2)
  await ann.keyboard.press('Delete')
  await shape.waitFor({ state: 'detached' })
  await ann.getByRole('tab', { name: 'Text' }).click()
  await ann.locator('.prose-text').click()
  await ann.keyboard.type('Mine. ')
  await ann.getByRole('tab', { name: 'Plan' }).click()
  await ann.getByRole('button', { name: 'Undo' }).click()
  await shape.waitFor()
  await ann.getByRole('tab', { name: 'Text' }).click()
  await expect.poll(() => textOf(ann)).toContain('Mine.')
  await ann.locator('.prose-text').click()
  await ann.keyboard.press('ControlOrMeta+z')
  await expect.poll(() => textOf(ann)).toBe('Words.')
})

it('[CON-31] [PRES-1] an agent edit is marked with its name, own undo leaves it, and "Undo this" undoes it', async (context) => {
  const opened = await openConsole(context)
  await documentWith('<p id="blk-a">mine</p><p id="blk-b">theirs</p>', opened)
  const ann = await opened.openAs('ann', '#doc/minutes')
  await caretAfter(ann, 'mine')
  await ann.keyboard.type(' too')
  await saved(ann)
  const agent = await mcpAgent(opened.relay.mcpUrl, await opened.issuer.mint('ann'))
  await agent.call('set_prose', { docId: 'minutes', pageId: PAGE, id: 'blk-b', content: 'written by an agent' })
  const block = ann.locator('.agent-mark')
  await block.waitFor()
  expect(await block.textContent()).toContain('written by an agent')
  expect(await block.getAttribute('data-agent')).toBe('Agent')
  const status = ann.getByRole('status').filter({ hasText: 'changed 1 block' })
  await status.waitFor()
  await ann.keyboard.press('ControlOrMeta+z')
  await expect.poll(() => textOf(ann)).toBe('mine\nwritten by an agent')
  await ann.getByRole('button', { name: 'Undo this' }).click()
  await expect.poll(() => textOf(ann)).toBe('mine\ntheirs')
  await ann.getByRole('status').filter({ hasText: 'is undone' }).waitFor()
  expect(await storedHtml(opened)).toBe('<p id="blk-a">mine</p><p id="blk-b">theirs</p>')
})

it('[BLOB-6] a pasted image is stored and shown to others, and keys can change its alternative text', async (context) => {
  const opened = await openConsole(context)
  await documentWith('<p>words</p>', opened)
  const [ann, ben] = await Promise.all([opened.openAs('ann', '#doc/minutes'), opened.openAs('ben', '#doc/minutes')])
  await caretAfter(ann, 'words')
  await ann.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 30, height: 20 })
    canvas.getContext('2d')?.fillRect(0, 0, 30, 20)
    const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File([png as Blob], 'black.png', { type: 'image/png' }))
    document
      .querySelector('.prose-text')
      ?.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })
  for (const page of [ann, ben])
    await expect
      .poll(() => page.locator('.prose-text img[alt="black"]').evaluate((image) => (image as HTMLImageElement).naturalWidth))
      .toBe(30)
  await ann.locator('.prose-text img[alt="black"]').click()
  await ann.keyboard.press('Enter')
  await ann.getByRole('dialog').waitFor()
  await ann.keyboard.type('A black box')
  await ann.getByRole('button', { name: 'Apply' }).click()
  await ben.locator('.prose-text img[alt="A black box"]').waitFor()
  await saved(ann)
  expect(await storedHtml(opened)).toMatch(/^<p>words<\/p><img src="blob:\/\/[0-9a-f]{64}" alt="A black box">/)
})

it('[PROSE-7] [WS-65] a page with content of another schema is shown and kept, and malformed presence does no harm', async (context) => {
  const opened = await openConsole(context)
  await documentWith('<p>words</p>', opened)
  const token = await opened.issuer.mint('ben')
  const hostile = createRelay({ url: opened.relay.baseUrl, token: () => token }).open('minutes')
  await hostile.ready
  const ann = await opened.openAs('ann', '#doc/minutes')
  await caretAfter(ann, 'words')
  const user = { kind: 'agent', name: { no: 'text' }, page: PAGE, selection: [1, null, 'blk'], callId: 7, color: 'url(x)' }
  for (const state of [{ user, cursor: 7 }, { user: 'x', cursor: { anchor: 1, head: {} } }, { user: null }])
    hostile.awareness.setLocalState(state as object)
  const page = hostile.ydoc.getXmlFragment(`prose:${PAGE}`)
  hostile.ydoc.transact(() => {
    const poll = new Y.XmlElement('poll')
    page.insert(1, [poll])
    poll.insert(0, [new Y.XmlText('Which day?')])
  })
  await ann.getByText('This page can only be read here.').waitFor()
  await ann.getByText('An unknown block or element: poll').waitFor()
  await ann.locator('.docrelay-unknown', { hasText: 'Which day?' }).waitFor()
  await ann.keyboard.type('lost')
  expect(page.toString()).toBe('<paragraph>words</paragraph><poll>Which day?</poll>')
  page.delete(1, 1)
  await ann.getByRole('toolbar', { name: 'Tools for the text' }).waitFor()
  await caretAfter(ann, 'words')
  await ann.keyboard.type(' again')
  await expect.poll(() => page.toString()).toBe('<paragraph>words again</paragraph>')
  await hostile.close()
})

it('[CON-32] a page of 3,000 blocks beside 2,000 shapes opens, and an edit of an agent does not redraw it', async (context) => {
  const opened = await openConsole(context)
  await (await opened.rest('ann')).putDocument('minutes', largeDocument())
  const ann = await opened.openAs('ann', '#doc/minutes')
  await ann.locator('.prose-text p').nth(2_999).waitFor({ state: 'attached' })
  await ann.locator('.prose-text p').evaluateAll((blocks) => Object.assign(window, { drawnBefore: blocks }))
  const agent = await mcpAgent(opened.relay.mcpUrl, await opened.issuer.mint('ann'))
  await agent.call('set_prose', { docId: 'minutes', pageId: PAGE, id: 'blk-7', content: 'written by an agent' })
  await ann.locator('.agent-mark').waitFor()
  const redrawn = await ann.evaluate(
    () => (window as unknown as { drawnBefore: Element[] }).drawnBefore.filter((block) => !block.isConnected).length,
  )
  expect(redrawn).toBeLessThanOrEqual(1)
})

it('[CON-30] a block of Hebrew or Arabic runs from right to left, and other blocks do not', async (context) => {
  const opened = await openConsole(context)
  await documentWith('<p>words</p><p>שלום.</p><h2>مرحبا</h2>', opened)
  const ann = await opened.openAs('ann', '#doc/minutes')
  await saved(ann)
  const sides = await ann.locator('.prose-text :is(p, h2)').evaluateAll((blocks) =>
    blocks.map((block) => {
      const words = document.createRange()
      words.selectNodeContents(block)
      const [place, drawn] = [block.getBoundingClientRect(), words.getBoundingClientRect()]
      return drawn.left - place.left < place.right - drawn.right ? 'left' : 'right'
    }),
  )
  expect(sides).toEqual(['left', 'right', 'right'])
})
