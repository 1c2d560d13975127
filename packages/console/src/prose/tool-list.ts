import { toggleMark } from 'prosemirror-commands'
import type { MarkType } from 'prosemirror-model'
import type { Command, EditorState } from 'prosemirror-state'
import {
  addColumnAfter,
  addColumnBefore,
  addRowAfter,
  addRowBefore,
  deleteColumn,
  deleteRow,
  deleteTable,
  mergeCells,
  splitCell,
  toggleHeader,
} from 'prosemirror-tables'
import { redoCommand, undoCommand } from 'y-prosemirror'
import { messages } from '../messages.en.ts'
import { calloutVariant, VARIANTS } from './chips.ts'
import type { IconName } from './icons.tsx'
import { toggleWrap } from './keys.ts'
import { listAround, toggleList } from './lists.ts'
import { markType, nodeType } from './node-types.ts'
import { emptyTable } from './tables.ts'
import { depthOf, insertBlocks, isKind, setAttrsOf, setTextblock, textblocks, toggleTextblock } from './text-blocks.ts'

const texts = messages.prose.tools

/** A button of a toolbar. */
export interface Tool {
  readonly id: string
  readonly label: string
  readonly command: Command
  /** For example `Mod-b`; Mod is Ctrl, or Cmd on a Mac. */
  readonly keys?: string
  readonly icon?: IconName
  /** Shown on the button when there is no icon. */
  readonly text?: string
  /** Whether a toggle tool is on; absent for tools that do not toggle. */
  readonly isActive?: (state: EditorState) => boolean
}

/** Tools that belong together, in the order of the toolbar. */
export type ToolGroup = readonly Tool[]

/** Commands that open a dialog. Called without `dispatch`, each says whether it is enabled. */
export interface Asking {
  readonly link: Command
  readonly formula: Command
  readonly field: Command
  readonly citation: Command
  readonly image: Command
}

function isMarked({ doc, selection, storedMarks }: EditorState, type: MarkType): boolean {
  const { $from, from, to, empty } = selection
  return empty ? type.isInSet(storedMarks ?? $from.marks()) !== undefined : doc.rangeHasMark(from, to, type)
}

const mark = (name: string, tool: Omit<Tool, 'id' | 'command' | 'isActive'>): Tool => ({
  id: name,
  command: toggleMark(markType(name)),
  isActive: (state) => isMarked(state, markType(name)),
  ...tool,
})

const areAll = (state: EditorState, name: string, attrs = {}): boolean => {
  const blocks = textblocks(state)
  return blocks.length > 0 && blocks.every(({ node }) => isKind(node, name, attrs))
}

const heading = (level: number): Tool => ({
  id: `heading${level}`,
  label: texts.heading(level),
  text: `H${level}`,
  keys: `Mod-Alt-${level}`,
  command: toggleTextblock('heading', { level }),
  isActive: (state) => areAll(state, 'heading', { level }),
})

const list = (name: 'bulletList' | 'orderedList' | 'taskList', tool: Omit<Tool, 'id' | 'command' | 'isActive'>): Tool => ({
  id: name,
  command: toggleList(name),
  isActive: (state) => listAround(state)?.name === name,
  ...tool,
})

const wrap = (name: string, tool: Omit<Tool, 'id' | 'command' | 'isActive'>): Tool => ({
  id: name,
  command: toggleWrap(name),
  isActive: (state) => depthOf(state, name) > 0,
  ...tool,
})

