import { RelayError } from '@docrelay/client/errors'
import type { RelayUnderTest } from '../relay-under-test.ts'
import { addLosses, type Losses, tally } from './losses.ts'
import { type Confirmed, confirmedNow, holds, openRegister, type Register, setRegister } from './registers.ts'

const PAGE_ID = 'tools'
const NOTE = 'blk-note'
const FIELD = 'mark'
const MOST_ROWS = 6

type Members = Readonly<Record<string, unknown>>

/** The parts of a document that a check reads: everything over REST, a single page in an editor. */
interface Shown {
  readonly page: string
  readonly name?: string
  readonly field?: string | null
}

/** One value in the agent's document. */
interface ShownRegister extends Register {
  /** Reads the value; `undefined` when `shown` does not include it. */
  read(shown: Shown): string | null | undefined
}

/** A document that an agent creates and may delete. It has no id when the creation was never answered. */
interface Created {
  readonly id: string
  readonly register: Register
}

/** An agent that edits one page of one document with tools, one call after another, and sometimes creates or deletes a document. */
export interface ToolAgent {
  readonly docId: string
  readonly registers: readonly ShownRegister[]
  readonly created: readonly Created[]
  /** The highest version that a result contained. */
  readonly version: number
  /** Edits until `running` returns false or a call gets no answer. */
  work(running: () => boolean): Promise<void>
}

/** The page that an agent edits. */
export const AGENT_PAGE = { id: PAGE_ID, name: 'Tools', content: '<p></p>' }

export interface AgentPlan {
  readonly docId: string
  /** A part of the names of everything that the agent writes. */
  readonly mark: string
  readonly random: () => number
  /** Shortest pause between two calls; the longest is twice that. */
  readonly pauseMs: number
}

/** Opens an agent, which first creates a page of its own. */
export async function openToolAgent(relay: RelayUnderTest, plan: AgentPlan): Promise<ToolAgent> {
  const { docId, mark, random, pauseMs } = plan
  const bearer = relay.token({ sub: `agent-${docId}`, role: 'owner' })
  const url = relay.mcpUrl
  let version = 0
  let count = 0
  const call = async (tool: string, args: Members): Promise<Members> => {
    const result = await callTool(url, bearer, tool, args)
    if (args['docId'] === docId) version = Math.max(version, Number(result['serverVersion']))
    return result
  }
  const next = () => `[${mark}.${count++}]`
  const here = { docId, pageId: PAGE_ID }
  const first = next()
  const cells = '<tr><td><p>a</p></td></tr>'.repeat(2)
  await untilAnswered(() =>
    call('set_prose', { ...here, content: `<p id="${NOTE}">${first}</p><table>${cells}</table>`, format: 'html' }),
  )
  await untilAnswered(() => call('set_fields', { docId, fields: [{ name: FIELD, value: first }] }))
  await untilAnswered(() => call('rename_document', { docId, name: first }))

  const note = shownRegister('note', first, ({ page }) => new RegExp(`id="${NOTE}"[^>]*>([^<]*)<`).exec(page)?.[1] ?? null)
  const rows = shownRegister('rows', '2', ({ page }) => String(page.match(/<(?:tr|tablerow)\b/g)?.length ?? 0))
  const field = shownRegister('field', first, (shown) => shown.field)
  const name = shownRegister('name', first, (shown) => shown.name)
  const registers: ShownRegister[] = [note, rows, field, name]
  const blocks: { readonly id: string; readonly register: ShownRegister }[] = []
  const created: Created[] = []

  const setTo = (register: Register, tool: string, args: (value: string) => Members) => {
    const value = next()
    return setRegister(register, value, () => call(tool, { docId, ...args(value) }))
  }
  const actions: readonly (() => Promise<unknown>)[] = [
    () => setTo(note, 'set_prose', (content) => ({ ...here, id: NOTE, content })),
    () => setTo(field, 'set_fields', (value) => ({ fields: [{ name: FIELD, value }] })),
    () => setTo(name, 'rename_document', (value) => ({ name: value })),
    async () => {
      const content = next()
      const register = shownRegister(content, null, ({ page }) => (page.includes(content) ? content : null))
      registers.push(register)
      const insert = () => call('insert_block', { ...here, content, id: NOTE })
      const { blocks: written } = await setRegister(register, content, insert)
      blocks.push({ id: (written as { id: string }[])[0]?.id ?? '', register })
    },
    async () => {
      const block = blocks.shift()
      if (block === undefined) return
      await setRegister(block.register, null, () => call('delete_block', { ...here, id: block.id }))
    },
    async () => {
      const before = Number(rows.sent.at(-1))
      const op = before < MOST_ROWS ? { op: 'addRow', row: 0 } : { op: 'deleteRow', row: 0 }
      const after = before < MOST_ROWS ? before + 1 : before - 1
      await setRegister(rows, String(after), () => call('edit_table', { ...here, ...op }))
    },
    async () => {
      const value = next()
      const { id } = await call('create_document', { name: value })
      created.push({ id: String(id), register: openRegister(`created ${value}`, value) })
    },
    async () => {
      const one = created.find(({ register }) => register.sent.at(-1) !== null)
      if (one === undefined) return
      await setRegister(one.register, null, () => call('delete_document', { docId: one.id }))
    },
  ]
  return {
    docId,
    registers,
    created,
    get version() {
      return version
    },
    async work(running) {
      while (running()) {
        try {
          await actions[Math.floor(random() * actions.length)]?.()
        } catch (error) {
          // A refusal would be a bug of this script. A call without an answer may or may not have taken effect.
          if (error instanceof ToolRefused) throw error
          return
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs * (1 + random())))
      }
    },
  }
}

