import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The page that an agent edits, and its credentials. */
export interface AgentPlace {
  readonly url: string
  readonly bearer: string
  readonly docId: string
  readonly pageId: string
}

export interface CountingAgent {
  /** Counts the words of the page again and writes the sentence. Returns the sentence and its version. */
  count(): Promise<{ readonly sentence: string; readonly serverVersion: number }>
  close(): Promise<void>
}

/**
 * Starts an agent that adds its own section to the page. The agent edits by block id and without `expectedVersion`, so edits elsewhere are
 * no conflict.
 */
export async function startAgent({ url, bearer, docId, pageId }: AgentPlace): Promise<CountingAgent> {
  const client = new Client({ name: 'word-counter', title: 'Word counter', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))

  async function call<R>(tool: string, args: object): Promise<R> {
    const { isError, structuredContent } = await client.callTool({
      name: `service_${tool}`,
      arguments: { docId, pageId, ...args },
    })
    if (isError) throw new Error(`the agent's ${tool} was refused: ${JSON.stringify(structuredContent)}`)
    return structuredContent as R
  }

  const body = 'Not counted yet.'
  const { blocks } = await call<{ readonly blocks: readonly { readonly id: string; readonly text: string }[] }>(
    'insert_section',
    {
      ...{ level: 3, title: 'Counted by an agent', body, position: 'start' },
    },
  )
  const id = blocks.find(({ text }) => text === body)?.id

  return {
    async count() {
      const { page } = await call<{ readonly page: { readonly content: string } }>('get_prose', { format: 'markdown' })
      const sentence = `${page.content.split(/\s+/).length} words at ${new Date().toISOString()}.`
      const { serverVersion } = await call<{ readonly serverVersion: number }>('set_prose', { id, content: sentence })
      return { sentence, serverVersion }
    },
    close: () => client.close(),
  }
}
