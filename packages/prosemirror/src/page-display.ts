import { type Mark, Node, Schema } from 'prosemirror-model'
import { EditorState, Plugin } from 'prosemirror-state'
import { ySyncPluginKey } from 'y-prosemirror'
import * as Y from 'yjs'
import { markOfKey } from './mark-keys.ts'
import { proseSchema } from './prose-schema.ts'

type Part = Y.XmlElement | Y.XmlText | Y.XmlHook

const unknown = (inline: boolean) => ({
  attrs: { name: { default: '' }, text: { default: '' } },
  atom: true,
  inline,
  group: inline ? 'inline' : 'block',
  toDOM: ({ attrs }: Node): [string, Record<string, string>, string] => [
    inline ? 'span' : 'div',
    { class: 'docrelay-unknown', 'data-unknown': String(attrs['name']) },
    String(attrs['text']),
  ],
})

/** The schema of a read-only page. An element that the editor does not know becomes a box with its text. */
export const displaySchema = new Schema({
  nodes: proseSchema.spec.nodes.append({ unknownBlock: unknown(false), unknownInline: unknown(true) }),
  marks: proseSchema.spec.marks,
})

/**
 * A page as ProseMirror nodes, for a read-only view. Invalid content is included as it is stored. Unchanged blocks keep their node, so that a
 * view redraws only changed ones.
 */
export class PageDisplay {
  readonly fragment: Y.XmlFragment
  /** The nodes of each part of the page, in the form that the caret plugin of y-prosemirror reads. */
  readonly mapping = new Map<unknown, Node | Node[]>()

  constructor(fragment: Y.XmlFragment) {
    this.fragment = fragment
  }

  /** Returns the present page. */
  document(): Node {
    const blocks = (this.fragment.toArray() as Part[]).map((part) => this.#shown(part, false))
    const { nodes } = displaySchema
    const shown = blocks.flat()
    return (nodes['doc'] as NonNullable<(typeof nodes)[string]>).create(
      null,
      shown.length > 0 ? shown : displaySchema.node('paragraph'),
    )
  }

  /** Forgets the nodes of all parts that a transaction changed, and of the parts around them. */
  forget(events: readonly Y.YEvent<Y.XmlFragment>[]): void {
    for (const event of events) {
      let part: unknown = event.target
      while (part !== null && part !== this.fragment) {
        this.mapping.delete(part)
        part = (part as Y.XmlElement).parent
      }
      for (const { content } of event.changes.deleted) this.mapping.delete((content as Y.ContentType).type)
    }
  }

  /** Returns a plugin through which the caret plugin finds where the parts of the page are shown. */
  plugin(): Plugin {
    const binding = { mapping: this.mapping }
    const state = {
      type: this.fragment,
      doc: this.fragment.doc,
      binding,
      snapshot: null,
      prevSnapshot: null,
      isChangeOrigin: true,
    }
    return new Plugin({ key: ySyncPluginKey, state: { init: () => state, apply: () => state } })
  }

  #shown(part: Part, inline: boolean): Node[] {
    const known = this.mapping.get(part)
    if (known !== undefined) return Array.isArray(known) ? known : [known]
    const shown = part instanceof Y.XmlText ? textNodes(part) : this.#element(part, inline)
    this.mapping.set(part, shown)
    return Array.isArray(shown) ? shown : [shown]
  }

  #element(part: Y.XmlElement | Y.XmlHook, inline: boolean): Node {
    const type = part instanceof Y.XmlElement ? displaySchema.nodes[part.nodeName] : undefined
    if (type === undefined || type.isText || type.name === 'doc' || !(part instanceof Y.XmlElement)) {
      const name = part instanceof Y.XmlElement ? part.nodeName : 'hook'
      return displaySchema.node(inline ? 'unknownInline' : 'unknownBlock', { name, text: textOf(part) })
    }
    const content = type.isLeaf ? [] : (part.toArray() as Part[]).flatMap((child) => this.#shown(child, type.inlineContent))
    // `create`, not `createChecked`, because a node with invalid content is shown too.
    return type.create(part.getAttributes(), content)
  }
}

function textNodes(text: Y.XmlText): Node[] {
  const runs = text.toDelta() as { insert: unknown; attributes?: Record<string, unknown> }[]
  return runs.map(({ insert, attributes }) => {
    if (typeof insert !== 'string') return displaySchema.node('unknownInline', { name: 'embed' })
    const marks = Object.entries(attributes ?? {}).map(([key, value]) => markOfKey(displaySchema, key, value))
    return displaySchema.text(
      insert,
      marks.filter((mark): mark is Mark => mark !== null),
    )
  })
}

function textOf(part: Part): string {
  if (part instanceof Y.XmlText)
    return (part.toDelta() as { insert: unknown }[]).map(({ insert }) => (typeof insert === 'string' ? insert : '')).join('')
  return part instanceof Y.XmlElement ? (part.toArray() as Part[]).map(textOf).join(' ').trim() : ''
}

/** Returns the state of a read-only view of `display`. */
export function displayState(display: PageDisplay, plugins: readonly Plugin[]): EditorState {
  return EditorState.create({ schema: displaySchema, doc: display.document(), plugins: [display.plugin(), ...plugins] })
}
