import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { TOOL_NAMES } from '../mcp/tools/all-tools.ts'

type Members = Readonly<Record<string, unknown>>

export interface AgentAnswer {
  readonly isError: boolean
  /** The `structuredContent` of the answer. */
  readonly result: Members & { readonly code?: string; readonly serverVersion?: number }
}

/** An agent that sends bare JSON-RPC and checks each answer against the schema of its tool. [TOOL-5, TOOL-7, TOOL-8] */
export interface McpAgent {
  readonly tools: readonly Members[]
  /** Calls a tool, by its name without prefix, and returns its result. Fails the test when the tool fails. */
  call(tool: string, args?: Members): Promise<AgentAnswer['result']>
  /** Calls a tool and returns its failure. Fails the test when the tool succeeds. */
  refused(tool: string, args?: Members): Promise<AgentAnswer['result']>
  answer(tool: string, args?: Members): Promise<AgentAnswer>
}

const TOOL_NAME = new RegExp(`(?<![\\w-])(${[...TOOL_NAMES].filter((name) => name.includes('_')).join('|')})(?!\\w)`, 'g')

/** Returns the tools that the sentences of an answer name without their prefix, so that the name is not in the list. [TOOL-8] */
function namedWithoutPrefix({ message, fixes, warnings }: AgentAnswer['result']): readonly string[] {
  const notes = [fixes, warnings].flatMap((list) => (list ?? []) as readonly { readonly reason?: string }[])
  const sentences = [message, ...notes.map(({ reason }) => reason)].filter((text) => typeof text === 'string')
  return sentences.flatMap((text) => text.match(TOOL_NAME) ?? [])
}

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
const validators = new Map<string, ValidateFunction>()

/** Returns the validator of a schema. Compiled once per schema for all agents of a file, since that takes a millisecond or two. */
export function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema)
  const validate = validators.get(text) ?? ajv.compile(schema)
  validators.set(text, validate)
  return validate
}

/** Connects an agent. `search` is the query of the address, for example `?readonly=1`. */
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
  /** Looks the validator up once per tool, because some schemas are long texts. */
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
