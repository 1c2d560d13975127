import {
  baseKeymap,
  chainCommands,
  createParagraphNear,
  exitCode,
  liftEmptyBlock,
  newlineInCode,
  splitBlock,
  toggleMark,
  wrapIn,
} from 'prosemirror-commands'
import { undoInputRule } from 'prosemirror-inputrules'
import { keymap } from 'prosemirror-keymap'
import { type Command, type EditorState, Plugin, TextSelection } from 'prosemirror-state'
import { redoCommand, undoCommand } from 'y-prosemirror'
import { liftItem, listAround, sinkItem, splitItem, toggleList, toggleTask } from './lists.ts'
import { markType, nodeType } from './node-types.ts'
import { nextCell, previousCell } from './tables.ts'
import { depthOf, setTextblock, toggleTextblock, unwrap } from './text-blocks.ts'

const hardBreak: Command = (state, dispatch) => {
  if (!state.selection.$from.parent.inlineContent || state.selection.$from.parent.type.spec.code === true) return false
  dispatch?.(state.tr.replaceSelectionWith(nodeType('hardBreak').create()).scrollIntoView())
  return true
}

/** Splits a block. Splitting a heading makes a second heading; Enter at its end makes a paragraph. */
const enter = chainCommands(newlineInCode, splitItem, liftItem, createParagraphNear, liftEmptyBlock, splitBlock)

export function toggleWrap(name: string, attrs?: Record<string, unknown>): Command {
  return (state, dispatch) =>
    depthOf(state, name) > 0 ? unwrap(name)(state, dispatch) : wrapIn(nodeType(name), attrs)(state, dispatch)
}

/** In a list, Tab and Shift-Tab never move the focus out of the page, even when there is nothing to indent. */
const always =
  (command: Command): Command =>
  (state, dispatch, view) =>
    command(state, dispatch, view) || listAround(state) !== null

/** Makes a paragraph below a table or code block that ends the page. */
const leaveBelow: Command = (state, dispatch, view) => {
  const { $head, empty } = state.selection
  if (!empty || (depthOf(state, 'table') === 0 && $head.parent.type.spec.code !== true)) return false
  if ($head.index(0) !== state.doc.childCount - 1 || view?.endOfTextblock('down') === false) return false
  if (!isInLastRow(state)) return false
  if (dispatch !== undefined) {
    const end = state.doc.content.size
    const tr = state.tr.insert(end, nodeType('paragraph').create())
    dispatch(tr.setSelection(TextSelection.create(tr.doc, end + 1)).scrollIntoView())
  }
  return true
}

function isInLastRow(state: EditorState): boolean {
  const depth = depthOf(state, 'table')
  const { $from } = state.selection
  return depth === 0 || $from.index(depth) === $from.node(depth).childCount - 1
}

/** The keys of a prose page. The commands in `open` open dialogs or the toolbar. */
export function keys(open: { readonly link: Command; readonly edit: Command; readonly tools: () => void }): readonly Plugin[] {
  const bindings: Record<string, Command> = {
    'Mod-b': toggleMark(markType('bold')),
    'Mod-i': toggleMark(markType('italic')),
    'Mod-u': toggleMark(markType('underline')),
    'Mod-Shift-x': toggleMark(markType('strike')),
    'Mod-e': toggleMark(markType('code')),
    'Mod-k': open.link,
    'Mod-z': undoCommand,
    'Mod-y': redoCommand,
    'Shift-Mod-z': redoCommand,
    'Mod-Alt-0': setTextblock('paragraph'),
    'Mod-Alt-1': toggleTextblock('heading', { level: 1 }),
    'Mod-Alt-2': toggleTextblock('heading', { level: 2 }),
    'Mod-Alt-3': toggleTextblock('heading', { level: 3 }),
    'Mod-Shift-7': toggleList('orderedList'),
    'Mod-Shift-8': toggleList('bulletList'),
    'Mod-Shift-9': toggleList('taskList'),
    'Mod-Shift-b': toggleWrap('blockquote'),
    'Mod-Enter': chainCommands(exitCode, toggleTask),
    'Shift-Enter': chainCommands(exitCode, hardBreak),
    Enter: chainCommands(open.edit, enter),
    Backspace: undoInputRule,
    Tab: chainCommands(nextCell, always(sinkItem)),
    'Shift-Tab': chainCommands(previousCell, always(liftItem)),
    ArrowDown: leaveBelow,
    'Alt-F10': () => {
      open.tools()
      return true
    },
  }
  return [tabLeaves(), keymap(bindings), keymap(baseKeymap)]
}

/** After Escape, the next Tab moves the focus in the browser page, as Tab does elsewhere. [WCAG 2.1.2] */
function tabLeaves(): Plugin {
  let isLeaving = false
  return new Plugin({
    props: {
      handleDOMEvents: {
        // True skips the key bindings and leaves the key to the browser.
        keydown(_, { key }) {
          if (key === 'Shift') return false
          const leaves = key === 'Tab' && isLeaving
          isLeaving = key === 'Escape'
          return leaves
        },
        blur() {
          isLeaving = false
          return false
        },
      },
    },
  })
}
