import { readStoredBody } from '@docrelay/model/body-parse'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { project } from '../../../sync/binding/binding-project.ts'
import { type RelayUnderTest, saved } from '../../relay-under-test.ts'
import { post } from './mcp-post.ts'

/** A page in the views of everybody who can read it. */
export interface Views {
  /** For each editor: its live nodes, and their HTML. */
  readonly editors: readonly { readonly nodes: string; readonly html: string }[]
  readonly rest: string
  readonly getProse: string
}

export interface Looking {
  readonly docId: string
  readonly pageId: string
}

export async function viewsOf(relay: RelayUnderTest, clients: readonly SyncClient[], { docId, pageId }: Looking): Promise<Views> {
  const stored = await relay.rest().getDocument(docId)
  const body = readStoredBody(Buffer.from(JSON.stringify(stored)))
  const contentIn = ({ prose }: typeof body) => prose.pages.find(({ id }) => id === pageId)?.content ?? ''
  return {
    editors: clients.map(({ doc }) => ({
      nodes: doc.getXmlFragment(`prose:${pageId}`).toString(),
      html: contentIn(project(doc, body)),
    })),
    rest: contentIn(body),
    getProse: await proseOf(relay, { docId, pageId }),
  }
}

/** Returns the page from get_prose; a long page is read part by part. */
async function proseOf(relay: RelayUnderTest, { docId, pageId }: Looking): Promise<string> {
  const bearer = relay.token({ sub: 'reader', role: 'owner' })
  let all = ''
  for (let cursor: unknown; ; ) {
    const args = { docId, pageId, limit: 1_000, ...(cursor !== undefined && { cursor }) }
    const { result } = await post({ url: () => relay.mcpUrl, bearer, tool: 'get_prose', args })
    all += String((result['page'] as { readonly content?: unknown } | undefined)?.content)
    cursor = result['nextCursor']
    if (typeof cursor !== 'string') return all
  }
}

/** Returns the views after a new client has opened the document. */
export async function freshView(relay: RelayUnderTest, at: Looking): Promise<Views> {
  const client = relay.sync(at.docId, { sub: 'newcomer' })
  await saved(client)
  const views = await viewsOf(relay, [client], at)
  client.destroy()
  return views
}

/** Returns the differences among the views of one page; empty when all are equal. [AG-103] */
export function differences(views: Views): readonly string[] {
  const { editors, rest, getProse } = views
  const [first] = editors
  return [
    ...editors.flatMap(({ nodes }, i) =>
      nodes === first?.nodes ? [] : [`the nodes of editor ${i} differ from those of editor 0`],
    ),
    ...editors.flatMap(({ html }, i) => (html === rest ? [] : [`editor ${i} differs from REST`])),
    ...(getProse === rest ? [] : ['get_prose differs from REST']),
  ]
}
