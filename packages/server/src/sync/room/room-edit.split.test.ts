import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import { writeStoredBody } from '@docrelay/model/body-write'
import { bodyFacts } from '@docrelay/model/body-facts'
import { isRefusal } from '@docrelay/model/edit'
import { type EditName, runEdit } from '@docrelay/model/edits'
import { Selection } from 'prosemirror-state'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { editBody, editEnvironment } from '../../documents/edit-body.ts'
import type { Random } from '../../kernel/ids.ts'
import { dice } from '../../kernel/testing/dice.ts'
import { ProjectionCache, project, reconcile } from '../binding/binding.ts'
import { type Editor, openEditor } from '../testing/editor.ts'
import { exchange, liveDocument, replica } from '../testing/live-document.ts'

const NOW_MS = Date.UTC(2026, 6, 1)
const PAGE = 'p0'

function replayed(seed: number): Random {
  const roll = dice(seed)
  return { bytes: (count) => Uint8Array.from({ length: count }, () => roll(256)), integer: (from, to) => from + roll(to - from) }
}

function bodyOf(content: string): DocumentBody {
  const value = { id: 'd', name: 'D', pages: [], richTextPages: [{ id: PAGE, name: 'P', order: 0, content }] }
  return readStoredBody(new TextEncoder().encode(JSON.stringify(value)))
}

const contentOf = (body: DocumentBody): string => body.prose.pages[0]?.content ?? ''
const idsIn = (html: string): string[] => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id ?? '')

/** A relay's live document, with a real editor working on another copy of it. */
class Bench {
  readonly relay: Y.Doc
  readonly person: Y.Doc
  readonly editor: Editor
  readonly #cache = new ProjectionCache()
  #base: DocumentBody

