import { type Edited, isRefusal } from '@docrelay/model/edit'
import { serialiseHtml } from '@docrelay/model/prose/html'
import { anyTree } from '@docrelay/model/prose/testing/arbitrary'
import { contentOf, countingEnvironment, proseBody } from '@docrelay/model/prose/testing/editing'
import { editText, type TextEdit } from '@docrelay/model/text-edits/edit-text'
import { OpenTexts } from '@docrelay/model/text-edits/text-holders'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { liveDocument } from '../testing/live-document.ts'
import { project, reconcile } from './binding.ts'

/** A page, and edits that replace some of its words. */
const editing = fc
  .tuple(
    anyTree,
    fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 6 }), fc.constantFrom('', 'x', 'new', 'a b', 'x\ny', '😀')), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([tree, picks]) => {
    const body = proseBody(serialiseHtml(tree))
    const texts = new OpenTexts(body, 'stamped')
      .all('prose')
      .map(({ text }) => text)
      .filter((text) => text !== '')
    const edits = picks.flatMap(([which, from, length, replace]): readonly TextEdit[] => {
      const text = texts[which % texts.length] ?? ''
      const find = text.slice(from % Math.max(1, text.length), (from % Math.max(1, text.length)) + length)
      return find === '' ? [] : [{ find, replace, all: true }]
    })
    return { body, edits }
  })

/** Returns the names of all characters of the live page that are not deleted. */
function characters(doc: Y.Doc): ReadonlySet<string> {
  const names = new Set<string>()
  const walk = (type: Y.XmlFragment | Y.XmlText): void => {
    if (type instanceof Y.XmlText) {
      for (let item = type._start; item !== null; item = item.right)
        if (!item.deleted && item.content instanceof Y.ContentString)
          for (let i = 0; i < item.length; i++) names.add(`${item.id.client} ${item.id.clock + i}`)
    } else for (const child of type.toArray()) walk(child as Y.XmlElement)
  }
  walk(doc.getXmlFragment('prose:p'))
  return names
}

const without = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => [...a].filter((name) => !b.has(name)).length
const wordsOf = ({ textChanges = [] }: Edited<object>) => textChanges.flatMap(({ steps }) => steps.flat())

describe('words of a live page', () => {
  it('[AG-48] after an edit of words the live page equals the edited page, and no other character was deleted or inserted', () => {
    let touched = 0
    fc.assert(
      fc.property(editing, ({ body, edits }) => {
        fc.pre(edits.length > 0)
        const doc = liveDocument(body)
        const before = project(doc, body)
        const edited = editText(before, { edits }, countingEnvironment())
        // An earlier edit may have removed the text that the next edit replaces, and some texts cannot be replaced.
        if (isRefusal(edited)) return
        const kept = characters(doc)
        reconcile(doc, before, edited.body, 'test', undefined, { words: edited.textChanges ?? [] })
        expect(contentOf(project(doc, edited.body))).toBe(contentOf(edited.body))
        const words = wordsOf(edited)
        if (words.some(({ insert }) => insert.includes('\n')) || edits.some(({ find }) => find.includes('\n'))) return
        // With several edits the counts below do not hold, because one edit may remove text that another edit inserted.
        if (edits.length > 1) return
        touched++
        const now = characters(doc)
        expect(without(kept, now)).toBe(words.reduce((sum, { remove }) => sum + remove, 0))
        expect(without(now, kept)).toBe(words.reduce((sum, { insert }) => sum + insert.length, 0))
      }),
      { numRuns: 500 },
    )
    expect(touched).toBeGreaterThan(20)
  })
})
