import { type AttrSpec, markSpecs, nodeSpecs, type MarkSpec, type NodeSpec } from '@docrelay/model/prose/schema'
import {
  type DOMOutputSpec,
  type MarkSpec as EditorMark,
  type NodeSpec as EditorNode,
  Schema,
  type TagParseRule,
} from 'prosemirror-model'
import { pastedStyle } from './pasted-html.ts'

/** ProseMirror content expressions by the content of a row. Items and cells are listed by name, because their rows say only that they hold blocks. */
const CONTENT: Readonly<Record<Exclude<NodeSpec['content'], 'none'>, string>> = {
  inline: 'inline*',
  code: 'text*',
  blocks: 'block+',
  items: 'listItem+',
  figure: 'image figcaption',
  images: 'image+',
  rows: 'tableRow+',
  cells: '(tableCell | tableHeader)*',
}
const OWN_CONTENT: Readonly<Record<string, string>> = {
  listItem: 'paragraph block*',
  taskItem: 'paragraph block*',
  taskList: 'taskItem+',
}
/** The names by which prosemirror-tables knows the parts of a table. */
const TABLE_ROLES: Readonly<Record<string, string>> = {
  table: 'table',
  tableRow: 'row',
  tableCell: 'cell',
  tableHeader: 'header_cell',
}

/** An element of the page. Named this way so that programs without DOM types can compile this file too. */
type PageElement = Parameters<NonNullable<TagParseRule['getAttrs']>>[0]

/** Returns the DOM attributes of a node or mark. Peers may store any value, so only values that the model allows are shown. */
function shownAttrs(specs: readonly AttrSpec[], values: Readonly<Record<string, unknown>>): Record<string, string> {
  const shown: Record<string, string> = {}
  const styles: string[] = []
  for (const spec of specs) {
    const stored = values[spec.name]
    const value = stored === null || stored === undefined ? undefined : spec.read(stored)
    if (value === undefined || spec.html === '') continue
    if (spec.html.startsWith('style:')) styles.push(`${spec.html.slice('style:'.length)}: ${String(value)}`)
    else if (spec.always === true || value !== spec.default) shown[spec.html] = String(value)
  }
  if (styles.length > 0) shown['style'] = styles.join('; ')
  return shown
}

function styleOf(element: PageElement, property: string): string {
  return element.style.getPropertyValue(property) || pastedStyle(element, property)
}

/** Reads attributes from an element of the page or of the clipboard; `false` when a required one is missing. */
function readAttrs(element: PageElement, specs: readonly AttrSpec[]): Record<string, unknown> | false {
  const attrs: Record<string, unknown> = {}
  for (const spec of specs) {
    const raw = spec.html.startsWith('style:')
      ? styleOf(element, spec.html.slice('style:'.length)) || null
      : element.getAttribute(spec.html)
    const value = raw === null ? undefined : spec.read(raw)
    if (value !== undefined) attrs[spec.name] = value
    else if (spec.key === true) return false
  }
  return attrs
}

/** Reads a marker such as `' data-type="taskList"'` as part of a selector and as attributes. */
function readMarker(marker: string): { readonly selector: string; readonly attrs: Record<string, string> } {
  const [, name, , value = ''] = /^ ([a-z-]+)(="([^"]*)")?$/.exec(marker) ?? []
  if (name === undefined) return { selector: '', attrs: {} }
  return { selector: value === '' ? `[${name}]` : `[${name}="${value}"]`, attrs: { [name]: value } }
}

function drawNode(spec: NodeSpec, attrs: Readonly<Record<string, unknown>>): DOMOutputSpec {
  const shown = { ...readMarker(spec.marker).attrs, ...shownAttrs(spec.attrs, attrs) }
  switch (spec.type) {
    case 'heading':
      return [`h${levelOf(attrs['level'])}`, shown, 0]
    case 'codeBlock': {
      const language = spec.attrs.find(({ name }) => name === 'language')?.read(attrs['language'])
      return ['pre', shown, ['code', language === undefined ? {} : { class: `language-${String(language)}` }, 0]]
    }
    case 'gallery':
      return ['div', shown, ['div', { class: 'gallery-items' }, 0]]
    case 'table':
      return ['table', shown, ['tbody', 0]]
  }
  if (spec.content !== 'none') return [spec.tag, shown, 0]
  if (spec.label === undefined) return [spec.tag, shown]
  return [spec.tag, shown, String(attrs[spec.label] ?? '')]
}

