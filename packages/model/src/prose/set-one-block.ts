import type { Fix, Warning } from '../edit.ts'
import { applied, withOwnIds, withPassedId, type Applied } from './applied.ts'
import { blockId, idsOf, withBlockId } from './blocks.ts'
import { noContent, type Content, type ContentArgs } from './content.ts'
import { isOwnHtml } from './own-html.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'
import { replaceSpan } from './replace.ts'
import { saysTheSame } from './same-blocks.ts'
import { indexOf, nodeAt, parentNode, parentOf, splice, type Path } from './tree-path.ts'
import { cleanText } from './values.ts'

/** The result of setting one block, with its fixes and warnings. */
interface SetBlock {
  readonly done: Applied
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
}

const HOW = 'service_set_block changes what a block is'

/** Sets one block, and keeps its type where the content allows that. [PROSE-55, AG-36, AG-37] */
export function setOneBlock(tree: ProseTree, path: Path, content: Content, isMarkdown: boolean): SetBlock {
  const items = asItemText(tree, path, content.tree)
  if (items !== null) return items
  const block = nodeAt(tree, path)
  const { nodes, fixes, warnings } =
    isMarkdown && isTitle(block, content.tree) ? titled(block, content.tree) : unquoted(tree, path, content.tree)
  const done = replaceSpan(tree, { path, count: 1 }, nodes)
  return { done, fixes, warnings: [...warnings, ...retyped(block, nodes)] }
}

interface Fitted {
  readonly nodes: ProseTree
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
}

function unwrapped(reason: string): Fix {
  return { action: 'unwrapped', field: 'content', reason: `${reason}; ${HOW}` }
}

/** Whether the content of a call is the text of a code block: Markdown that does not begin with a fence. [AG-36] */
export function isCodeText({ content, format }: ContentArgs): boolean {
  if (format === 'html' || (format === undefined && isOwnHtml(content))) return false
  return !/^(?:\s*<!--[^>]*-->)*\s*(?:```|~~~)/.test(content)
}

/** Takes the content of a call literally as the text of a code block. [AG-36] */
export function codeText({ content }: ContentArgs, block: ProseElement): Content {
  const text = cleanText(content.replaceAll('\0', '').replace(/\r\n?/g, '\n')).replace(/\n$/, '')
  const { id: _, ...attrs } = block.attrs
  const code: ProseElement = { ...block, attrs, content: text === '' ? [] : [{ type: 'text', text, marks: [] }] }
  const fixes = [unwrapped('the content was taken as the code')]
  return { ...noContent, tree: [code], isBlank: false, fixes }
}

function isTitle(block: ProseElement, [only, ...others]: ProseTree): boolean {
  return block.type === 'heading' && only?.type === 'paragraph' && only.attrs['textAlign'] === undefined && others.length === 0
}

/** Takes the text of a paragraph as the text of a heading. [AG-36] */
function titled(heading: ProseElement, [paragraph]: ProseTree): Fitted {
  const { content, attrs } = paragraph as ProseElement
  const node = withBlockId({ ...heading, content }, typeof attrs['id'] === 'string' ? attrs['id'] : null)
  const reason = `the text was set in the heading, which stays on level ${Number(heading.attrs['level'] ?? 1)}`
  return { nodes: [node], fixes: [unwrapped(reason)], warnings: [] }
}

const isQuote = (node: ProseElement | undefined): node is ProseElement => node?.type === 'blockquote' || node?.type === 'callout'
const wordOf = ({ type, attrs }: ProseElement) => (type === 'callout' ? String(attrs['variant'] ?? 'note') : 'quote')

/** Unwraps a quote or callout that is set in place of a block in a quote or callout. [AG-37] */
function unquoted(tree: ProseTree, path: Path, content: ProseTree): Fitted {
  const [around, [only, ...others]] = [parentNode(tree, path), content]
  if (!isQuote(around) || !isQuote(only) || others.length > 0) return { nodes: content, fixes: [], warnings: [] }
  const [has, said] = [wordOf(around), wordOf(only)]
  const reason = `the block stands in a ${name(around)} already, so only what is inside the ${name(only)} was set`
  const warning = { reason: `the ${name(around)} stays "${has}" and does not become "${said}"; ${HOW}`, field: 'content' }
  return { nodes: only.content as ProseTree, fixes: [unwrapped(reason)], warnings: has === said ? [] : [warning] }
}

const name = ({ type }: ProseElement) => (type === 'blockquote' ? 'quote' : type)

/** Warns when a block got another type. [AG-36] */
function retyped(block: ProseElement, nodes: ProseTree): readonly Warning[] {
  const [first] = nodes
  if (first === undefined || nodes.some(({ type }) => type === block.type)) return []
  const id = blockId(block)
  const which = id === null ? 'the block' : `the block ${id}`
  return [{ reason: `${which} was a ${block.type} and is a ${first.type} now; ${HOW} and keeps its text`, field: 'content' }]
}

const LISTS = new Set(['bulletList', 'orderedList', 'taskList'])

/** Sets the first paragraph of an item to the first item of a list, with its box; further items follow. `null` in any other case. [AG-37] */
function asItemText(tree: ProseTree, path: Path, [only, ...others]: ProseTree): SetBlock | null {
  const item = parentNode(tree, path)
  if (only === undefined || others.length > 0 || !LISTS.has(only.type) || indexOf(path) !== 0) return null
  if (item?.type !== 'listItem' && item?.type !== 'taskItem') return null
  const itemPath = parentOf(path)
  const [paragraph, ...below] = item.content as ProseTree
  const owned = idsOf([...(splice(tree, path, 1, []) as ProseTree)])
  const [given, ...following] = withOwnIds(only.content as ProseTree, owned) as [ProseElement, ...ProseElement[]]
  const [text, ...inside] = given.content as [ProseElement, ...ProseElement[]]
  const own = withPassedId([text], [paragraph as ProseElement])
  const added = inside.filter((block) => !below.some((stored) => saysTheSame(stored, block, 'ignored')))
  const boxed = only.type === 'taskList' && item.type === 'taskItem' ? withBox(item, given.attrs['checked'] === true) : item
  const written: ProseElement = { ...boxed, content: [...own, ...added, ...below] }
  const after = following.map((node): ProseElement => asKind(node, item.type))
  const done = applied(
    tree,
    splice(tree, itemPath, 1, [written, ...after]),
    [...own, ...added, ...after],
    [paragraph as ProseNode],
  )
  const noBox = only.type === 'taskList' && item.type === 'listItem'
  const more = after.length === 0 ? '' : `, and ${after.length} more follow${after.length === 1 ? 's' : ''} it`
  return {
    done,
    fixes: [unwrapped(`the first item of the list was set as the text of this item${more}`)],
    warnings: noBox ? [{ reason: `the items of this list have no box; ${HOW}`, field: 'content' }] : [],
  }
}

function withBox(item: ProseElement, checked: boolean): ProseElement {
  const { checked: _, ...others } = item.attrs
  return { ...item, attrs: checked ? { ...others, checked } : others }
}

function asKind(item: ProseElement, type: ProseElement['type']): ProseElement {
  return item.type === type ? item : { type, attrs: {}, content: item.content }
}
