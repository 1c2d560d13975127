import { proseSchema } from '@docrelay/prosemirror'
import type { MarkType, NodeType } from 'prosemirror-model'

/** A node type of the schema of prose pages. */
export function nodeType(name: string): NodeType {
  const type = proseSchema.nodes[name]
  if (type === undefined) throw new Error(`the schema has no node ${name}`)
  return type
}

export function markType(name: string): MarkType {
  const type = proseSchema.marks[name]
  if (type === undefined) throw new Error(`the schema has no mark ${name}`)
  return type
}
