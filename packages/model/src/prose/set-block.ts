import { isRefusal, refused, type Edit, type EditRow, type Fix, type Refusal, type Warning } from '../edit.ts'
import { quote } from '../quote.ts'
import { applied } from './applied.ts'
import type { BlockList } from './block-list.ts'
import type { Printed } from './block-names.ts'
import { isIdBearing, type Located } from './blocks.ts'
import { writePage } from './edit-page.ts'
import type { NodeType, ProseAttrs, ProseElement, ProseNode, ProseTree } from './node.ts'
import { levelOf } from './outline.ts'
import { openPage, type PageDone } from './prose-edits.ts'
import { endsOf, findTarget, isItem, targetFlaw } from './targets.ts'
import { splicedBlock, visibleText } from './text-splices.ts'
import { indexOf, nodeAt, parentNode, parentOf, splice, type Path } from './tree-path.ts'
import { language as readLanguage } from './values.ts'

const TEXT_TYPES = ['paragraph', 'heading', 'codeBlock'] as const
const LIST_TYPES = ['bulletList', 'orderedList', 'taskList'] as const

/** The types that set_block can give to a block, or to the list around an item. [AG-50] */
export const blockTypes = [...TEXT_TYPES, ...LIST_TYPES] as const
export const calloutKinds = ['note', 'tip', 'warning', 'danger'] as const

type TextType = (typeof TEXT_TYPES)[number]
type ListType = (typeof LIST_TYPES)[number]

export interface SetBlock extends Printed {
  readonly pageId: string
  readonly id: string
  readonly type?: TextType | ListType | undefined
  readonly level?: number | undefined
  readonly checked?: boolean | undefined
  readonly language?: string | undefined
  readonly kind?: (typeof calloutKinds)[number] | undefined
  readonly expectedVersion?: number | undefined
}

const isListType = (type: string): type is ListType => (LIST_TYPES as readonly string[]).includes(type)

/** Refuses arguments of set_block that are wrong for every document; `null` otherwise. [MCP-3, AG-33, AG-51] */
function setBlockFlaw({ id, expectedVersion, type, level, checked, language, kind }: SetBlock): Refusal | null {
  const bad = (argument: string, expected: string) =>
    refused('ERR_BAD_ARGUMENT', `${argument} does not fit the call; expected ${expected}.`, { argument, expected })
  if ([type, level, checked, language, kind].every((given) => given === undefined))
    return bad('type', 'at least one of type, level, checked, language and kind')
  if (level !== undefined && type !== undefined && type !== 'heading') return bad('level', 'level for a heading only')
  if (level !== undefined && !(level >= 1 && level <= 6)) return bad('level', '1 to 6')
  if (language !== undefined && type !== undefined && type !== 'codeBlock') return bad('language', 'language for code only')
  if (language !== undefined && level !== undefined) return bad('language', 'level for a heading or language for code, not both')
  if (language !== undefined && language !== '' && readLanguage(language) === undefined)
    return bad('language', 'at most 40 letters, digits and characters of _+#.-, or nothing')
  if (checked !== undefined && type !== undefined && isListType(type) && type !== 'taskList')
    return bad('checked', 'checked for a task list only')
  return targetFlaw({ id }, expectedVersion)
}

/** Changes the type or the attributes of a block, and never its text. [TOOL-set_block, AG-50 to AG-52] */
export const setBlock: Edit<SetBlock, PageDone & BlockList> = (body, args, environment) => {
  const flaw = setBlockFlaw(args)
  if (flaw !== null) return flaw
  const page = openPage(body, args, environment)
  if (isRefusal(page)) return page
  const found = findTarget(page, { id: args.id })
  if (isRefusal(found)) return found
  const { first, last } = endsOf(found)
  // A cell with one block stands for that block.
  const target = first.block === last.block ? first : found
  const told: Told = { fixes: [], warnings: [] }
  let { tree } = page
  for (const change of [changeText, changeList, tick, changeKind]) {
    const changed = change(tree, target, args, told)
    if (isRefusal(changed)) return changed
    tree = changed as ProseTree
  }
  const done = applied(page.tree, tree, [nodeAt(tree, target.path)], [target.block])
  if (done.tree === page.tree) told.warnings.push({ reason: 'the block already is so; nothing was changed' })
  return writePage({ ...page, content: told }, done, (written) => ({
    pageId: page.pageId,
    ok: true,
    ...written.written('stored'),
  }))
}

