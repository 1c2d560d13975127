import type { LiveDocument } from '@docrelay/client'

export interface Heading {
  /** 1 to 6 */
  readonly level: number
  readonly text: string
}

/** A node of a prose page, as far as headings need it: an element or a text. */
interface ProseNode {
  readonly nodeName?: string
  readonly getAttribute?: (name: string) => unknown
  readonly toArray?: () => unknown[]
  readonly toDelta?: () => { readonly insert?: unknown }[]
}

/** Returns the headings of a prose page in their order, also those inside of quotes and cells. */
export function headingsOf(fragment: ReturnType<LiveDocument['ydoc']['getXmlFragment']>): readonly Heading[] {
  return childrenOf(fragment as unknown as ProseNode).flatMap(headingsIn)
}

function headingsIn(node: ProseNode): readonly Heading[] {
  if (node.nodeName !== 'heading') return childrenOf(node).flatMap(headingsIn)
  const level = Number(node.getAttribute?.('level') ?? 1)
  return [{ level: Math.min(6, Math.max(1, Number.isInteger(level) ? level : 1)), text: textIn(node).trim() || '…' }]
}

function textIn(node: ProseNode): string {
  if (node.toDelta !== undefined && node.nodeName === undefined)
    return node
      .toDelta()
      .map(({ insert }) => (typeof insert === 'string' ? insert : ''))
      .join('')
  return childrenOf(node).map(textIn).join('')
}

function childrenOf(node: ProseNode): readonly ProseNode[] {
  return (node.toArray?.() ?? []) as readonly ProseNode[]
}
