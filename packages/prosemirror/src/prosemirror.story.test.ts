import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import { nodeRows } from '@docrelay/model/prose/testing/every-row'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { fillFragment } from '../../server/src/sync/prose/prose-fragment.ts'
import { type BrowserOrigin, CHROMIUM, NEEDS_CHROMIUM, openBrowserOrigin } from '../../server/src/test/browser.ts'
import type { PlayedCase, SeenCase } from './testing/editor-page.ts'

// As strict as an operator may set it. The Trusted Types policy name is the one by which prosemirror-view reads a paste.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
  "base-uri 'none'; require-trusted-types-for 'script'; trusted-types ProseMirrorClipboard"

const HASH = 'ab'.repeat(32)
/** The cases that the browser runs in one page load. Each test adds its cases when this file is read. */
const plan: PlayedCase[] = []
let seen: readonly SeenCase[] = []

beforeAll(async () => {
  if (CHROMIUM === null) return
  await using origin: BrowserOrigin = await openBrowserOrigin({ 'content-security-policy': POLICY })
  seen = (await origin.run(await bundled('testing/editor-page.ts'), plan)) as readonly SeenCase[]
})
beforeEach((context) => {
  if (CHROMIUM === null) context.skip(NEEDS_CHROMIUM)
})

/** Bundles a module of this folder with all its imports. */
async function bundled(file: string): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, file),
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  })
  const { output } = await bundle.generate({ format: 'es', codeSplitting: false })
  return output[0].code
}

/** Returns the update of a document whose page `p` is written by `write`. */
function update(write: (page: Y.XmlFragment) => void): number[] {
  const doc = new Y.Doc()
  doc.transact(() => write(doc.getXmlFragment('prose:p')))
  return [...Y.encodeStateAsUpdate(doc)]
}

function element(type: string, attrs: Readonly<Record<string, string>>, ...content: readonly (Y.XmlElement | Y.XmlText)[]) {
  const made = new Y.XmlElement(type)
  for (const [name, value] of Object.entries(attrs)) made.setAttribute(name, value)
  made.insert(0, [...content])
  return made
}
const paragraph = (text: string, attrs = {}) => element('paragraph', attrs, new Y.XmlText(text))

/**
 * Adds a case to the plan. The returned function gives the result of the case once the browser has run. It fails on a CSP report or an error of
 * the page that is not in `reports`.
 */
function planned(name: PlayedCase['name'], ...updates: readonly (readonly number[])[]): (reports?: readonly string[]) => unknown {
  const at = plan.push({ name, updates }) - 1
  return (reports = []) => {
    expect(seen[at]?.reports).toEqual(reports)
    return seen[at]?.seen
  }
}

interface SeenPage {
  readonly written: string
  readonly readBack: boolean
  readonly changed: boolean
  readonly isEditable: boolean
  readonly problems: readonly unknown[]
}

const words = update((page) => page.insert(0, [paragraph('words')]))
const filledRows = nodeRows.filter(([, , tree]) => tree.length > 0)

const rowsSeen = planned('pages', ...filledRows.map(([, , tree]) => update((page) => fillFragment(page, tree))))
const twoPeopleSeen = planned(
  'twoPeople',
  update((page) => page.insert(0, [paragraph('World')])),
)
const foreignSeen = planned('foreign', update(writeForeign))
const problemPages = pagesWithProblems()
const problemsSeen = planned('pages', ...problemPages.map(({ bytes }) => bytes))
const readOnlySeen = planned('readOnly', words)
const enterSeen = planned(
  'enter',
  update((page) => page.insert(0, [paragraph('words', { id: 'blk-a' })])),
)
const undoSeen = planned('undo', words)
const undoLaterSeen = planned('undoLater', words)
const emptiedSeen = planned(
  'emptied',
  update(() => undefined),
)
const lastGoneSeen = planned(
  'selectedGone',
  update((page) => page.insert(0, [paragraph('words'), element('horizontalRule', {})])),
)
const firstGoneSeen = planned(
  'selectedGone',
  update((page) => page.insert(0, [paragraph('words'), element('horizontalRule', {}), element('horizontalRule', {})])),
)
const caretMovedSeen = planned('caretMoved', words)
const failingSeen = planned('failing', words)
const pastedSeen = planned(
  'pasted',
  update(() => undefined),
)
const tasksSeen = planned(
  'tasks',
  update((page) => fillFragment(page, nodeRows.find(([type]) => type === 'taskList')?.[2] ?? [])),
)
const imagesSeen = planned(
  'images',
  update((page) => page.insert(0, [element('image', { src: `blob://${HASH}` })])),
)
const emptySeen = planned(
  'empty',
  update(() => undefined),
)

