import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The page that an agent edits, and its credentials. */
export interface AgentPlace {
  readonly url: string
  readonly bearer: string
  readonly docId: string
  readonly pageId: string
}

interface Written {
  /** The blocks that the call wrote; each id has a stamp of the content. */
  readonly blocks: readonly { readonly id: string; readonly text: string }[]
  readonly serverVersion: number
}

export interface CountingAgent {
  /** Counts the words of the page again and writes the sentence. Returns the sentence and the new version. */
  count(): Promise<{ readonly sentence: string; readonly serverVersion: number }>
  close(): Promise<void>
}

/**
 * Starts an agent that adds its own section to the page. The agent refers to its sentence by the stamped id of the last answer. So edits
 * elsewhere are no conflict, and words that somebody writes into the sentence are never replaced.
 */
export async function startAgent({ url, bearer, docId, pageId }: AgentPlace): Promise<CountingAgent> {
  const client = new Client({ name: 'word-counter', title: 'Word counter', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))

  const send = (tool: string, args: object) => client.callTool({ name: `service_${tool}`, arguments: { docId, pageId, ...args } })
  async function call<R>(tool: string, args: object): Promise<R> {
    const { isError, structuredContent } = await send(tool, args)
    if (isError) throw new Error(`the agent's ${tool} was refused: ${JSON.stringify(structuredContent)}`)
    return structuredContent as R
  }

  const body = 'Not counted yet.'
  const section = { level: 3, title: 'Counted by an agent', body, position: 'start' }
  const { blocks } = await call<Written>('insert_section', section)
  let id = blocks.find(({ text }) => text === body)?.id

  return {
    async count() {
      const { page } = await call<{ readonly page: { readonly content: string } }>('get_prose', { format: 'markdown' })
      const sentence = `${page.content.split(/\s+/).length} words at ${new Date().toISOString()}.`
      const { isError, structuredContent } = await send('set_prose', { id, content: sentence })
      const refused = structuredContent as { readonly code?: string; readonly current?: { readonly id: string } }
      if (isError && refused.code !== 'ERR_BLOCK_CHANGED') throw new Error(`set_prose was refused: ${refused.code}`)
      // When somebody wrote into the sentence, it stays, and the next sentence is written below it.
      const written =
        refused.code === 'ERR_BLOCK_CHANGED'
          ? await call<Written>('insert_block', { id: refused.current?.id, content: sentence })
          : (structuredContent as unknown as Written)
      id = written.blocks[0]?.id
      return { sentence, serverVersion: written.serverVersion }
    },
    close: () => client.close(),
  }
}
