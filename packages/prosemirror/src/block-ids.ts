import type { Node } from 'prosemirror-model'
import { Plugin, type Transaction } from 'prosemirror-state'
import { ySyncPluginKey } from 'y-prosemirror'

/**
 * Keeps the ids of blocks unique while a person edits. Two blocks may get one id, for example by Enter at the start of a paragraph. Then the
 * block with content keeps the id, or else the block that had it before; the other block has none until the relay gives it one. [PROSE-43,
 * PROSE-44] Edits of others are not corrected, so that two editors never correct the same block.
 */
export function blockIds(): Plugin {
  return new Plugin({
    appendTransaction(transactions, before, { doc, tr }) {
      if (!transactions.some((each) => isOwn(each) && addsBlocks(each))) return null
      const blocks = new Map<string, { readonly node: Node; readonly at: number }[]>()
      doc.descendants((node, at) => {
        const id: unknown = node.attrs['id']
        if (typeof id === 'string') blocks.set(id, [...(blocks.get(id) ?? []), { node, at }])
        return !node.isTextblock
      })
      const twice = [...blocks].filter(([, found]) => found.length > 1)
      if (twice.length === 0) return null
      const places = placesOf(before.doc, transactions)
      for (const [id, found] of twice) {
        const filled = found.filter(({ node }) => node.content.size > 0)
        const candidates = filled.length > 0 ? filled : found
        const keeper = candidates.find(({ at }) => at === places.get(id)) ?? candidates[0]
        for (const each of found) if (each !== keeper) tr.setNodeAttribute(each.at, 'id', null)
      }
      return tr
    },
  })
}

function isOwn(transaction: Transaction): boolean {
  const sync = transaction.getMeta(ySyncPluginKey) as { readonly isChangeOrigin?: boolean } | undefined
  return transaction.docChanged && sync?.isChangeOrigin !== true
}

/** Whether a transaction adds blocks, whole or in part. Only such a step can duplicate an id; typing adds text only. */
function addsBlocks({ steps }: Transaction): boolean {
  return steps.some((step) => {
    const { slice } = step as { slice?: { readonly content: { readonly firstChild: Node | null } } }
    return slice?.content.firstChild?.isBlock === true
  })
}

/** Returns the present positions of the blocks of the earlier page, by id. */
function placesOf(doc: Node, transactions: readonly Transaction[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  doc.descendants((node, position) => {
    const id: unknown = node.attrs['id']
    if (typeof id === 'string')
      places.set(
        id,
        transactions.reduce((at, { mapping }) => mapping.map(at), position),
      )
    return !node.isTextblock
  })
  return places
}