function levelOf(stored: unknown): number {
  return typeof stored === 'number' && stored >= 1 && stored <= 6 ? Math.floor(stored) : 1
}

function parseRules(spec: NodeSpec): TagParseRule[] {
  const { selector } = readMarker(spec.marker)
  const shown = spec.attrs.filter(({ html }) => html !== '')
  const getAttrs = (element: PageElement) => readAttrs(element, shown)
  if (spec.type === 'heading')
    return [1, 2, 3, 4, 5, 6].map((level) => ({
      tag: `h${level}`,
      getAttrs: (element) => ({ ...getAttrs(element), level }),
    }))
  if (spec.type === 'codeBlock')
    return [
      {
        tag: 'pre',
        preserveWhitespace: 'full',
        getAttrs: (element) => {
          const named = /(?:^|\s)language-(\S+)/.exec(element.querySelector('code')?.className ?? '')?.[1]
          return { ...getAttrs(element), language: spec.attrs.find(({ name }) => name === 'language')?.read(named) ?? null }
        },
      },
    ]
  // A tag with a marker takes precedence over the bare tag, which another node may have.
  return [{ tag: spec.tag + selector, getAttrs, ...(selector === '' ? {} : { priority: 60 }) }]
}

function editorNode(spec: NodeSpec): EditorNode {
  const content = OWN_CONTENT[spec.type] ?? (spec.content === 'none' ? undefined : CONTENT[spec.content])
  const role = TABLE_ROLES[spec.type]
  return {
    attrs: Object.fromEntries(spec.attrs.map(({ name, default: value }) => [name, { default: value ?? null }])),
    ...(content === undefined ? { atom: true } : { content }),
    ...(spec.group === 'block' || spec.group === 'inline' ? { group: spec.group } : {}),
    ...(spec.group === 'inline' ? { inline: true } : {}),
    ...(spec.content === 'code' ? { marks: '', code: true, defining: true } : {}),
    ...(spec.content === 'blocks' || spec.type === 'heading' ? { defining: true } : {}),
    // Line breaks stay line breaks when a paragraph becomes a code block, and the other way round.
    ...(spec.type === 'hardBreak' ? { linebreakReplacement: true } : {}),
    ...(role === undefined ? {} : { tableRole: role, isolating: true }),
    toDOM: ({ attrs }) => drawNode(spec, attrs),
    parseDOM: parseRules(spec),
  }
}

function editorMark(spec: MarkSpec): EditorMark {
  const specs = spec.attr === undefined ? [] : [spec.attr]
  return {
    attrs: Object.fromEntries(specs.map(({ name }) => [name, { default: null }])),
    ...(spec.type === 'link' ? { inclusive: false } : {}),
    toDOM: ({ attrs }) => [spec.tag, shownAttrs(specs, attrs), 0],
    parseDOM: spec.tags.map((tag) => ({
      tag,
      getAttrs: (element: PageElement) => {
        // Some editors wrap copied content in a `<b>` that is not bold.
        if (spec.type === 'bold' && ['normal', '400'].includes(styleOf(element, 'font-weight'))) return false
        const attrs = readAttrs(element, specs)
        return attrs !== false && spec.attr?.required === true && attrs[spec.attr.name] === undefined ? false : attrs
      },
    })),
  }
}

/**
 * The ProseMirror schema of a prose page, made from the relay's own tables: every node and mark that a page may hold [PROSE-2]. Drawing or
 * copying a page yields the HTML of REST.
 */
export const proseSchema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    ...Object.fromEntries(nodeSpecs.map((spec) => [spec.type, editorNode(spec)])),
    text: { group: 'inline' },
  },
  marks: Object.fromEntries(markSpecs.map((spec) => [spec.type, editorMark(spec)])),
})
