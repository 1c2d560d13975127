// Runs in the browser for the tests of this package. Each case edits a page as a person would, and returns what it saw.
import { DOMParser, DOMSerializer, type Node } from 'prosemirror-model'
import { NodeSelection, Plugin, PluginKey, TextSelection } from 'prosemirror-state'
import { Decoration, DecorationSet } from 'prosemirror-view'
import { Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { bindProse, type ProseBinding, type ProseOptions } from '../bind-prose.ts'
import { proseSchema } from '../prose-schema.ts'

export interface PlayedCase {
  readonly name: keyof typeof CASES
  /** Updates of documents, as arrays of bytes. Each document has a page `p`, which is opened. */
  readonly updates: readonly (readonly number[])[]
}

export interface SeenCase {
  readonly seen?: unknown
  /** CSP reports and errors of the page. */
  readonly reports: readonly string[]
}

/** Runs the cases one after another. */
export async function run(cases: readonly PlayedCase[]): Promise<readonly SeenCase[]> {
  let reports: string[] = []
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    reports.push(`${violatedDirective} ${blockedURI}`),
  )
  window.addEventListener('error', ({ message }) => reports.push(message))
  const played: SeenCase[] = []
  for (const { name, updates } of cases) {
    reports = []
    document.body.replaceChildren()
    try {
      const seen = await CASES[name](updates.map((update) => documentOf(Uint8Array.from(update))))
      await drawn()
      played.push({ seen, reports })
    } catch (error) {
      played.push({ reports: [...reports, String((error as Error).stack)] })
    }
  }
  return played
}

function documentOf(update: Uint8Array): Y.Doc {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, update)
  return doc
}

function open(ydoc: Y.Doc, options: Partial<ProseOptions> = {}, awareness?: Awareness): ProseBinding {
  const element = document.body.appendChild(document.createElement('div'))
  return bindProse({ ydoc, ...(awareness && { awareness }) }, 'p', { element, ...options })
}

const drawn = () => new Promise((resolve) => requestAnimationFrame(() => resolve(null)))

/** Passes every update of each document to the other. */
function connect(one: Y.Doc, other: Y.Doc): void {
  one.on('update', (update: Uint8Array, origin: unknown) => origin !== other && Y.applyUpdate(other, update, one))
  other.on('update', (update: Uint8Array, origin: unknown) => origin !== one && Y.applyUpdate(one, update, other))
}

function drawnOutside(doc: Node): HTMLElement {
  const holder = document.createElement('div')
  holder.append(DOMSerializer.fromSchema(doc.type.schema).serializeFragment(doc.content))
  return holder
}
const ids = ({ view }: ProseBinding) => view.state.doc.children.map((node) => [node.attrs['id'] as unknown, node.textContent])
const page = (doc: Y.Doc) => doc.getXmlFragment('prose:p')
const stored = (doc: Y.Doc) => page(doc).toString()

