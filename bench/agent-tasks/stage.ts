import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import { platform } from '@docrelay/client/environment'
import * as Y from 'yjs'

export type Members = Readonly<Record<string, unknown>>

/** Where the tasks are played: any relay, with tokens of two members of one workspace. */
export interface Endpoint {
  readonly baseUrl: string
  readonly mcpUrl: string
  readonly tokens: readonly [agent: string, person: string]
}

export interface Stored {
  readonly pages: readonly { readonly id: string; readonly shapes: readonly (Members & { readonly id: string })[] }[]
  readonly richTextPages: readonly {
    readonly id: string
    readonly name: string
    readonly order?: number
    readonly content: string
  }[]
}

/** Calls and bytes that an agent used. */
export interface Used {
  calls: number
  sent: number
  answered: number
}

export interface Agent {
  /** The result of a tool; rejects when the call is refused. */
  call(tool: string, args: Members): Promise<Members>
  /** The failure of a tool; rejects when the call succeeds. */
  refused(tool: string, args: Members): Promise<Members>
  /** As `call`, for what the agent knows from before the task: it is not counted. */
  before(tool: string, args: Members): Promise<Members>
  readonly used: Used
}

/** One task's document, with the agent and two people who type in it all the time. */
export interface Stage {
  readonly docId: string
  readonly agent: Agent
  /** Somebody else's agent; what it uses is not counted. */
  readonly other: Agent
  /** The person's copy of the document. */
  readonly person: SyncClient
  /** The copy of the other person, who sees what the relay has passed on. */
  readonly onlooker: SyncClient
  stored(docId?: string): Promise<Stored>
  /** Creates one more document. */
  put(docId: string, body: Members): Promise<void>
  /** Waits until everything that the person wrote is durable. */
  saved(): Promise<void>
}

export interface Task {
  readonly number: number
  readonly name: string
  /** Bounds of AG-104: calls, and bytes of arguments and of answers. */
  readonly most: Used
  readonly document: Members
  /** How often it is played, each time on a document of its own. One time when absent. */
  readonly times?: number
  /** Plays the task and checks what is stored; rejects when it did not succeed. */
  play(stage: Stage): Promise<void>
}

export const most = (calls: number, sentKb: number, answeredKb: number): Used => ({
  calls,
  sent: sentKb * 1_000,
  answered: answeredKb * 1_000,
})

export function assert(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new Error(claim)
}

/** The text nodes of a page below its top level, in document order. */
export function textsOf(doc: Y.Doc, pageId: string): readonly Y.XmlText[] {
  const below = (node: Y.XmlFragment | Y.XmlElement): Y.XmlText[] =>
    node.toArray().flatMap((child) => (child instanceof Y.XmlText ? [child] : child instanceof Y.XmlElement ? below(child) : []))
  return below(doc.getXmlFragment(`prose:${pageId}`))
}

/** Connects an agent by the official client. Refused calls count, too. */
async function openAgent(endpoint: Endpoint, docId: string): Promise<Agent & AsyncDisposable> {
  const client = new Client({ name: 'agent-tasks', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${endpoint.tokens[0]}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint.mcpUrl), { requestInit }))
  const used: Used = { calls: 0, sent: 0, answered: 0 }
  async function send(tool: string, given: Members, counts: boolean) {
    const args = tool === 'search' ? given : { docId, ...given }
    const answer = await client.callTool({ name: `service_${tool}`, arguments: args })
    const [text] = answer.content as readonly { readonly text?: string }[]
    if (counts) {
      used.calls++
      used.sent += Buffer.byteLength(JSON.stringify(args))
      used.answered += Buffer.byteLength(text?.text ?? '')
    }
    return { isError: answer.isError === true, result: answer.structuredContent as Members, text: text?.text ?? '' }
  }
  const succeed = async (tool: string, args: Members, counts: boolean): Promise<Members> => {
    const { isError, result, text } = await send(tool, args, counts)
    assert(!isError, `${tool} was refused: ${text.slice(0, 300)}`)
    return result
  }
  return {
    used,
    call: (tool, args) => succeed(tool, args, true),
    before: (tool, args) => succeed(tool, args, false),
    async refused(tool, args) {
      const { isError, result, text } = await send(tool, args, true)
      assert(isError, `${tool} was not refused: ${text.slice(0, 300)}`)
      return result
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** How long one of the two people rests between two characters. */
const KEYSTROKE_MS = 200

/** Opens a task's document. The two people type into a page of their own, `diary`, unless the task makes them type elsewhere. */
export async function openStage(endpoint: Endpoint, docId: string, document: Members): Promise<Stage & AsyncDisposable> {
  const rest = new RelayClient({ baseUrl: endpoint.baseUrl, token: () => endpoint.tokens[1], environment: platform })
  const put = async (id: string, body: Members): Promise<void> => {
    const pages = [
      ...((body['richTextPages'] ?? []) as readonly Members[]),
      { id: 'diary', name: 'Diary', content: '<p>Day</p>' },
    ]
    await rest.putDocument(id, { pages: [], ...body, richTextPages: pages })
  }
  await put(docId, document)
  await using stack = new AsyncDisposableStack()
  const agent = stack.use(await openAgent(endpoint, docId))
  const other = stack.use(await openAgent(endpoint, docId))
  const people = [0, 1].map(() => {
    const url = `${endpoint.baseUrl.replace('http', 'ws')}/ws`
    const client = new SyncClient({ url, docId, doc: new Y.Doc(), token: () => endpoint.tokens[1] })
    client.connect()
    stack.defer(() => client.destroy())
    return client
  })
  const [person, onlooker] = people as [SyncClient, SyncClient]
  const saved = () => untilTrue(() => person.state.synced && person.state.saved === 'saved')
  await untilTrue(() => people.every(({ state }) => state.synced))
  const timers = people.map(({ doc }) =>
    setInterval(() => {
      const text = textsOf(doc, 'diary')[0]
      text?.insert(text.length, 'x')
    }, KEYSTROKE_MS),
  )
  stack.defer(() => timers.forEach(clearInterval))
  const opened = stack.move()
  return {
    docId,
    agent,
    other,
    person,
    onlooker,
    put,
    saved,
    stored: async (id = docId) => (await rest.getDocument(id)) as unknown as Stored,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export async function untilTrue(holds: () => boolean): Promise<void> {
  const end = performance.now() + 20_000
  while (!holds()) {
    assert(performance.now() < end, 'a condition did not hold within 20 s')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The content of a page of the stored document. */
export function contentOf({ richTextPages }: Stored, pageId = 'p'): string {
  return richTextPages.find(({ id }) => id === pageId)?.content ?? ''
}
