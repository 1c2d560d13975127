import type { Node } from 'prosemirror-model'
import { type EditorState, TextSelection, type Transaction } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import { messages } from '../messages.en.ts'
import type { FormRequest } from './request-dialog.tsx'
import type { Library } from './library.ts'
import { storedHref } from './links.ts'
import { markType, nodeType } from './node-types.ts'
import { keepPlace } from './places.ts'
import { insertBlocks } from './text-blocks.ts'

const texts = messages.prose.forms

/** Returns the link at the caret or on the selection, with the range of its whole text. */
function linkAt({ doc, selection }: EditorState): { readonly from: number; readonly to: number; readonly href: string } | null {
  const type = markType('link')
  const { $from } = selection
  let start = $from.parent.childAfter($from.parentOffset)
  if (start.node === null || type.isInSet(start.node.marks) === undefined) start = $from.parent.childBefore($from.parentOffset)
  const mark = start.node === null ? undefined : type.isInSet(start.node.marks)
  if (mark === undefined) return null
  const { parent } = $from
  let [first, last] = [start.index, start.index]
  while (first > 0 && mark.isInSet(parent.child(first - 1).marks)) first--
  while (last + 1 < parent.childCount && mark.isInSet(parent.child(last + 1).marks)) last++
  let from = $from.start()
  for (let at = 0; at < first; at++) from += parent.child(at).nodeSize
  let to = from
  for (let at = first; at <= last; at++) to += parent.child(at).nodeSize
  return to <= doc.content.size ? { from, to, href: String(mark.attrs['href'] ?? '') } : null
}

/** Returns the form for the target of a link; `null` where a link is not allowed. */
export function linkForm(view: EditorView): FormRequest | null {
  const { state } = view
  const { selection } = state
  const known = linkAt(state)
  const type = markType('link')
  if (!selection.$from.parent.type.allowsMarkType(type) || !(selection instanceof TextSelection)) return null
  const { from, to } = known ?? selection
  const asksText = from === to
  const [start, end] = [keepPlace(() => view, from), keepPlace(() => view, to)]
  const edit = (change: (tr: Transaction, from: number, to: number) => void): void => {
    const [first, last] = [start(), end()]
    if (first === null || last === null || last < first) return
    const { tr } = view.state
    change(tr, first, last)
    view.dispatch(tr.removeStoredMark(type))
  }
  return {
    title: known === null ? texts.newLink : texts.changeLink,
    submit: messages.prose.apply,
    fields: [
      { name: 'href', label: texts.href, value: known?.href ?? '', isRequired: true },
      ...(asksText ? [{ name: 'text', label: texts.linkText, value: '' }] : []),
    ],
    done: (values) => {
      const href = storedHref(values['href'] ?? '')
      if (href === null) return texts.badHref
      const mark = type.create({ href })
      edit((tr, first, last) => {
        if (asksText) tr.insert(first, state.schema.text(values['text'] || href, mark.addToSet(selection.$from.marks())))
        else tr.removeMark(first, last, type).addMark(first, last, mark)
      })
      return null
    },
    ...(known === null
      ? {}
      : { remove: { label: texts.removeLink, done: () => edit((tr, first, last) => tr.removeMark(first, last, type)) } }),
  }
}

/** The node that a dialog is about. Others may move or remove it while the dialog is open. */
interface Known {
  readonly node: Node
  /** Returns its present position; `null` when it is gone. */
  readonly place: () => number | null
}

function knownAt(view: EditorView, at: number | null, ...names: readonly string[]): Known | null {
  const node = at === null ? null : view.state.doc.nodeAt(at)
  if (at === null || node === null || !names.includes(node.type.name)) return null
  const kept = keepPlace(() => view, at)
  const place = () => {
    const now = kept()
    return now !== null && view.state.doc.nodeAt(now)?.type === node.type ? now : null
  }
  return { node, place }
}

/** Returns the form for a formula. `at`: the position of the formula to change; `null` inserts one. */
export function formulaForm(view: EditorView, at: number | null): FormRequest {
  const known = knownAt(view, at, 'mathInline', 'mathBlock')
  return {
    title: known === null ? texts.newFormula : texts.changeFormula,
    submit: messages.prose.apply,
    fields: [
      { name: 'latex', label: texts.latex, value: String(known?.node.attrs['latex'] ?? ''), kind: 'lines', isRequired: true },
      ...(known === null
        ? [
            {
              name: 'place',
              label: texts.place,
              value: 'mathInline',
              kind: 'choice' as const,
              options: [
                { value: 'mathInline', label: texts.inline },
                { value: 'mathBlock', label: texts.ownLine },
              ],
            },
          ]
        : []),
    ],
    done: ({ latex = '', place = 'mathInline' }) => {
      if (known !== null) setAttrs(view, known, { latex })
      else if (place === 'mathBlock') insertBlocks(() => [nodeType('mathBlock').create({ latex })])(view.state, view.dispatch)
      else insertInline(view, nodeType('mathInline').create({ latex }))
      return null
    },
    ...removal(view, known),
  }
}

