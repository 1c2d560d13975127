// The ProseMirror schema of a prose page: every node and mark that a page may hold, made of the relay's own tables.
import { type AttrSpec, markSpecs, nodeSpecs, type NodeSpec } from '@docrelay/model/prose/schema'
import { type DOMOutputSpec, type MarkSpec, type NodeSpec as EditorNode, Schema } from 'prosemirror-model'

const CONTENT: Readonly<Record<string, string>> = {
  ...{ paragraph: 'inline*', heading: 'inline*', figcaption: 'inline*', codeBlock: 'text*' },
  ...{ blockquote: 'block+', callout: 'block+', tableCell: 'block+', tableHeader: 'block+' },
  ...{ bulletList: 'listItem+', orderedList: 'listItem+', taskList: 'taskItem+' },
  ...{ listItem: 'paragraph block*', taskItem: 'paragraph block*', figure: 'image figcaption', gallery: 'image+' },
  ...{ table: 'tableRow+', tableRow: '(tableCell | tableHeader)*' },
}

/** Attributes with a plain HTML name; what a real editor shows of the others is its own affair. */
function shown(specs: readonly AttrSpec[], values: Readonly<Record<string, unknown>>): Record<string, string> {
  const plain = specs.filter(({ name, html }) => /^[a-z-]+$/.test(html) && values[name] !== null && values[name] !== undefined)
  return Object.fromEntries(plain.map(({ name, html }) => [html, String(values[name])]))
}

function editorNode(spec: NodeSpec): EditorNode {
  const content = CONTENT[spec.type]
  return {
    attrs: Object.fromEntries(spec.attrs.map(({ name, default: value }) => [name, { default: value ?? null }])),
    ...(content === undefined ? { atom: true } : { content }),
    ...(spec.group === 'block' ? { group: 'block' } : {}),
    ...(spec.group === 'inline' ? { group: 'inline', inline: true } : {}),
    ...(spec.type === 'codeBlock' ? { marks: '', code: true } : {}),
    toDOM: ({ attrs }): DOMOutputSpec => {
      const tag = spec.type === 'heading' ? `h${attrs['level']}` : spec.tag
      const dom: [string, Record<string, string>] = [tag, { ...shown(spec.attrs, attrs), 'data-node': spec.type }]
      if (content !== undefined) return [...dom, 0]
      return spec.label === undefined ? dom : [...dom, String(attrs[spec.label] ?? attrs['name'] ?? '')]
    },
    parseDOM: [{ tag: `[data-node=${spec.type}]` }],
  }
}

export const schema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    ...Object.fromEntries(nodeSpecs.map((spec) => [spec.type, editorNode(spec)])),
    text: { group: 'inline' },
  },
  marks: Object.fromEntries(
    markSpecs.map((spec): [string, MarkSpec] => [
      spec.type,
      {
        ...(spec.attr === undefined ? {} : { attrs: { [spec.attr.name]: { default: null } } }),
        toDOM: () => [spec.tag, { 'data-mark': spec.type }, 0],
        parseDOM: [{ tag: `[data-mark=${spec.type}]` }],
      },
    ]),
  ),
})
