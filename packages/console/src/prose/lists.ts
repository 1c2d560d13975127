import type { NodeType } from 'prosemirror-model'
import { liftListItem, sinkListItem, splitListItem, wrapInList } from 'prosemirror-schema-list'
import { type Command, EditorState, TextSelection, type Transaction } from 'prosemirror-state'
import { nodeType } from './node-types.ts'
import { setTextblock } from './text-blocks.ts'

export const LISTS = ['bulletList', 'orderedList', 'taskList'] as const
export type ListName = (typeof LISTS)[number]

const itemOf = (list: string) => nodeType(list === 'taskList' ? 'taskItem' : 'listItem')

/** Returns the innermost list around the caret. */
export function listAround({ selection: { $from } }: EditorState): { readonly name: ListName; readonly depth: number } | null {
  for (let depth = $from.depth; depth > 0; depth--) {
    const name = LISTS.find((each) => each === $from.node(depth).type.name)
    if (name !== undefined) return { name, depth }
    if ($from.node(depth).type.spec['tableRole'] === 'cell') return null
  }
  return null
}

/** Makes a list of the selected blocks. Around an existing list: changes its kind, or ends it when it has this kind already. */
export function toggleList(name: ListName): Command {
  return (state, dispatch) => {
    const around = listAround(state)
    if (around === null) return wrapInList(nodeType(name))(state, dispatch) || wrapAsParagraphs(name)(state, dispatch)
    if (around.name === name) return liftListItem(itemOf(name))(state, dispatch)
    if (dispatch !== undefined) {
      const { $from, anchor, head } = state.selection
      const list = $from.node(around.depth)
      const at = $from.before(around.depth)
      // Replaces the whole list at once: a list of one kind with items of another would be invalid.
      const items = list.children.map((item) => itemOf(name).create(null, item.content))
      const tr = state.tr.replaceWith(at, at + list.nodeSize, nodeType(name).create(null, items))
      if (state.selection instanceof TextSelection) tr.setSelection(TextSelection.create(tr.doc, anchor, head))
      dispatch(tr.scrollIntoView())
    }
    return true
  }
}

/** Turns headings and code blocks into paragraphs first, because list items begin with paragraphs. */
function wrapAsParagraphs(name: ListName): Command {
  return (state, dispatch) => {
    let tr: Transaction | null = null
    if (!setTextblock('paragraph')(state, (made) => (tr = made)) || tr === null) return false
    const made: Transaction = tr
    const between = EditorState.create({ doc: made.doc, selection: made.selection })
    const wrapped = wrapInList(nodeType(name))(between, ({ steps }) => {
      for (const step of steps) made.step(step)
    })
    if (wrapped) dispatch?.(made)
    return wrapped
  }
}

/** Applies a list command to the item at the caret, of either kind. */
function inItem(command: (type: NodeType) => Command): Command {
  return (state, dispatch, view) => {
    const around = listAround(state)
    return around !== null && command(itemOf(around.name))(state, dispatch, view)
  }
}

const splitWith = (type: NodeType): Command =>
  type.name === 'taskItem' ? splitListItem(type, { checked: false }) : splitListItem(type)

export const splitItem = inItem(splitWith)
export const sinkItem = inItem(sinkListItem)
export const liftItem = inItem(liftListItem)

/** Ticks or unticks the task at the caret. */
export const toggleTask: Command = (state, dispatch) => {
  const { $from } = state.selection
  for (let depth = $from.depth; depth > 0; depth--) {
    const node = $from.node(depth)
    if (node.type.name !== 'taskItem') continue
    dispatch?.(state.tr.setNodeAttribute($from.before(depth), 'checked', node.attrs['checked'] !== true))
    return true
  }
  return false
}