const CASES = {
  /** Opens each page. Returns its HTML, and whether the document changed. */
  async pages(docs: readonly Y.Doc[]) {
    const parser = DOMParser.fromSchema(proseSchema)
    return docs.map((doc) => {
      const before = Y.encodeStateVector(doc).join()
      const binding = open(doc)
      const holder = drawnOutside(binding.view.state.doc)
      const written = holder.innerHTML
      const readBack = drawnOutside(parser.parse(holder)).innerHTML === written
      const isEditable = binding.isEditable
      binding.destroy()
      return { written, readBack, isEditable, changed: Y.encodeStateVector(doc).join() !== before, problems: binding.problems }
    })
  },

  async twoPeople([doc]: readonly Y.Doc[]) {
    const other = documentOf(Y.encodeStateAsUpdate(doc as Y.Doc))
    connect(doc as Y.Doc, other)
    const [one, two] = [new Awareness(doc as Y.Doc), new Awareness(other)]
    const ann = open(doc as Y.Doc, {}, one)
    const ben = open(other, {}, two)
    ann.view.dispatch(ann.view.state.tr.insertText('Hello ', 1))
    ben.view.dispatch(ben.view.state.tr.insertText('!', ben.view.state.doc.content.size - 1))
    // Ann's caret as y-prosemirror writes it, with an invalid colour.
    const at = Y.relativePositionToJSON(
      Y.createRelativePositionFromTypeIndex((page(other).get(0) as Y.XmlElement).get(0) as Y.XmlText, 2),
    )
    const state = { user: { name: 'Ann', color: 'red; background: url(https://evil.example)' }, cursor: { anchor: at, head: at } }
    two.states.set(4711, state)
    two.meta.set(4711, { clock: 1, lastUpdated: 0 })
    two.emit('change', [{ added: [4711], updated: [], removed: [] }, 'test'])
    await new Promise((resolve) => setTimeout(resolve, 50))
    const caret = ben.view.dom.querySelector<HTMLElement>('.docrelay-caret')
    return {
      texts: [ann.view.state.doc.textContent, ben.view.state.doc.textContent],
      caret: caret && { name: caret.textContent?.replaceAll('\u2060', ''), style: caret.style.borderColor },
    }
  },

  async foreign([doc]: readonly Y.Doc[]) {
    const before = stored(doc as Y.Doc)
    const binding = open(doc as Y.Doc)
    binding.view.dispatch(binding.view.state.tr)
    const first = { isEditable: binding.isEditable, problems: binding.problems, shown: binding.view.dom.textContent }
    const kept = stored(doc as Y.Doc) === before
    // Another client removes the unknown node, so the page can be edited.
    const fragment = page(doc as Y.Doc)
    const at = fragment.toArray().findIndex((block) => block instanceof Y.XmlElement && block.nodeName === 'poll')
    fragment.delete(at, 1)
    await drawn()
    const second = { isEditable: binding.isEditable, problems: binding.problems }
    // The unknown node arrives again from another client while a person edits.
    const elsewhere = documentOf(Y.encodeStateAsUpdate(doc as Y.Doc))
    const poll = new Y.XmlElement('poll')
    page(elsewhere).insert(0, [poll])
    poll.insert(0, [new Y.XmlText('Which day?')])
    binding.view.dispatch(binding.view.state.tr.insertText('mine ', 1))
    Y.applyUpdate(doc as Y.Doc, Y.encodeStateAsUpdate(elsewhere))
    const afterArrival = stored(doc as Y.Doc)
    await drawn()
    const third = {
      isEditable: binding.isEditable,
      shown: binding.view.dom.textContent,
      kept: stored(doc as Y.Doc) === afterArrival,
    }
    return { first, kept, second, third, afterArrival }
  },

  async readOnly([doc]: readonly Y.Doc[]) {
    const own = (doc as Y.Doc).clientID
    const binding = open(doc as Y.Doc, { readOnly: true })
    const first = { isEditable: binding.isEditable, editable: binding.view.editable, text: binding.view.dom.textContent }
    const elsewhere = documentOf(Y.encodeStateAsUpdate(doc as Y.Doc))
    page(elsewhere).insert(0, [paragraph('from elsewhere')])
    Y.applyUpdate(doc as Y.Doc, Y.encodeStateAsUpdate(elsewhere))
    await drawn()
    const live = binding.view.dom.textContent
    binding.setReadOnly(false)
    return { first, live, isEditableLater: binding.isEditable, hasWritten: (doc as Y.Doc).store.clients.has(own) }
  },

  async enter([doc]: readonly Y.Doc[]) {
    const binding = open(doc as Y.Doc)
    const split = (at: number) => binding.view.dispatch(binding.view.state.tr.split(at))
    split(1)
    const atStart = ids(binding)
    const { view } = binding
    const second = view.state.doc.child(1)
    split(view.state.doc.child(0).nodeSize + 1 + second.content.size)
    const atEnd = ids(binding)
    // A copy of the block, pasted before it.
    view.dispatch(view.state.tr.insert(0, second))
    return { atStart, atEnd, pasted: ids(binding) }
  },

  async undo([doc]: readonly Y.Doc[]) {
    const { undo } = await import('y-prosemirror')
    const binding = open(doc as Y.Doc)
    binding.view.dispatch(binding.view.state.tr.insertText('mine ', 1))
    page(doc as Y.Doc).insert(0, [paragraph('theirs')])
    undo(binding.view.state)
    return binding.view.state.doc.textContent
  },

  /** Shows a page again, by a new view and after a moment of read-only. */
  async undoLater([doc]: readonly Y.Doc[]) {
    const { redo, undo } = await import('y-prosemirror')
    const first = open(doc as Y.Doc)
    first.view.dispatch(first.view.state.tr.insertText('one ', 1))
    first.destroy()
    const second = open(doc as Y.Doc)
    second.view.dispatch(second.view.state.tr.insertText('two ', 1))
    second.setReadOnly(true)
    second.setReadOnly(false)
    const seen = [second.view.state.doc.textContent]
    for (const step of [undo, undo, redo]) {
      step(second.view.state)
      seen.push(second.view.state.doc.textContent)
    }
    return seen
  },

  async emptied([doc]: readonly Y.Doc[]) {
    const { redo, undo } = await import('y-prosemirror')
    const { view } = open(doc as Y.Doc)
    view.dispatch(view.state.tr.insertText('mine', 1))
    undo(view.state)
    const undone = page(doc as Y.Doc).length
    // A transaction without an edit, such as the moving caret of another person.
    view.dispatch(view.state.tr.setMeta('addToHistory', false))
    redo(view.state)
    return { undone, redone: stored(doc as Y.Doc), shown: view.state.doc.textContent }
  },

  async selectedGone([doc]: readonly Y.Doc[]) {
    const binding = open(doc as Y.Doc)
    const { view } = binding
    const at = view.state.doc.child(0).nodeSize
    view.dispatch(view.state.tr.setSelection(NodeSelection.create(view.state.doc, at)))
    const elsewhere = documentOf(Y.encodeStateAsUpdate(doc as Y.Doc))
    page(elsewhere).delete(1, 1)
    Y.applyUpdate(doc as Y.Doc, Y.encodeStateAsUpdate(elsewhere))
    const shown = view.state.doc.childCount
    const isAnotherSelected = view.state.selection instanceof NodeSelection
    view.dispatch(view.state.tr.insertText('after ', 1))
    return { shown, isAnotherSelected, written: stored(doc as Y.Doc) }
  },

  /** Moves the caret as the browser does, and has another person write, or move a caret, before the browser reports it. */
  async caretMoved([doc]: readonly Y.Doc[]) {
    const shownBy = new PluginKey<DecorationSet>('shown by others')
    const marks = new Plugin({
      key: shownBy,
      state: {
        init: () => DecorationSet.empty,
        apply: (tr, set) =>
          tr.getMeta(shownBy) === undefined ? set : DecorationSet.create(tr.doc, [Decoration.inline(1, 3, { class: 'theirs' })]),
      },
      props: { decorations: (state) => shownBy.getState(state) },
    })
    const { view } = open(doc as Y.Doc, { viewPlugins: [marks] })
    view.focus()
    const moveCaretTo = (offset: number) => getSelection()?.collapse(view.domAtPos(2).node, offset)
    const seen: unknown[] = []
    const note = () => seen.push([view.state.selection.from, getSelection()?.focusOffset])
    view.dispatch(view.state.tr.setSelection(TextSelection.atEnd(view.state.doc)))
    note()
    const elsewhere = documentOf(Y.encodeStateAsUpdate(doc as Y.Doc))
    ;((page(elsewhere).get(0) as Y.XmlElement).get(0) as Y.XmlText).insert(5, '!')
    moveCaretTo(1)
    Y.applyUpdate(doc as Y.Doc, Y.encodeStateAsUpdate(elsewhere))
    note()
    view.dispatch(view.state.tr.setSelection(TextSelection.atEnd(view.state.doc)))
    moveCaretTo(1)
    view.dispatch(view.state.tr.setMeta(shownBy, true))
    note()
    return { seen, marked: view.dom.querySelector('.theirs')?.textContent }
  },

  /** A plugin of the application throws while an edit of another person is shown. */
  async failing([doc]: readonly Y.Doc[]) {
    let isFailing = false
    const failing = new Plugin({
      filterTransaction: () => {
        if (isFailing) throw new Error('a plugin failed')
        return true
      },
    })
    const binding = open(doc as Y.Doc, { plugins: [failing] })
    const elsewhere = documentOf(Y.encodeStateAsUpdate(doc as Y.Doc))
    page(elsewhere).insert(0, [paragraph('theirs')])
    isFailing = true
    Y.applyUpdate(doc as Y.Doc, Y.encodeStateAsUpdate(elsewhere))
    isFailing = false
    await drawn()
    const shown = binding.view.state.doc.textContent
    binding.view.dispatch(binding.view.state.tr.insertText('mine ', 1))
    return { shown, written: stored(doc as Y.Doc) }
  },

  async pasted([doc]: readonly Y.Doc[]) {
    const { view } = open(doc as Y.Doc)
    view.pasteHTML(
      '<style>p { color: red }</style><p>First</p><p style="text-align: center; margin: 0" onclick="run()">Some ' +
        '<mark style="background-color: #ffcc00">marked</mark> <b style="font-weight:normal">and <b>bold</b></b> words</p><hr>',
    )
    return stored(doc as Y.Doc)
  },

  async tasks([doc]: readonly Y.Doc[]) {
    const binding = open(doc as Y.Doc)
    const box = binding.view.dom.querySelector<HTMLInputElement>('input[type=checkbox]') as HTMLInputElement
    box.click()
    const isTicked = stored(doc as Y.Doc).includes('checked="true"')
    binding.setReadOnly(true)
    return { isTicked, isDisabledForReaders: binding.view.dom.querySelector('input')?.disabled }
  },

  async images([doc]: readonly Y.Doc[]) {
    const asked: string[] = []
    const pixel = Uint8Array.from(
      atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='),
      (c) => c.charCodeAt(0),
    )
    const load = async (hash: string) => {
      asked.push(hash)
      return new Blob([pixel], { type: 'image/png' })
    }
    const binding = open(doc as Y.Doc, { images: load })
    const image = binding.view.dom.querySelector('img') as HTMLImageElement
    await new Promise((resolve) => image.addEventListener('load', resolve, { once: true }))
    const width = image.naturalWidth
    binding.destroy()
    return { asked, width }
  },

  async empty([doc]: readonly Y.Doc[]) {
    const binding = open(doc as Y.Doc)
    const before = page(doc as Y.Doc).length
    const { view } = binding
    view.dispatch(view.state.tr.setSelection(TextSelection.atStart(view.state.doc)).insertText('first words'))
    return { before, after: stored(doc as Y.Doc) }
  },
}

function paragraph(text: string): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  element.insert(0, [new Y.XmlText(text)])
  return element
}
