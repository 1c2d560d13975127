import type { Warning } from '../edit.ts'
import { quote } from '../quote.ts'
import { readCanonical } from './html.ts'
import type { ProseNode, ProseTree } from './node.ts'

/** Matches an attribute of a tag with its value, since a value may contain text that looks like another attribute. */
const ATTRIBUTE = / ([a-z-]+)(?:="[^"]*")?/g
const TAG = /<[a-z][^<>]*>/g

/**
 * Whether content without a format is HTML: the text is its own canonical HTML. Ids and handles do not count, since reads print them in several ways.
 * [AG-35, PROSE-6]
 */
export function isOwnHtml(text: string): boolean {
  if (!text.startsWith('<') || !text.endsWith('>')) return false
  return readCanonical(text.replace(TAG, withoutNames)) !== null
}

function withoutNames(tag: string): string {
  return tag.replace(ATTRIBUTE, (attribute, name: string) => (name === 'id' || name === 'data-handle' ? '' : attribute))
}

/** Matches a field, bold text or a formula in Markdown. */
const MARKDOWN = /\{\{[^{}\n]+\}\}|\*\*|\$[^\s\d$](?:[^$\n]*[^\s$])?\$/

/** Warns when content that was read as HTML has Markdown in its text, which HTML keeps literally. [AG-35] */
export function markdownInHtml(tree: ProseTree): readonly Warning[] {
  const found = firstMarkdown(tree)
  if (found === undefined) return []
  return [
    { reason: `the content was read as HTML, which keeps Markdown such as "${quote(found)}" as it is; give format for Markdown` },
  ]
}

function firstMarkdown(nodes: readonly ProseNode[]): string | undefined {
  for (const node of nodes) {
    const found =
      node.type !== 'text'
        ? node.type === 'codeBlock'
          ? undefined
          : firstMarkdown(node.content)
        : node.marks.some(({ type }) => type === 'code')
          ? undefined
          : MARKDOWN.exec(node.text)?.[0]
    if (found !== undefined) return found
  }
  return undefined
}
