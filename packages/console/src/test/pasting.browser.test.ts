import type { Page } from 'playwright-core'
import { expect, it, type TestContext } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf, minutes } from './pages.ts'

const SPAN = 'font-size:11pt;color:#000000;background-color:transparent;white-space:pre-wrap;'

/** Pastes HTML like a browser, and returns the page as the relay stores it. */
async function storedAfterPasting(html: string, context: TestContext): Promise<string> {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes('<p></p>'))
  const ann = await openAs('ann', '#doc/minutes')
  await badge(ann, 'saved').waitFor()
  await editorOf(ann).focus()
  await paste(ann, html)
  await ann.getByText('The end').waitFor()
  await badge(ann, 'saved').waitFor()
  const { richTextPages } = await owner.getDocument('minutes')
  const [page] = richTextPages as readonly { readonly content: string }[]
  return String(page?.content).replaceAll(/ id="[^"]*"/g, '')
}

function paste(page: Page, html: string): Promise<unknown> {
  return page.evaluate((text) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/html', text)
    document.activeElement?.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, html)
}

it('[CON-30] text pasted from Google Docs keeps its marks, lists and tasks, but not its black text colour', async (context) => {
  const stored = await storedAfterPasting(
    `<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1"><h2><span style="${SPAN}font-weight:400">Plan</span></h2>` +
      `<p><span style="${SPAN}font-weight:700">Bold</span><span style="${SPAN}font-weight:400">, </span><span style="${SPAN}font-style:italic">slanted</span><span style="${SPAN}text-decoration:underline line-through">  both</span><span style="${SPAN}vertical-align:super">2</span><span style="color:#ff0000">red</span> <a href="https://example.com/x"><span style="color:#1155cc;text-decoration:underline">link</span></a></p>` +
      '<ul><li><p><span>one</span></p></li><ul><li><p><span>nested</span></p></li></ul></ul>' +
      '<ul><li role="checkbox" aria-checked="true"><img src="data:image/png;base64,AAAA" width="18"><p><span>done</span></p></li></ul><p>The end</p></b>',
    context,
  )
  expect(stored).toBe(
    '<h2>Plan</h2><p><strong>Bold</strong>, <em>slanted</em><u><s>  both</s></u><sup>2</sup><span style="color: #ff0000">red</span> <a href="https://example.com/x">link</a></p>' +
      '<ul><li><p>one</p><ul><li><p>nested</p></li></ul></li></ul>' +
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>done</p></li></ul><p>The end</p>',
  )
})

it('[CON-30] lists pasted from Word keep their levels, and lose the bullets that Word writes as text', async (context) => {
  const item = (level: number, marker: string, text: string) =>
    `<p class=MsoListParagraph style='text-indent:-18.0pt;mso-list:l0 level${level} lfo1'><![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>${marker}<span>&nbsp;&nbsp;&nbsp; </span></span></span><![endif]>${text}<o:p></o:p></p>\n`
  const stored = await storedAfterPasting(
    `<html xmlns:o="urn:schemas-microsoft-com:office:office"><body><!--StartFragment-->
<p class=MsoNormal><b>Bold</b> words<o:p></o:p></p>
${item(1, '·', 'one')}${item(2, 'o', 'nested')}${item(2, 'o', 'twice')}${item(1, '·', 'two')}
<p class=MsoNormal>Between</p>
${item(1, '1.', 'first')}${item(1, '2.', 'second')}<p class=MsoNormal>The end</p><!--EndFragment--></body></html>`,
    context,
  )
  expect(stored).toBe(
    '<p><strong>Bold</strong> words</p><ul><li><p>one</p><ul><li><p>nested</p></li><li><p>twice</p></li></ul></li><li><p>two</p></li></ul>' +
      '<p>Between</p><ol><li><p>first</p></li><li><p>second</p></li></ol><p>The end</p>',
  )
})

it('[CON-30] code pasted from a code editor keeps its indents', async (context) => {
  const stored = await storedAfterPasting(
    '<div style="font-family:monospace;white-space:pre;"><div><span>if (a) {</span></div><div><span>    b()</span></div><div>}</div><div>The end</div></div>',
    context,
  )
  expect(stored).toBe('<p>if (a) {</p><p>    b()</p><p>}</p><p>The end</p>')
})
