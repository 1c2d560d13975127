import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { TOOL_NAMES } from '../mcp/tools/all-tools.ts'

type Members = Readonly<Record<string, unknown>>

export interface AgentAnswer {
  readonly isError: boolean
  /** The `structuredContent`. */
  readonly result: Members & { readonly code?: string; readonly serverVersion?: number }
}

/** An agent that speaks bare JSON-RPC and holds each answer to the schema of its tool. [TOOL-5, TOOL-7, TOOL-8] */
export interface McpAgent {
  readonly tools: readonly Members[]
  /** The result of a tool, without the prefix of its name; fails the test when it is a failure. */
  call(tool: string, args?: Members): Promise<AgentAnswer['result']>
  /** The failure of a tool; fails the test when it is a success. */
  refused(tool: string, args?: Members): Promise<AgentAnswer['result']>
  answer(tool: string, args?: Members): Promise<AgentAnswer>
}

const TOOL_NAME = new RegExp(`(?<![\\w-])(${[...TOOL_NAMES].filter((name) => name.includes('_')).join('|')})(?!\\w)`, 'g')

/** Tools that the sentences of an answer call by a name that is not in the list. [TOOL-8] */
function namedWithoutPrefix({ message, fixes, warnings }: AgentAnswer['result']): readonly string[] {
  const notes = [fixes, warnings].flatMap((list) => (list ?? []) as readonly { readonly reason?: string }[])
  const sentences = [message, ...notes.map(({ reason }) => reason)].filter((text) => typeof text === 'string')
  return sentences.flatMap((text) => text.match(TOOL_NAME) ?? [])
}

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
const validators = new Map<string, ValidateFunction>()

/** Schemas are compiled when a tool is first called, and once for all agents of a file: that takes a millisecond or two each. */
export function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema)
  const validate = validators.get(text) ?? ajv.compile(schema)
  validators.set(text, validate)
  return validate
}

/** `search`: of the address, such as `?readonly=1`. */
export async function mcpAgent(url: string, bearer: string, search = ''): Promise<McpAgent> {
  let id = 0
  const post = async (method: string, params: Members): Promise<Members> => {
    const answer = await fetch(url + search, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
    })
    const message = (await answer.json()) as { readonly result?: Members; readonly error?: unknown }
    if (message.result === undefined) throw new Error(`${method} was answered ${JSON.stringify(message.error)}`)
    return message.result
  }
  const { tools } = (await post('tools/list', {})) as { readonly tools: readonly Members[] }
  const schemas = new Map(tools.map(({ name, outputSchema }) => [String(name), outputSchema as object]))
  const validatorsOfTools = new Map<string, ValidateFunction>()
  /** Found by the text of its schema once for each tool: some schemas are long. */
  const validatorOfTool = (name: string): ValidateFunction | undefined => {
    const schema = schemas.get(name)
    const validate = validatorsOfTools.get(name) ?? (schema && validatorOf(schema))
    if (validate !== undefined) validatorsOfTools.set(name, validate)
    return validate
  }

  async function answer(tool: string, args: Members = {}): Promise<AgentAnswer> {
    const name = `service_${tool}`
    const { content, structuredContent, isError } = await post('tools/call', { name, arguments: args })
    const result = structuredContent as AgentAnswer['result']
    const validate = validatorOfTool(name)
    if (validate !== undefined) expect(validate(result), `${tool}: ${ajv.errorsText(validate.errors)}`).toBe(true)
    const text = isError === true ? `${result.code ?? ''}: ${String(result['message'])}` : JSON.stringify(result)
    expect(content).toEqual([{ type: 'text', text }])
    expect(namedWithoutPrefix(result), `${tool} names tools as they cannot be called`).toEqual([])
    return { isError: isError === true, result }
  }

  return {
    tools,
    answer,
    async call(tool, args) {
      const { isError, result } = await answer(tool, args)
      if (isError) throw new Error(`${tool} was refused: ${JSON.stringify(result)}`)
      return result
    },
    async refused(tool, args) {
      const { isError, result } = await answer(tool, args)
      if (!isError) throw new Error(`${tool} was not refused: ${JSON.stringify(result)}`)
      return result
    },
  }
}
