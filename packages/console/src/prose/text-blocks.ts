import { Fragment, type Node, NodeRange, type NodeType, type ResolvedPos } from 'prosemirror-model'
import { type Command, type EditorState, NodeSelection, TextSelection, type Transaction } from 'prosemirror-state'
import { nodeType } from './node-types.ts'

type Attrs = Readonly<Record<string, unknown>>

/**
 * Returns the attributes that a block keeps when it becomes another kind of block: its id, by which links and agents refer to it, and its
 * alignment.
 */
export function keptAttrs(type: NodeType, { attrs }: Node): Attrs {
  const known = type.spec.attrs ?? {}
  return Object.fromEntries(['id', 'textAlign'].filter((name) => name in known).map((name) => [name, attrs[name] as unknown]))
}

/** Turns the selected text blocks into this kind, or into paragraphs when they have this kind already. */
export function toggleTextblock(name: string, attrs: Attrs = {}): Command {
  return (state, dispatch) => {
    const isActive = textblocks(state).every(({ node }) => isKind(node, name, attrs))
    return isActive ? setTextblock('paragraph')(state, dispatch) : setTextblock(name, attrs)(state, dispatch)
  }
}

export function setTextblock(name: string, attrs: Attrs = {}): Command {
  return (state, dispatch) => {
    const type = nodeType(name)
    const changed = textblocks(state).filter(({ node, at }) => !isKind(node, name, attrs) && mayBecome(state, at, type))
    if (changed.length === 0) return false
    if (dispatch === undefined) return true
    const { tr } = state
    for (const { at } of changed) {
      const from = tr.mapping.map(at)
      tr.setBlockType(from, from + 1, type, (old) => ({ ...keptAttrs(type, old), ...attrs }))
    }
    dispatch(tr.scrollIntoView())
    return true
  }
}

export function isKind({ type, attrs }: Node, name: string, wanted: Attrs): boolean {
  return type.name === name && Object.entries(wanted).every(([key, value]) => attrs[key] === value)
}

interface Found {
  readonly node: Node
  readonly at: number
}

/** Returns the text blocks that a selection touches. */
export function textblocks({ doc, selection }: EditorState): readonly Found[] {
  const found: Found[] = []
  for (const { $from, $to } of selection.ranges)
    doc.nodesBetween($from.pos, $to.pos, (node, at) => {
      if (node.isTextblock) found.push({ node, at })
      return !node.isTextblock
    })
  return found
}

function mayBecome({ doc }: EditorState, at: number, type: NodeType): boolean {
  const place = doc.resolve(at)
  return place.parent.canReplaceWith(place.index(), place.index() + 1, type)
}

/** Returns the depth of the innermost node of this kind around the selection; 0 when there is none. */
export function depthOf({ selection: { $from, $to } }: EditorState, name: string): number {
  for (let depth = $from.sharedDepth($to.pos); depth > 0; depth--) if ($from.node(depth).type.name === name) return depth
  return 0
}

/** Replaces the innermost node of this kind by its content. */
export function unwrap(name: string): Command {
  return (state, dispatch) => {
    const depth = depthOf(state, name)
    if (depth === 0) return false
    const { $from } = state.selection
    const range = new NodeRange(state.doc.resolve($from.start(depth)), state.doc.resolve($from.end(depth)), depth)
    const [around, index] = [$from.node(depth - 1), $from.index(depth - 1)]
    if (!around.canReplace(index, index + 1, $from.node(depth).content)) return false
    dispatch?.(state.tr.lift(range, depth - 1).scrollIntoView())
    return true
  }
}

/** Changes attributes of the innermost node of this kind. */
export function setAttrsOf(name: string, attrs: Attrs): Command {
  return (state, dispatch) => {
    const depth = depthOf(state, name)
    if (depth === 0) return false
    const at = state.selection.$from.before(depth)
    const { tr } = state
    for (const [key, value] of Object.entries(attrs)) tr.setNodeAttribute(at, key, value)
    dispatch?.(tr)
    return true
  }
}

interface Place {
  readonly from: number
  readonly to: number
}

/**
 * Inserts blocks after the block with the caret, or in its place when it is empty. Adds a paragraph when the page, cell or item would otherwise
 * end with a block into which nobody can type.
 */
export function insertBlocks(blocks: (state: EditorState) => readonly Node[]): Command {
  return (state, dispatch) => {
    const place = placeFor(state.selection)
    if (place === null) return false
    if (dispatch !== undefined) dispatch(insertedAt(state.tr, place.from, place.to, blocks(state)))
    return true
  }
}

/** Inserts blocks between two positions of one parent, and puts the caret where text can be typed: inside or after them. */
export function insertedAt(tr: Transaction, from: number, to: number, blocks: readonly Node[]): Transaction {
  const after = tr.doc.resolve(to)
  const endsClosed = blocks.at(-1)?.isTextblock !== true && after.index() === after.parent.childCount
  tr.replaceWith(from, to, Fragment.from([...blocks, ...(endsClosed ? [nodeType('paragraph').create()] : [])]))
  const first = tr.doc.nodeAt(from)
  // After a node without text, so that typing does not replace it.
  const start = first?.isAtom === true ? from + first.nodeSize : from
  return tr
    .setSelection(TextSelection.findFrom(tr.doc.resolve(start), 1, true) ?? NodeSelection.create(tr.doc, from))
    .scrollIntoView()
}

/** Returns where a block can be inserted: after the block of the selection, or in place of an empty paragraph. */
export function placeFor({ $from, $to }: { readonly $from: ResolvedPos; readonly $to: ResolvedPos }): Place | null {
  const paragraph = nodeType('paragraph')
  for (let depth = $to.depth; depth >= 0; depth--) {
    const parent = $to.node(depth)
    if (parent.isTextblock || parent.type.spec['tableRole'] === 'row') continue
    const index = $to.indexAfter(depth)
    if (!parent.canReplaceWith(index, index, nodeType('horizontalRule'))) continue
    // When the selection itself is at this depth, its end is the place.
    const to = depth === $to.depth ? $to.pos : $to.after(depth + 1)
    const block = $from.parent
    const isEmpty = block.type === paragraph && block.content.size === 0 && $from.depth === depth + 1
    // A list item must keep the paragraph with which it begins.
    const isReplaceable = isEmpty && parent.canReplaceWith(index - 1, index, nodeType('horizontalRule'))
    return { from: isReplaceable ? $from.before() : to, to }
  }
  return null
}