/** Repeats an idempotent call until it is confirmed, while faults of the store leave it unconfirmed. */
async function untilAnswered(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (!(error instanceof ToolUnconfirmed)) throw error
    }
  }
}

function shownRegister(name: string, before: string | null, read: ShownRegister['read']): ShownRegister {
  return { ...openRegister(name, before), read }
}

/** Everything that the relay had confirmed to an agent at one moment. */
export interface ToolsTold {
  readonly docId: string
  readonly version: number
  readonly registers: readonly Confirmed<ShownRegister>[]
  readonly created: readonly { readonly id: string; readonly confirmed: Confirmed }[]
}

export function toldNow({ docId, version, registers, created }: ToolAgent): ToolsTold {
  return {
    docId,
    version,
    registers: registers.map(confirmedNow),
    created: created.map(({ id, register }) => ({ id, confirmed: confirmedNow(register) })),
  }
}

/** Checks over REST and with a tool that everything confirmed to an agent is there; with `editorPage` also in an editor. */
export async function checkTools(relay: RelayUnderTest, told: ToolsTold, editorPage: string | null): Promise<Losses> {
  const body = (await relay.rest().getDocument(told.docId)) as {
    readonly name: string
    readonly richTextPages: readonly { readonly id: string; readonly content: string }[]
    readonly fields?: { readonly fields: Readonly<Record<string, { readonly value: string }>> }
  }
  const overRest: Shown = {
    page: body.richTextPages.find(({ id }) => id === PAGE_ID)?.content ?? '',
    name: body.name,
    field: body.fields?.fields[FIELD]?.value ?? null,
  }
  const everywhere = editorPage === null ? [overRest] : [overRest, { page: editorPage }]
  const lost = told.registers.filter((confirmed) =>
    everywhere.some((shown) => {
      const value = confirmed.register.read(shown)
      return value !== undefined && !holds(confirmed, value)
    }),
  )
  for (const { register, answered } of lost)
    console.log(`${told.docId}: ${register.name} is not ${register.sent.slice(answered - 1).join(' or ')}`)
  const bearer = relay.token({ sub: 'reader', role: 'owner' })
  const { serverVersion } = await callTool(relay.mcpUrl, bearer, 'get_document', { docId: told.docId })
  const isOlder = Number(serverVersion) < told.version
  if (isOlder) console.log(`${told.docId}: version ${told.version} was told and it is at ${serverVersion}`)
  const created = await Promise.all(told.created.map((one) => checkCreated(relay, one)))
  const here = tally('tools', told.registers.length + 1, lost.length + (isOlder ? 1 : 0))
  return created.reduce(addLosses, here)
}

async function checkCreated(relay: RelayUnderTest, { id, confirmed }: ToolsTold['created'][number]): Promise<Losses> {
  const stored = await relay
    .rest()
    .getDocument(id)
    .catch((error: unknown) => {
      if (error instanceof RelayError && error.status === 404) return null
      throw error
    })
  const isThere = holds(confirmed, stored === null ? null : String(stored['name']))
  if (!isThere) console.log(`${confirmed.register.name} (${id}) is ${stored === null ? 'not there' : String(stored['name'])}`)
  return tally('tools', 1, isThere ? 0 : 1)
}

/** Thrown when a tool answers ERR_STORE_UNAVAILABLE: the write may or may not have been done. */
class ToolUnconfirmed extends Error {}
class ToolRefused extends Error {}

/** Returns the result of a tool. Rejects with `ToolRefused` for a failure, and with another error when there was no answer. */
async function callTool(url: string, bearer: string, tool: string, args: Members): Promise<Members> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `service_${tool}`, arguments: args } }),
  })
  const text = await answer.text()
  const { result } = JSON.parse(text) as { readonly result?: { readonly isError: boolean; readonly structuredContent: Members } }
  if (text.includes('"code":"ERR_STORE_UNAVAILABLE"')) throw new ToolUnconfirmed(`${tool} may have been done or not`)
  if (result === undefined || result.isError) throw new ToolRefused(`${tool} was answered ${text.slice(0, 400)}`)
  return result.structuredContent
}
