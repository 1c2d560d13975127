import type { ProseNode } from './node.ts'

/** Returns the beginning of the text of nodes, long enough to tell blocks apart. */
export function shortText(nodes: readonly ProseNode[]): string {
  let text = ''
  for (const node of nodes) {
    if (text.length > 400) break
    text += node.type === 'text' ? node.text.slice(0, 400) : shortText(node.content)
  }
  return text
}

/** Returns the share of two texts that is common to their starts and ends, from 0 to 1. */
export function textLikeness(left: string, right: string): number {
  const [most, length] = [Math.min(left.length, right.length), Math.max(left.length, right.length)]
  if (length === 0) return 0.5
  let prefix = 0
  while (prefix < most && left[prefix] === right[prefix]) prefix++
  let suffix = 0
  while (suffix < most - prefix && left.at(-1 - suffix) === right.at(-1 - suffix)) suffix++
  return (prefix + suffix) / length
}