/** Returns the form for a field. `at`: the position of the chip whose field changes; `null` inserts one. */
export function fieldForm(view: EditorView, library: Library, at: number | null): FormRequest {
  const known = knownAt(view, at, 'fieldRef')
  const names = library.fieldNames
  const name = known === null ? (names[0] ?? '') : String(known.node.attrs['name'] ?? '')
  return {
    title: known === null ? texts.newField : texts.changeField(name),
    submit: messages.prose.apply,
    fields: [
      ...(known === null ? [{ name: 'name', label: texts.fieldName, value: name, suggestions: names, isRequired: true }] : []),
      { name: 'value', label: texts.fieldValue, value: library.fieldValue(name) ?? '' },
    ],
    changed: (changed, values) =>
      changed === 'name' && library.fieldValue(values['name'] ?? '') !== undefined
        ? { ...values, value: library.fieldValue(values['name'] ?? '') ?? '' }
        : values,
    done: (values) => {
      const field = known === null ? (values['name'] ?? '').trim() : name
      if (field === '') return texts.needsName
      const value = values['value'] ?? ''
      if (library.fieldValue(field) !== value) library.setField(field, value)
      if (known === null)
        insertInline(view, nodeType('fieldRef').create({ name: field, ...(value === '' ? {} : { label: value }) }))
      return null
    },
    ...removal(view, known),
  }
}

/** Returns the form for a citation, or `null` for a document without references. `at`: the position of the citation to change; `null` inserts one. */
export function citationForm(view: EditorView, library: Library, at: number | null): FormRequest | null {
  const known = knownAt(view, at, 'citationInline')
  const { references } = library
  const cited = String(known?.node.attrs['refId'] ?? references[0]?.id ?? '')
  if (references.length === 0 && known === null) return null
  const rows = references.map(({ id, short, title }) => ({ value: id, label: title === '' ? short : `${short}: ${title}` }))
  if (!references.some(({ id }) => id === cited)) rows.unshift({ value: cited, label: cited })
  return {
    title: known === null ? texts.newCitation : texts.changeCitation,
    submit: messages.prose.apply,
    fields: [
      { name: 'refId', label: texts.reference, value: cited, kind: 'choice', options: rows },
      { name: 'locator', label: texts.locator, value: String(known?.node.attrs['locator'] ?? '') },
    ],
    done: ({ refId = '', locator = '' }) => {
      const attrs = { refId, locator: locator === '' ? null : locator, label: library.reference(refId)?.short ?? null }
      if (known === null) insertInline(view, nodeType('citationInline').create(attrs))
      else setAttrs(view, known, attrs)
      return null
    },
    ...removal(view, known),
  }
}

/** Returns the form for the alternative text of an image. */
export function imageForm(view: EditorView, at: number): FormRequest | null {
  const known = knownAt(view, at, 'image')
  if (known === null) return null
  return {
    title: texts.image,
    submit: messages.prose.apply,
    fields: [{ name: 'alt', label: texts.alt, value: String(known.node.attrs['alt'] ?? ''), kind: 'lines' }],
    done: ({ alt = '' }) => {
      setAttrs(view, known, { alt: alt === '' ? null : alt })
      return null
    },
    ...removal(view, known),
  }
}

function setAttrs(view: EditorView, { place }: Known, attrs: Readonly<Record<string, unknown>>): void {
  const at = place()
  if (at === null) return
  const { tr } = view.state
  for (const [name, value] of Object.entries(attrs)) tr.setNodeAttribute(at, name, value)
  view.dispatch(tr)
}

function insertInline(view: EditorView, node: Node): void {
  view.dispatch(view.state.tr.replaceSelectionWith(node).scrollIntoView())
}

function removal(view: EditorView, known: Known | null): Pick<FormRequest, 'remove'> {
  if (known === null) return {}
  const done = () => {
    const at = known.place()
    if (at !== null) view.dispatch(view.state.tr.delete(at, at + known.node.nodeSize))
  }
  return { remove: { label: texts.remove, done } }
}
