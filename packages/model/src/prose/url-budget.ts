import { withContent } from './equal.ts'
import type { FixList, Place } from './fixes.ts'
import type { ProseNode } from './node.ts'

/**
 * Limit on the total characters of URLs in a page. In canonical HTML every run inside a link repeats the target of the link, and a
 * target that Markdown defines once can be used many times. [PROSE-21]
 */
export const maxUrlLength = 8 * 1024 * 1024

/** Returns the nodes without the links and images that exceed this many characters of URLs. */
export function boundUrls(nodes: readonly ProseNode[], most: number, fixes: FixList): readonly ProseNode[] {
  return lengthOf(nodes) <= most ? nodes : new Budget(most, fixes).bounded(nodes, undefined)
}

function lengthOf(nodes: readonly ProseNode[]): number {
  let length = 0
  for (const node of nodes) length += urlOf(node).length + (node.type === 'text' ? 0 : lengthOf(node.content))
  return length
}

/** Returns the counted characters of a node: source and title of an image, or the target of a link, which is the first mark of a text. */
function urlOf(node: ProseNode): string {
  if (node.type === 'text') return node.marks[0]?.attrs['href'] ?? ''
  return node.type === 'image' ? String(node.attrs['src'] ?? '') + String(node.attrs['title'] ?? '') : ''
}

class Budget {
  #left: number
  readonly #fixes: FixList

  constructor(left: number, fixes: FixList) {
    this.#left = left
    this.#fixes = fixes
  }

  bounded(nodes: readonly ProseNode[], parent: Place | undefined): readonly ProseNode[] {
    return nodes.flatMap((node, index): ProseNode | readonly ProseNode[] => {
      this.#left -= urlOf(node).length
      const isOver = this.#left < 0
      if (node.type === 'text') {
        if (!isOver || node.marks[0]?.type !== 'link') return node
        this.#report({ parent, index, name: 'link' }, 'href')
        return { ...node, marks: node.marks.slice(1) }
      }
      const place: Place = { parent, index, name: node.type }
      if (node.type !== 'image') return withContent(node, this.bounded(node.content, place))
      if (!isOver) return node
      this.#report(place, 'src')
      return []
    })
  }

  #report(place: Place, field: string): void {
    this.#fixes.add('dropped_invalid', 'the URLs of the page are too long together', place, place.name, field)
  }
}