  constructor(content: string) {
    this.#base = bodyOf(content)
    this.relay = liveDocument(this.#base)
    this.person = replica(this.relay)
    this.editor = openEditor(this.person.getXmlFragment(`prose:${PAGE}`))
  }

  body(): DocumentBody {
    return project(this.relay, this.#base, this.#cache)
  }

  meet(): void {
    exchange(this.relay, this.person)
  }

  /** Runs a tool's edit on the live document, and checks that a cold document gets the same answer and the same content. */
  tool(edit: EditName, args: object, seed = 1): 'done' | 'refused' {
    const before = this.body()
    const stored = writeStoredBody(before)
    const cold = editBody({ bytes: stored, facts: bodyFacts(before), edit, args, nowMs: NOW_MS, sub: 'a' }, replayed(seed))
    const live = runEdit(edit, before, args, editEnvironment(NOW_MS, replayed(seed)))
    if (isRefusal(live) || isRefusal(cold)) {
      expect(live).toEqual(cold)
      return 'refused'
    }
    expect(live.result).toEqual(cold.result)
    reconcile(this.relay, before, live.body, 'relay', undefined, { moved: new Set(live.writtenBlocks), cache: this.#cache })
    const after = this.body()
    expect(contentOf(after)).toBe(contentOf(cold.stored === null ? before : readStoredBody(cold.stored.bytes)))
    return 'done'
  }

  /** Presses Enter in the `nth` block after `offset` characters. */
  split(nth: number, offset: number): void {
    const { state } = this.editor
    this.editor.dispatch(state.tr.split(this.#startOf(nth) + offset))
  }

  type(nth: number, offset: number, letters: string): void {
    this.editor.dispatch(this.editor.state.tr.insertText(letters, this.#startOf(nth) + offset))
  }

  lengthOf(nth: number): number {
    return this.editor.state.doc.child(nth).content.size
  }

  #startOf(nth: number): number {
    const { doc } = this.editor.state
    let at = 1
    for (let i = 0; i < nth; i++) at += doc.child(i).nodeSize
    return Selection.near(doc.resolve(at)).from
  }
}

it('[PROSE-44] [PROSE-43] after Enter at the start of a block in a real editor, the next edit leaves the block id with the text', () => {
  const bench = new Bench('<p id="blk-a">text</p><p id="blk-b">other</p>')
  bench.split(0, 0)
  bench.meet()
  expect(contentOf(bench.body())).toBe('<p id="blk-a"></p><p id="blk-a">text</p><p id="blk-b">other</p>')
  expect(bench.tool('set_prose', { pageId: PAGE, id: 'blk-b', content: '<p>changed</p>', format: 'html' })).toBe('done')
  expect(contentOf(bench.body())).toMatch(/^<p id="blk-(?!a")[^"]+"><\/p><p id="blk-a">text<\/p><p id="blk-b">changed<\/p>$/)
  bench.meet()
  expect(bench.editor.state.doc.textContent).toBe('textchanged')
})

it('[PROSE-44] [PROSE-43] after Enter in the middle or at the end of a block, the first part keeps the block id', () => {
  for (const offset of [2, 4]) {
    const bench = new Bench('<p id="blk-a">text</p><p id="blk-b">other</p>')
    bench.split(0, offset)
    bench.meet()
    bench.tool('set_prose', { pageId: PAGE, id: 'blk-b', content: '<p>changed</p>', format: 'html' })
    const [first = '', second = ''] = idsIn(contentOf(bench.body()))
    expect([first, second === 'blk-a']).toEqual(['blk-a', false])
  }
})

it('[PROSE-44] [LIFE-14] letters stay in their half of a split block when they are typed while an edit repairs the ids of the halves', () => {
  for (const offset of [0, 2, 4]) {
    const bench = new Bench('<p id="blk-a">text</p><p id="blk-b">other</p>')
    bench.split(0, offset)
    bench.meet()
    // The edits are concurrent: the relay does not have the letters yet when the tool writes.
    bench.type(0, bench.lengthOf(0), 'LEFT')
    bench.type(1, 0, 'RIGHT')
    bench.tool('set_prose', { pageId: PAGE, id: 'blk-b', content: '<p>changed</p>', format: 'html' })
    bench.meet()
    const { doc } = bench.editor.state
    const texts = Array.from({ length: doc.childCount }, (_, i) => doc.child(i).textContent)
    expect(texts).toEqual([`${'text'.slice(0, offset)}LEFT`, `RIGHT${'text'.slice(offset)}`, 'changed'])
    const ids = idsIn(contentOf(bench.body()))
    expect(new Set(ids).size).toBe(3)
  }
})

it('[PROSE-44] [LIFE-14] Enter in a list repeats the block id in the new item, and letters of both items are kept', () => {
  for (const offset of [0, 2, 4]) {
    const bench = new Bench('<ul><li><p id="blk-a">text</p></li></ul><p id="blk-b">other</p>')
    const { editor } = bench
    // Three positions come before the text: the list, its item and its paragraph.
    editor.dispatch(editor.state.tr.split(3 + offset, 2))
    bench.meet()
    editor.dispatch(editor.state.tr.insertText('LEFT', 3 + offset))
    editor.dispatch(editor.state.tr.insertText('RIGHT', 3 + offset + 'LEFT'.length + 4))
    bench.tool('set_prose', { pageId: PAGE, id: 'blk-b', content: '<p>changed</p>', format: 'html' })
    bench.meet()
    const items: string[] = []
    editor.state.doc.child(0).forEach((item) => void items.push(item.textContent))
    expect(items).toEqual([`${'text'.slice(0, offset)}LEFT`, `RIGHT${'text'.slice(offset)}`])
    const ids = idsIn(contentOf(bench.body()))
    expect([new Set(ids).size, ids.indexOf('blk-a')]).toEqual([3, offset === 0 ? 1 : 0])
  }
})

it('[PROSE-44] [CONC-1] [CONC-8] random Enters and letters beside tool edits: cold and live agree, ids end unique, no letter is lost', () => {
  let [edits, repeated] = [0, 0]
  for (let seed = 1; seed <= 150; seed++) {
    const roll = dice(seed)
    const bench = new Bench('<p id="blk-a">alpha</p><p id="blk-t">tool</p><p id="blk-c">gamma</p>')
    let typed = 0
    for (let turn = 0; turn < 10; turn++) {
      const what = roll(4)
      const own = (): number => {
        const { doc } = bench.editor.state
        const nths = Array.from({ length: doc.childCount }, (_, i) => i).filter((i) => doc.child(i).attrs['id'] !== 'blk-t')
        return nths[roll(nths.length)] as number
      }
      if (what === 0) {
        const nth = own()
        bench.split(nth, [0, bench.lengthOf(nth), roll(bench.lengthOf(nth) + 1)][roll(3)] as number)
      } else if (what === 1) {
        const nth = own()
        bench.type(nth, roll(bench.lengthOf(nth) + 1), '#')
        typed++
      } else if (what === 2) bench.meet()
      else {
        const ids = idsIn(contentOf(bench.body()))
        if (new Set(ids).size < ids.length) repeated++
        const content = `<p>tool ${turn}</p>`
        if (bench.tool('set_prose', { pageId: PAGE, id: 'blk-t', content, format: 'html' }, seed + turn) === 'done') {
          edits++
          const after = idsIn(contentOf(bench.body()))
          expect(new Set(after).size, `seed ${seed}`).toBe(after.length)
        }
      }
    }
    bench.meet()
    bench.meet()
    bench.tool('set_prose', { pageId: PAGE, id: 'blk-t', content: '<p>last</p>', format: 'html' }, seed)
    bench.meet()
    const html = contentOf(bench.body())
    const text = html.replace(/<[^>]*>/g, '')
    expect(text.replaceAll('#', ''), `seed ${seed}: ${html}`).toBe('alphalastgamma')
    expect(text.split('#').length - 1, `seed ${seed}: ${html}`).toBe(typed)
    const ids = idsIn(html)
    expect(new Set(ids).size, `seed ${seed}: ${html}`).toBe(ids.length)
    expect(bench.editor.state.doc.textContent).toBe(text)
  }
  expect([edits > 100, repeated > 20]).toEqual([true, true])
})
