import * as Y from 'yjs'

/** The text of a live page, without marks and atoms. */
export function textOfNode(node: Y.XmlFragment | Y.XmlElement): string {
  return node
    .toArray()
    .map((child) => {
      if (child instanceof Y.XmlText)
        return child
          .toDelta()
          .map(({ insert }: { insert: unknown }) => (typeof insert === 'string' ? insert : ''))
          .join('')
      return child instanceof Y.XmlElement ? textOfNode(child) : ''
    })
    .join('')
}

/** The text of a page as returned by REST. */
export function textOfHtml(html: string): string {
  const text = html.replace(/<[^>]*>/g, '')
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&nbsp;', '\u00a0')
    .replaceAll('&amp;', '&')
}
