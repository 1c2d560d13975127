import type { McpContent, McpPrompts } from '../content.ts'
import type { InputRounds } from '../input-rounds.ts'
import type { RequestContext } from '../methods.ts'
import type { JsonObject } from '../tool.ts'
import { filled } from './conformance-inputs.ts'
import { embedded, form, IMAGE, PNG, text } from './conformance-samples.ts'

const DIRECT: Readonly<Record<string, JsonObject>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'Some text.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'It may change.' },
}

function contentsOf(uri: string): readonly JsonObject[] | null {
  const direct = Object.hasOwn(DIRECT, uri) ? DIRECT[uri] : undefined
  if (direct) return [{ uri, ...direct }]
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  return id === undefined ? null : [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }]
}

function says(...contents: readonly JsonObject[]): JsonObject {
  return { messages: contents.map((content) => ({ role: 'user', content })) }
}

type Prompt = (args: JsonObject, context: RequestContext) => JsonObject

function prompts(rounds: InputRounds): McpPrompts {
  const known: Readonly<Record<string, readonly [names: readonly string[], prompt: Prompt]>> = {
    test_simple_prompt: [[], () => says(text('A simple prompt.'))],
    test_prompt_with_arguments: [['arg1', 'arg2'], ({ arg1, arg2 }) => says(text(`First ${arg1}, then ${arg2}.`))],
    test_prompt_with_embedded_resource: [
      ['resourceUri'],
      ({ resourceUri }) => says(embedded(String(resourceUri), 'text/plain', 'Some text.'), text('Look at it.')),
    ],
    test_prompt_with_image: [[], () => says(IMAGE, text('Look at it.'))],
    test_input_required_result_prompt: [
      [],
      (_, context) => {
        const given = filled(rounds.read(context).responses, 'user_context')
        if (given === null) return rounds.require(context, { user_context: form('In which context?', 'context') })
        return says(text(`In the context ${given['context']}.`))
      },
    ],
  }
  return {
    list: () =>
      Object.entries(known).map(([name, [names]]) => ({
        name,
        description: `For ${name}.`,
        arguments: names.map((argument) => ({ name: argument, required: true })),
      })),
    get(name, args, context: RequestContext) {
      const [names, prompt] = (Object.hasOwn(known, name) ? known[name] : undefined) ?? []
      if (names === undefined || prompt === undefined) return { kind: 'refused', message: `There is no prompt ${name}.` }
      const missing = names.find((argument) => args[argument] === undefined)
      if (missing !== undefined) return { kind: 'refused', message: `The argument ${missing} is missing.` }
      return { kind: 'found', result: prompt(args, context) }
    },
  }
}

/** The resources and prompts that the public conformance suite reads. [MCP-58] */
export function conformanceContent(rounds: InputRounds): McpContent {
  return {
    resources: {
      list: async (_, cursor) =>
        cursor === null
          ? { resources: Object.entries(DIRECT).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })), nextCursor: null }
          : null,
      templates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
      read: async (_, uri) => contentsOf(uri),
      readable: async (_, uris) => new Set(uris.filter((uri) => contentsOf(uri) !== null)),
      isPublic: () => false,
      watch: () => ({ add() {}, remove() {}, close() {} }),
    },
    prompts: prompts(rounds),
    complete: async (_, { ref, argument }) =>
      ref['type'] === 'ref/prompt' ? { values: [`${argument.value}-1`, `${argument.value}-2`], total: 2, hasMore: false } : null,
  }
}
