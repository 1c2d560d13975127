import type { Located } from '../blocks.ts'
import type { ProseTree } from '../node.ts'

/** The top-level blocks of a page with their paths. */
export function placedOn(tree: ProseTree): readonly Located[] {
  return tree.map((block, index) => ({ path: [index], block }))
}
