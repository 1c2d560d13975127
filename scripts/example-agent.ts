import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** Where an agent works, and what opens the endpoint for it. */
export interface AgentPlace {
  readonly url: string
  readonly bearer: string
  readonly docId: string
  readonly pageId: string
}

export interface CountingAgent {
  /** Counts the words of the page anew and writes the sentence, which is returned with its version. */
  count(): Promise<{ readonly sentence: string; readonly serverVersion: number }>
  close(): Promise<void>
}

/** Adds a section of its own to the page. It edits by block id and without `expectedVersion`: what others type elsewhere is no conflict. */
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