function writeForeign(page: Y.XmlFragment): void {
  page.insert(0, [paragraph('before'), element('poll', {}, new Y.XmlText('Which day?')), paragraph('after')])
}

/** Returns one page for each kind of content that the schema cannot hold. */
function pagesWithProblems(): { readonly bytes: number[]; readonly problem: object }[] {
  const marked = (type: string, mark: string) => (page: Y.XmlFragment) => {
    const text = new Y.XmlText()
    page.insert(0, [element(type, {}, text)])
    text.insert(0, 'words', { [mark]: {} })
  }
  const one = (block: Y.XmlElement | Y.XmlText) => (page: Y.XmlFragment) => page.insert(0, [block])
  const pages: readonly [write: (page: Y.XmlFragment) => void, problem: object][] = [
    [marked('paragraph', 'comment'), { kind: 'mark', name: 'comment', inside: 'paragraph' }],
    [one(paragraph('x', { indent: '2' })), { kind: 'attribute', name: 'indent', inside: 'paragraph' }],
    [one(element('listItem', {}, paragraph('alone'))), { kind: 'content', name: 'listItem', inside: 'page' }],
    [one(element('bulletList', {}, paragraph('no item'))), { kind: 'content', name: 'bulletList', inside: 'bulletList' }],
    [marked('codeBlock', 'bold'), { kind: 'content', name: 'codeBlock', inside: 'codeBlock' }],
    [one(new Y.XmlText('bare')), { kind: 'content', name: 'text', inside: 'page' }],
  ]
  return pages.map(([write, problem]) => ({ bytes: update(write), problem }))
}

