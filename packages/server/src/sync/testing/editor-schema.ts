import { nodeSpecs, markSpecs, type NodeSpec } from '@docrelay/model/prose/schema'
import { Schema, type MarkSpec, type NodeSpec as EditorNode } from 'prosemirror-model'

/** The schema of an editor client: the node and mark tables as ProseMirror states them. Defaults are stored, null attributes are not. */

const content: { readonly [type: string]: string } = {
  paragraph: 'inline*',
  heading: 'inline*',
  figcaption: 'inline*',
  codeBlock: 'text*',
  blockquote: 'block+',
  callout: 'block+',
  tableCell: 'block+',
  tableHeader: 'block+',
  bulletList: 'listItem+',
  orderedList: 'listItem+',
  taskList: 'taskItem+',
  listItem: 'paragraph block*',
  taskItem: 'paragraph block*',
  figure: 'image figcaption',
  gallery: 'image+',
  table: 'tableRow+',
  tableRow: '(tableCell | tableHeader)*',
}

function editorNode(spec: NodeSpec): EditorNode {
  return {
    attrs: Object.fromEntries(spec.attrs.map((attr) => [attr.name, { default: attr.default ?? null }])),
    ...(content[spec.type] === undefined ? { atom: true } : { content: content[spec.type] as string }),
    ...(spec.group === 'block' ? { group: 'block' } : {}),
    ...(spec.group === 'inline' ? { group: 'inline', inline: true } : {}),
    ...(spec.type === 'codeBlock' ? { marks: '', code: true } : {}),
  }
}

export const editorSchema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    ...Object.fromEntries(nodeSpecs.map((spec) => [spec.type, editorNode(spec)])),
    text: { group: 'inline' },
  },
  marks: Object.fromEntries(
    markSpecs.map((spec): [string, MarkSpec] => [
      spec.type,
      spec.attr === undefined ? {} : { attrs: { [spec.attr.name]: { default: null } } },
    ]),
  ),
})