interface Told {
  readonly fixes: Fix[]
  readonly warnings: Warning[]
}

/** Makes one part of the change. No block changes its place, so the path of the target stays valid. */
type Change = (tree: ProseTree, target: Located, args: SetBlock, told: Told) => readonly ProseNode[] | Refusal

const exchanged = (tree: ProseTree, path: Path, node: ProseElement): ProseTree => splice(tree, path, 1, [node]) as ProseTree

const changeText: Change = (tree, target, args, told) => {
  const { type, level, language } = args
  if (type !== undefined && isListType(type)) return tree
  const wanted = type ?? (level !== undefined ? 'heading' : language !== undefined ? 'codeBlock' : undefined)
  if (wanted === undefined) return tree
  const block = nodeAt(tree, target.path)
  const why = whyNotText(tree, target.path, wanted)
  if (why !== null) return cannotBe(tree, target, args, `be a ${wanted}: ${why}`)
  if (type === undefined && language !== undefined && block.type !== 'codeBlock')
    return cannotBe(tree, target, args, 'have a language: it is no code, unless type is codeBlock too')
  return exchanged(tree, target.path, asTextBlock(block, wanted, args, told))
}

/** Returns why a block cannot be a text block of type `wanted` at its place; `null` when it can. */
function whyNotText(tree: ProseTree, path: Path, wanted: TextType): string | null {
  const block = nodeAt(tree, path)
  if (!isIdBearing(block)) return 'it holds no text of its own'
  if (block.type === wanted) return null
  if (wanted !== 'paragraph' && isFirstOfItem(tree, path)) return 'an item begins with a paragraph'
  if (wanted === 'codeBlock' && block.content.some(({ type }) => type !== 'text' && type !== 'hardBreak'))
    return 'code has no chips and no math'
  return null
}

function isFirstOfItem(tree: ProseTree, path: Path): boolean {
  const parent = parentNode(tree, path)
  return parent !== undefined && isItem(parent) && indexOf(path) === 0
}

function asTextBlock(block: ProseElement, type: TextType, { level, language }: SetBlock, told: Told): ProseElement {
  const { id, textAlign } = block.attrs
  const named: ProseAttrs = id === undefined ? {} : { id }
  if (type === 'codeBlock') {
    const kept = language ?? block.attrs['language']
    const attrs: ProseAttrs = { ...named, ...(kept === undefined || kept === '' ? {} : { language: kept }) }
    return { ...(block.type === 'codeBlock' ? block : asCode(block, told)), attrs }
  }
  const text = block.type === 'codeBlock' ? asLines(block) : block
  const aligned: ProseAttrs = { ...named, ...(textAlign === undefined ? {} : { textAlign }) }
  if (type === 'paragraph') return { ...text, type, attrs: aligned }
  const now = level ?? (block.type === 'heading' ? levelOf(block) : 1)
  if (level === undefined && block.type !== 'heading')
    told.warnings.push({ reason: 'a heading without level has level 1', field: 'level' })
  return { ...text, type, attrs: { ...(now === 1 ? {} : { level: now }), ...aligned } }
}

function asCode(block: ProseElement, { fixes }: Told): ProseElement {
  const isPlain = block.content.every((node) => node.type !== 'text' || node.marks.length === 0)
  const reason = 'code is plain text without marks and alignment'
  if (!isPlain || block.attrs['textAlign'] !== undefined)
    fixes.push({ action: 'stripped_children', reason, field: 'type', nodeType: 'codeBlock' })
  const text = visibleText(block)
  return { type: 'codeBlock', attrs: {}, content: text === '' ? [] : [{ type: 'text', text, marks: [] }] }
}

