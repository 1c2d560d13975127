import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ABILITIES, ANSWER_SIGN, type AskedLine, openPoints, openPointsAnswer, readOrder, unansweredLines } from './orders.ts'

/** The document that the agent watches, and its credentials. */
export interface AgentPlace {
  readonly mcpUrl: string
  readonly bearer: string
  readonly docId: string
}

export interface ScriptedAgent {
  /** Resolves when the agent has stopped, after `close` or because the document was deleted. Rejects when the relay refuses the agent. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

interface Page {
  readonly id: string
  readonly content: string
}

interface Prose {
  readonly pages: readonly Page[]
  readonly serverVersion: number
}

/** How long a call waits for the next change. Shorter than the 50 s that the tool allows, so that a stop is noticed soon. */
const WAIT_SECS = 25
/** How long a line must stay unchanged before the agent answers that it does not understand it. */
const SETTLE_SECS = 4
/** Codes after which the same call may succeed, because somebody changed the block meanwhile. */
const CHANGED = ['ERR_BLOCK_CHANGED', 'ERR_ID_NOT_FOUND', 'ERR_VERSION_CONFLICT']

/** A call that the relay refused, with the code of the refusal. */
class RefusedCall extends Error {
  readonly code: string

  constructor(tool: string, code: string, message: string) {
    super(`${tool} was refused: ${message}`)
    this.code = code
  }
}

/**
 * Starts an agent that answers the lines of a document that begin with `@agent`. It is a script without a model. It talks to the relay over MCP,
 * as any agent does, so people see its presence and its edits, and can undo them. Resolves when it is connected.
 */
export async function startScriptedAgent({ mcpUrl, bearer, docId }: AgentPlace): Promise<ScriptedAgent> {
  const client = new Client({ name: 'agent', title: 'Agent', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }))
  const closing = new AbortController()
  const { signal } = closing

  async function call<R>(tool: string, args: Record<string, unknown>): Promise<R> {
    const request = { name: `service_${tool}`, arguments: { docId, ...args } }
    const { isError, structuredContent } = await client.callTool(request, { signal, timeout: 60_000 })
    if (isError !== true) return structuredContent as R
    const { code = '', message = '' } = (structuredContent ?? {}) as { readonly code?: string; readonly message?: string }
    throw new RefusedCall(tool, code, message)
  }

  const work = async (): Promise<void> => {
    try {
      await watch(call, signal)
    } catch (error) {
      const isOver = signal.aborted || (error instanceof RefusedCall && error.code === 'ERR_DOC_NOT_FOUND')
      if (!isOver) throw error
    } finally {
      await client.close()
    }
  }
  const ended = work()
  return {
    ended,
    async close() {
      closing.abort()
      await ended.catch(() => undefined)
    },
  }
}

type Call = <R>(tool: string, args: Record<string, unknown>) => Promise<R>

/** Reads all prose pages, answers, and waits for the next change, until it is stopped. */
async function watch(call: Call, signal: AbortSignal): Promise<void> {
  // Lines answered in this run. Without it, the agent would repeat an answer that somebody has undone.
  const answered = new Set<string>()
  let unclear: ReadonlySet<string> = new Set()
  while (!signal.aborted) {
    const prose = await call<Prose>('get_prose', { format: 'markdown', ids: true })
    const seen = new Set<string>()
    for (const page of prose.pages) {
      for (const line of unansweredLines(page.content).filter(({ blockId }) => !answered.has(blockId))) {
        // An unclear line may still be half typed, so it is answered only when it stays the same. The stamp in the id changes with the words.
        const isUnclear = readOrder(line.words).kind === 'unknown' && !unclear.has(line.blockId)
        if (isUnclear) seen.add(line.blockId)
        else if (await answer(call, { page, line, prose })) answered.add(line.blockId)
      }
    }
    unclear = seen
    await call('wait_for_change', { timeoutSecs: seen.size > 0 ? SETTLE_SECS : WAIT_SECS })
  }
}

interface Asked {
  readonly page: Page
  readonly line: AskedLine
  readonly prose: Prose
}

/**
 * Does what a line asks for and writes the answer below it. Both happen in one edit, so one undo takes both back. Returns false when somebody
 * changed the line meanwhile; the line is then read again.
 */
async function answer(call: Call, { page, line, prose }: Asked): Promise<boolean> {
  const { content, before } = await answerTo(call, { page, line, prose })
  const pageId = page.id
  const write: Step = {
    tool: 'insert_block',
    arguments: { pageId, id: line.blockId, side: 'after', outside: line.isItem, content },
  }
  // A block without an id is named by its position, which is valid for one version only.
  const version = line.blockId.startsWith('@') ? { expectedVersion: prose.serverVersion } : {}
  try {
    await call('edit_document', { steps: [...before, write], ...version })
    return true
  } catch (error) {
    if (error instanceof RefusedCall && CHANGED.includes(error.code)) return false
    throw error
  }
}

/** One of several writes that are done in one call. */
interface Step {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
}

interface Answer {
  readonly content: string
  /** The writes that are done before the answer is written. */
  readonly before: readonly Step[]
}

async function answerTo(call: Call, { page, line, prose }: Asked): Promise<Answer> {
  const order = readOrder(line.words)
  switch (order.kind) {
    case 'list-open-points':
      return { content: openPointsAnswer(prose.pages.flatMap(({ content }) => openPoints(content))), before: [] }
    case 'add-row':
      return newRow(call, page.id, order.values)
    case 'unknown':
      return { content: ABILITIES, before: [] }
  }
}

interface Table {
  readonly rows: number
  readonly cols: number
}

/** Writes a row at the end of the first table of a page. Values beyond its columns are dropped. */
async function newRow(call: Call, pageId: string, values: readonly string[]): Promise<Answer> {
  try {
    const { table } = await call<{ readonly table: Table }>('get_table', { pageId, tableIndex: 0 })
    const cells = values.length === 0 ? ['New row'] : values.slice(0, table.cols)
    const row = { pageId, tableIndex: 0, op: 'addRow', row: table.rows - 1, side: 'after', values: cells }
    return { content: `${ANSWER_SIGN} The table has a new row.`, before: [{ tool: 'edit_table', arguments: row }] }
  } catch (error) {
    if (!(error instanceof RefusedCall) || error.code !== 'ERR_TABLE_NOT_FOUND') throw error
    return { content: `${ANSWER_SIGN} There is no table on this page.`, before: [] }
  }
}
