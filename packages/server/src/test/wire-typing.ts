import * as Y from 'yjs'
import type { WireClient } from './wire-client.ts'

/** Types at the end of a block of a prose page. Resolves when the words are durable. */
export function type(client: WireClient, { pageId }: { readonly pageId: string }, id: string, words: string): Promise<void> {
  return client.write(
    client.edit(() => {
      const text = blockOf(client, pageId, id).toArray()[0] as Y.XmlText
      text.insert(text.length, words)
    }),
  )
}

function blockOf(client: WireClient, pageId: string, id: string): Y.XmlElement {
  for (const node of client.doc.getXmlFragment(`prose:${pageId}`).createTreeWalker(() => true))
    if (node instanceof Y.XmlElement && node.getAttribute('id') === id) return node
  throw new Error(`there is no block ${id}`)
}