/** The tools of a prose page. */
export function mainTools(asking: Asking): readonly ToolGroup[] {
  return [
    [
      { id: 'undo', label: texts.undo, icon: 'undo', keys: 'Mod-z', command: undoCommand },
      { id: 'redo', label: texts.redo, icon: 'redo', keys: 'Mod-Shift-z', command: redoCommand },
    ],
    [
      {
        id: 'paragraph',
        label: texts.paragraph,
        text: '¶',
        keys: 'Mod-Alt-0',
        command: setTextblock('paragraph'),
        isActive: (state) => areAll(state, 'paragraph'),
      },
      heading(1),
      heading(2),
      heading(3),
    ],
    [
      mark('bold', { label: texts.bold, text: 'B', keys: 'Mod-b' }),
      mark('italic', { label: texts.italic, text: 'I', keys: 'Mod-i' }),
      mark('strike', { label: texts.strike, text: 'S', keys: 'Mod-Shift-x' }),
      mark('code', { label: texts.code, icon: 'code', keys: 'Mod-e' }),
      {
        id: 'link',
        label: texts.link,
        icon: 'link',
        keys: 'Mod-k',
        command: asking.link,
        isActive: (state) => isMarked(state, markType('link')),
      },
    ],
    [
      list('bulletList', { label: texts.bulletList, icon: 'bullets', keys: 'Mod-Shift-8' }),
      list('orderedList', { label: texts.orderedList, icon: 'numbers', keys: 'Mod-Shift-7' }),
      list('taskList', { label: texts.taskList, icon: 'tasks', keys: 'Mod-Shift-9' }),
      wrap('blockquote', { label: texts.quote, icon: 'quote', keys: 'Mod-Shift-b' }),
      wrap('callout', { label: texts.callout, icon: 'callout' }),
      {
        id: 'codeBlock',
        label: texts.codeBlock,
        icon: 'codeBlock',
        command: toggleTextblock('codeBlock'),
        isActive: (state) => areAll(state, 'codeBlock'),
      },
    ],
    [
      { id: 'table', label: texts.table, icon: 'table', command: insertBlocks(() => [emptyTable(3, 3)]) },
      { id: 'image', label: texts.image, icon: 'image', command: asking.image },
      { id: 'formula', label: texts.formula, icon: 'formula', command: asking.formula },
      { id: 'field', label: texts.field, icon: 'field', command: asking.field },
      { id: 'citation', label: texts.citation, icon: 'citation', command: asking.citation },
      { id: 'rule', label: texts.rule, icon: 'rule', command: insertBlocks(() => [nodeType('horizontalRule').create()]) },
    ],
  ]
}

/** The tools for the table at the caret. */
export const tableTools: readonly ToolGroup[] = [
  [
    { id: 'rowBefore', label: texts.rowBefore, command: addRowBefore },
    { id: 'rowAfter', label: texts.rowAfter, command: addRowAfter },
    { id: 'deleteRow', label: texts.deleteRow, command: deleteRow },
  ],
  [
    { id: 'columnBefore', label: texts.columnBefore, command: addColumnBefore },
    { id: 'columnAfter', label: texts.columnAfter, command: addColumnAfter },
    { id: 'deleteColumn', label: texts.deleteColumn, command: deleteColumn },
  ],
  [
    { id: 'headerRow', label: texts.headerRow, command: toggleHeader('row') },
    { id: 'mergeCells', label: texts.mergeCells, command: mergeCells },
    { id: 'splitCell', label: texts.splitCell, command: splitCell },
  ],
  [{ id: 'deleteTable', label: texts.deleteTable, command: deleteTable }],
]

/** The tools for the callout at the caret. */
export const calloutTools: readonly ToolGroup[] = [
  VARIANTS.map((variant) => ({
    id: variant,
    label: messages.prose.variants[variant],
    command: setAttrsOf('callout', { variant }),
    isActive: (state: EditorState) => {
      const depth = depthOf(state, 'callout')
      return depth > 0 && calloutVariant(state.selection.$from.node(depth).attrs['variant']) === variant
    },
  })),
]

/** Which tools are on, and which are disabled. */
export interface ToolState {
  readonly active: ReadonlySet<string>
  readonly unusable: ReadonlySet<string>
  readonly place: 'table' | 'callout' | null
}

export const NO_TOOLS: ToolState = { active: new Set(), unusable: new Set(), place: null }

export function toolState(state: EditorState, groups: readonly ToolGroup[]): ToolState {
  const place = depthOf(state, 'table') > 0 ? 'table' : depthOf(state, 'callout') > 0 ? 'callout' : null
  const shown = [...groups, ...toolsAt(place)].flat()
  const active = new Set(shown.filter((tool) => tool.isActive?.(state)).map(({ id }) => id))
  const unusable = new Set(shown.filter((tool) => !active.has(tool.id) && !tool.command(state)).map(({ id }) => id))
  return { active, unusable, place }
}

export function toolsAt(place: ToolState['place']): readonly ToolGroup[] {
  if (place === null) return []
  return place === 'table' ? tableTools : calloutTools
}

export function isSameToolState(one: ToolState, other: ToolState): boolean {
  return one.place === other.place && isSameSet(one.active, other.active) && isSameSet(one.unusable, other.unusable)
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((id) => other.has(id))
}
