// Tiptap on a prose page: `#<relay>,<document>,<page>,<token>` in the address of index.html says what to open.
import { createRelay } from '@docrelay/client'
import { blockIds, carets, problemsOf, proseSchema } from '@docrelay/prosemirror'
import { type AnyExtension, Editor, Extension, Mark, Node } from '@tiptap/core'
import type { DOMOutputSpec } from '@tiptap/pm/model'
import { ySyncPlugin, yUndoPlugin } from 'y-prosemirror'

/** The attributes of a node or mark. The schema of the relay draws and reads them, so Tiptap leaves them alone. */
const attributesOf = (attrs: Readonly<Record<string, { readonly default?: unknown }>> = {}) =>
  Object.fromEntries(
    Object.entries(attrs).map(([name, { default: value }]) => [name, { default: value, rendered: false, parseHTML: () => null }]),
  )

/** Every node and mark of a page as Tiptap extensions. An editor that lacked one would delete it for everybody. */
function pageExtensions(): AnyExtension[] {
  const nodes = Object.values(proseSchema.nodes).map(({ name, spec: { toDOM, ...spec } }) =>
    Node.create({
      name,
      topNode: name === 'doc',
      content: spec.content ?? '',
      marks: spec.marks,
      group: spec.group ?? '',
      inline: spec.inline === true,
      atom: spec.atom === true,
      code: spec.code === true,
      defining: spec.defining === true,
      isolating: spec.isolating === true,
      addAttributes: () => attributesOf(spec.attrs),
      parseHTML: () => [...(spec.parseDOM ?? [])],
      ...(toDOM && { renderHTML: ({ node }) => toDOM(node) as DOMOutputSpec }),
    }),
  )
  const marks = Object.values(proseSchema.marks).map(({ name, spec: { toDOM, ...spec } }) =>
    Mark.create({
      name,
      inclusive: spec.inclusive ?? true,
      addAttributes: () => attributesOf(spec.attrs),
      parseHTML: () => [...(spec.parseDOM ?? [])],
      ...(toDOM && { renderHTML: ({ mark }) => toDOM(mark, true) as DOMOutputSpec }),
    }),
  )
  return [...nodes, ...marks]
}

const [url = '', docId = '', pageId = '', token = ''] = decodeURIComponent(location.hash.slice(1)).split(',')
const relay = createRelay({ url, token: () => token })
const document_ = relay.open(docId, { user: { name: 'Tiptap', color: '#2563eb' } })
await document_.ready
const page = document_.ydoc.getXmlFragment(`prose:${pageId}`)

const live = Extension.create({
  name: 'docrelay',
  addProseMirrorPlugins: () => [ySyncPlugin(page), carets(document_.awareness), yUndoPlugin(), blockIds()],
})
const editor = new Editor({
  element: document.querySelector('#editor'),
  extensions: [...pageExtensions(), live],
  // What the schema cannot hold would be deleted as soon as somebody types.
  editable: document_.level !== 'view' && page.toArray().every((block) => problemsOf(block, proseSchema).length === 0),
})
document_.on('level', (level) => editor.setEditable(level !== 'view'))
document_.on('state', ({ saved }) => document.querySelector('#saved')?.replaceChildren(saved))
