import { setTimeout as sleep } from 'node:timers/promises'
import { type InputRounds, requireCapability } from '../input-rounds.ts'
import { own } from '../json-rpc.ts'
import type { RequestContext } from '../methods.ts'
import { type JsonObject, TOOLSETS, type ToolServer } from '../tool.ts'
import { type Fixture, inputTools } from './conformance-inputs.ts'
import { embedded, IMAGE, question, text, WAV } from './conformance-samples.ts'

const STEP_MS = 50
const NO_ARGUMENTS = { type: 'object', properties: {} } as const
const textArgument = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }) as const

/** A schema with keywords that a server loses if it rebuilds schemas instead of passing them on. */
const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'place', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const

const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  test_sampling: textArgument('prompt'),
  test_elicitation: textArgument('message'),
  json_schema_2020_12_tool: RICH_SCHEMA,
}

/** A form with every kind of field that can have a default. */
const DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
} as const

const titled = (...names: readonly string[]) => names.map((name, at) => ({ const: `value${at + 1}`, title: name }))

/** A form with every way to describe a choice. */
const CHOICES = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('First', 'Second', 'Third') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('First', 'Second', 'Third') } },
  },
} as const

const PERSON = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'Name of the account' },
    email: { type: 'string', description: 'Address' },
  },
  required: ['username', 'email'],
} as const

const asks =
  (requestedSchema: JsonObject, message = 'Please fill this in.'): Fixture =>
  async (args, context) => {
    const given = own(args, 'message')
    const answer = await context.ask('elicitation/create', {
      message: typeof given === 'string' ? given : message,
      requestedSchema,
    })
    return { content: [text(`The client answered ${JSON.stringify(answer)}.`)] }
  }

/** Sends three messages while it runs, with a pause between them. */
async function inThreeSteps(tell: (step: number) => void): Promise<void> {
  for (const step of [0, 1, 2]) {
    if (step > 0) await sleep(STEP_MS)
    tell(step)
  }
}

const TOOLS: Readonly<Record<string, Fixture>> = {
  test_simple_text: () => ({ content: [text('Some text.')] }),
  test_image_content: () => ({ content: [IMAGE] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'Some text.')] }),
  test_multiple_content_types: () => ({
    content: [text('Three kinds:'), IMAGE, embedded('test://mixed-content-resource', 'application/json', '{"value":123}')],
  }),
  test_error_handling: () => ({ content: [text('This one always fails.')], isError: true }),
  test_tool_with_logging: async (_, context) => {
    await inThreeSteps((step) => context.log('info', `step ${step} of 3`))
    return { content: [text('Done.')] }
  },
  test_logging_tool: (_, context) => {
    context.log('info', 'a line')
    return { content: [text('Done.')] }
  },
  test_tool_with_progress: async (_, context) => {
    await inThreeSteps((step) => context.progress({ progress: step * 50, total: 100 }))
    return { content: [text('Done.')] }
  },
  test_sampling: async (args, context) => {
    const { method, params } = question(String(own(args, 'prompt')), 100)
    return { content: [text(`The model said ${JSON.stringify(await context.ask(method, params))}.`)] }
  },
  test_elicitation: asks(PERSON),
  test_elicitation_sep1034_defaults: asks(DEFAULTS),
  test_elicitation_sep1330_enums: asks(CHOICES),
  test_missing_capability: (_, context) => {
    requireCapability(context, 'sampling')
    return { content: [text('It can.')] }
  },
  json_schema_2020_12_tool: (args) => ({ content: [text(JSON.stringify(args))] }),
}

/** The tools that the public conformance suite calls. [MCP-58] */
export function conformanceTools(rounds: InputRounds): ToolServer {
  const tools = new Map(Object.entries({ ...TOOLS, ...inputTools(rounds) }))
  return {
    toolsets: TOOLSETS,
    list: () =>
      [...tools.keys()].map((name) => ({ name, description: `For ${name}.`, inputSchema: SCHEMAS[name] ?? NO_ARGUMENTS })),
    find: (name) => (tools.has(name) ? { kind: 'known', bucket: 'read', tokens: 1 } : { kind: 'unknown', nearest: null }),
    async call(name, args, context: RequestContext) {
      const run = tools.get(name)
      if (run === undefined) throw new Error(`no tool ${name}`)
      return run(args, context)
    },
  }
}
