import type { InputRequest, InputRounds } from '../input-rounds.ts'
import { isObject, own } from '../json-rpc.ts'
import type { RequestContext } from '../methods.ts'
import { declaredCapability } from '../modern.ts'
import type { JsonObject } from '../tool.ts'
import { form, question, text } from './conformance-samples.ts'

export type Fixture = (args: JsonObject, context: RequestContext) => Promise<JsonObject> | JsonObject

const ROOTS = { method: 'roots/list', params: {} } as const

/** Returns the fields of an answered form; `null` when the client did not fill it in. */
export function filled(responses: JsonObject, name: string): JsonObject | null {
  const response = own(responses, name)
  const content = isObject(response) && own(response, 'action') === 'accept' ? own(response, 'content') : null
  return isObject(content) ? content : null
}

/** Tools of the suite that need an answer from the client before they return a result. [MCP-58] */
export function inputTools(rounds: InputRounds): Readonly<Record<string, Fixture>> {
  const once =
    (requests: Readonly<Record<string, InputRequest>>, done: (responses: JsonObject) => string | null, state?: string): Fixture =>
    (_, context) => {
      const round = rounds.read(context)
      const complete = state === undefined || round.state === state ? done(round.responses) : null
      return complete === null ? rounds.require(context, requests, state) : { content: [text(complete)] }
    }
  const answered = (responses: JsonObject, ...names: readonly string[]) => names.every((name) => isObject(own(responses, name)))
  const confirm = { confirm: form('Do you confirm?', 'ok', 'boolean') }
  const confirmed = (responses: JsonObject) => (filled(responses, 'confirm') === null ? null : 'state-ok')

  return {
    test_input_required_result_elicitation: once({ user_name: form('What is your name?', 'name') }, (responses) => {
      const name = filled(responses, 'user_name')?.['name']
      return typeof name === 'string' ? `Hello, ${name}!` : null
    }),
    test_streaming_elicitation: once({ user_name: form('What is your name?', 'name') }, (responses) =>
      filled(responses, 'user_name') === null ? null : 'Thank you.',
    ),
    test_input_required_result_sampling: once(
      { capital_question: question('What is the capital of France?', 100) },
      (responses) => (answered(responses, 'capital_question') ? JSON.stringify(responses['capital_question']) : null),
    ),
    test_input_required_result_list_roots: once({ client_roots: ROOTS }, (responses) =>
      answered(responses, 'client_roots') ? JSON.stringify(responses['client_roots']) : null,
    ),
    test_input_required_result_request_state: once(confirm, confirmed, 'waiting'),
    test_input_required_result_tampered_state: once(confirm, confirmed, 'waiting'),
    test_input_required_result_multiple_inputs: once(
      {
        user_name: form('What is your name?', 'name'),
        greeting: question('Say hello in one sentence.', 50),
        client_roots: ROOTS,
      },
      (responses) => (answered(responses, 'user_name', 'greeting', 'client_roots') ? 'All three came.' : null),
      'asked three things',
    ),
    test_input_required_result_multi_round: (_, context) => {
      const { responses, state } = rounds.read(context)
      const name = filled(responses, 'step1')?.['name']
      const color = filled(responses, 'step2')?.['color']
      if (isObject(state) && color !== undefined) return { content: [text(`${state['name']} likes ${color}.`)] }
      if (state === 'name asked' && name !== undefined) {
        return rounds.require(context, { step2: form('Step 2: What is your favourite colour?', 'color') }, { name })
      }
      return rounds.require(context, { step1: form('Step 1: What is your name?', 'name') }, 'name asked')
    },
    test_input_required_result_capabilities: (_, context) => {
      const { responses } = rounds.read(context)
      if (Object.keys(responses).length > 0) return { content: [text('It was answered.')] }
      const possible: Readonly<Record<string, InputRequest>> = {
        ...(declaredCapability(context.params, 'elicitation') && { form: form('What is your name?', 'name') }),
        ...(declaredCapability(context.params, 'sampling') && { sample: question('Say hello.', 50) }),
      }
      return rounds.require(context, possible)
    },
  }
}