describe('an editor on a prose page, in Chromium under a strict Content-Security-Policy', () => {
  it('[PROSE-2] [PROSE-3] every row of the node table is drawn as the HTML of REST, reads back equal, and stays unchanged', () => {
    const pages = rowsSeen() as readonly SeenPage[]
    for (const [at, [, , tree]] of filledRows.entries()) {
      expect(pages[at], serialiseHtml(tree)).toMatchObject({ readBack: true, changed: false, isEditable: true, problems: [] })
      // Browsers write styles and colours in another form, so the HTML is compared after parsing it.
      const written = serialiseHtml(parseHtml(pages[at]?.written as string, { source: 'stored' }).tree)
      expect(written).toBe(serialiseHtml(tree).replaceAll('#fff', 'rgb(255, 255, 255)'))
    }
  })

  it('[WS-65] two people see the text and the caret of each other, and an invalid colour is replaced', () => {
    expect(twoPeopleSeen()).toEqual({
      texts: ['Hello World!', 'Hello World!'],
      caret: { name: 'Ann', style: expect.stringMatching(/^rgb\(\d+, \d+, \d+\)$/) as string },
    })
  })

  it('[PROSE-7] a page with a node of another schema is read-only and keeps it, also when it arrives during typing', () => {
    expect(foreignSeen()).toEqual({
      first: {
        isEditable: false,
        problems: [{ kind: 'node', name: 'poll', inside: 'page' }],
        shown: 'beforeWhich day?after',
      },
      kept: true,
      second: { isEditable: true, problems: [] },
      third: { isEditable: false, shown: 'Which day?mine beforeafter', kept: true },
      afterArrival: '<poll>Which day?</poll><paragraph>mine before</paragraph><paragraph>after</paragraph>',
    })
  })

  it('[PROSE-7] a page with unknown marks or attributes, or misplaced content, is read-only and loses nothing', () => {
    const pages = problemsSeen() as readonly SeenPage[]
    for (const [at, { problem }] of problemPages.entries())
      expect(pages[at]).toMatchObject({ changed: false, isEditable: false, problems: [problem] })
  })

  it('[WS-61] a reader sees edits live and writes nothing, until the level allows it', () => {
    expect(readOnlySeen()).toEqual({
      first: { isEditable: false, editable: false, text: 'words' },
      live: 'from elsewherewords',
      isEditableLater: true,
      hasWritten: false,
    })
  })

  it('[PROSE-44] after Enter the block with content keeps its id, and after a paste the original block does', () => {
    expect(enterSeen()).toEqual({
      atStart: [
        [null, ''],
        ['blk-a', 'words'],
      ],
      atEnd: [
        [null, ''],
        ['blk-a', 'words'],
        [null, ''],
      ],
      pasted: [
        [null, 'words'],
        [null, ''],
        ['blk-a', 'words'],
        [null, ''],
      ],
    })
  })

  it('[CONC-8] undo takes back the typing of this person and keeps the typing of others', () => {
    expect(undoSeen()).toBe('theirswords')
  })

  it('[CONC-8] a new view of a page can undo and redo earlier edits, one after another', () => {
    expect(undoLaterSeen()).toEqual(['two one words', 'one words', 'words', 'one words'])
  })

  it('[CONC-8] an edit that was undone down to an empty page can be redone', () => {
    expect(emptiedSeen()).toEqual({ undone: 0, redone: '<paragraph>mine</paragraph>', shown: 'mine' })
  })

  it('[PROSE-7] typing goes on after somebody removes the block that a person has selected', () => {
    const written = '<paragraph>after words</paragraph>'
    expect(lastGoneSeen()).toEqual({ shown: 1, isAnotherSelected: false, written })
    const rule = '<horizontalrule></horizontalrule>'
    expect(firstGoneSeen()).toEqual({ shown: 2, isAnotherSelected: false, written: written + rule })
  })

  it('[CON-30] a caret just moved by the browser, but not reported yet, stays when others write or move their carets', () => {
    expect(caretMovedSeen()).toEqual({
      seen: [
        [6, 5],
        [2, 1],
        [2, 1],
      ],
      marked: 'wo',
    })
  })

  it('[PROSE-7] an edit of others that failed to show is shown by a new view, and the next key does not undo it', () => {
    expect(failingSeen(['Uncaught Error: a plugin failed'])).toEqual({
      shown: 'theirswords',
      written: '<paragraph>mine theirs</paragraph><paragraph>words</paragraph>',
    })
  })

  it('[PROSE-2] pasted content keeps the styles that a page has, and causes no CSP report', () => {
    expect(pastedSeen()).toBe(
      '<paragraph>First</paragraph><paragraph textAlign="center">Some <highlight color="#ffcc00">marked</highlight> and <bold>bold</bold> words</paragraph>' +
        '<horizontalrule></horizontalrule>',
    )
  })

  it('[PROSE-2] the checkbox of a task ticks it, and is disabled for a reader', () => {
    expect(tasksSeen()).toEqual({ isTicked: true, isDisabledForReaders: true })
  })

  it('[BLOB-6] an image of the workspace is loaded by the application and drawn', () => {
    expect(imagesSeen()).toEqual({ asked: [HASH], width: 1 })
  })

  it('[YDOC-13] a page without blocks can be typed into, and stores nothing until then', () => {
    expect(emptySeen()).toEqual({ before: 0, after: '<paragraph>first words</paragraph>' })
  })
})