/** Turns the lines of a code block into a paragraph with line breaks. */
function asLines(code: ProseElement): ProseElement {
  const empty: ProseElement = { type: 'paragraph', attrs: {}, content: [] }
  return splicedBlock(empty, [{ at: 0, remove: 0, insert: visibleText(code), like: -1 }])
}

/** Returns the path of the nearest element of `types` around a block, or of the block itself. */
function nearest(tree: ProseTree, path: Path, types: readonly NodeType[]): Path | null {
  for (let at = path; at.length > 0; at = parentOf(at)) if (types.includes(nodeAt(tree, at).type)) return at
  return null
}

const changeList: Change = (tree, target, args, told) => {
  const { type } = args
  if (type === undefined || !isListType(type)) return tree
  const path = nearest(tree, target.path, LIST_TYPES)
  return path === null
    ? cannotBe(tree, target, args, `be in a ${type}: no list is around it`)
    : exchanged(tree, path, asList(nodeAt(tree, path), type, told))
}

function asList(list: ProseElement, type: ListType, { warnings }: Told): ProseElement {
  if (list.type === type) return list
  const item = type === 'taskList' ? 'taskItem' : 'listItem'
  const ticked = list.content.filter((node) => node.type === 'taskItem' && node.attrs['checked'] === true).length
  if (ticked > 0)
    warnings.push({ reason: `only a task list has boxes, so those of ${ticked} ticked items are gone`, field: 'type' })
  const content = list.content.map((node) =>
    isItem(node as ProseElement) ? { ...(node as ProseElement), type: item, attrs: {} } : node,
  )
  return {
    type,
    attrs: {},
    content: list.type === 'taskList' || type === 'taskList' ? (content as readonly ProseNode[]) : list.content,
  }
}

const tick: Change = (tree, target, args) => {
  const { checked } = args
  if (checked === undefined) return tree
  const path = nearest(tree, target.path, ['taskItem', 'listItem'])
  const item = path === null ? null : nodeAt(tree, path)
  if (path === null || item?.type !== 'taskItem')
    return cannotBe(
      tree,
      target,
      args,
      `be ticked: it stands in no ${path === null ? 'list' : 'task list; type: "taskList" makes one of its list'}`,
    )
  return (item.attrs['checked'] === true) === checked
    ? tree
    : exchanged(tree, path, { ...item, attrs: checked ? { checked } : {} })
}

const changeKind: Change = (tree, target, args) => {
  const { kind } = args
  if (kind === undefined) return tree
  const path = nearest(tree, target.path, ['callout'])
  if (path === null) return cannotBe(tree, target, args, 'have a kind: no callout is around it')
  return exchanged(tree, path, { ...nodeAt(tree, path), attrs: kind === 'note' ? {} : { variant: kind } })
}

/** Refuses a change that the block does not allow; the facts list the changes that it allows. [AG-52] */
function cannotBe(tree: ProseTree, { path }: Located, { id }: SetBlock, what: string): Refusal {
  const { type } = nodeAt(tree, path)
  const around = parentNode(tree, path)?.type ?? 'page'
  const allowed = [
    ...TEXT_TYPES.filter((other) => other !== type && whyNotText(tree, path, other) === null),
    ...(nearest(tree, path, LIST_TYPES) === null ? [] : LIST_TYPES),
  ]
  const can = allowed.length === 0 ? 'nothing else' : allowed.join(', ')
  return refused('ERR_BLOCK_KIND', `The block ${quote(id)} (${type} in ${around}) cannot ${what}. It can become ${can}.`, {
    id: quote(id),
    type,
    around,
    allowed,
  })
}

export const setBlockEdits = {
  set_block: { edit: setBlock, flaw: setBlockFlaw },
} as const satisfies Record<string, EditRow>
