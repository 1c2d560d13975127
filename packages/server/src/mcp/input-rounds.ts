import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { isObject, own, RpcError } from './json-rpc.ts'
import type { RequestContext } from './methods.ts'
import { declaredCapability } from './modern.ts'
import type { JsonObject } from './tool.ts'

const LIFE_MS = 3_600_000

/** A question that the client must answer before its request can be answered. The answer comes with the client's next request. */
export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: JsonObject
}

/** For each kind of question, the capability that a client must have declared. */
const NEEDED: Readonly<Record<InputRequest['method'], string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** Data that a request carries from the previous round. */
export interface InputRound {
  /** The client's answers, by the names of the questions. */
  readonly responses: JsonObject
  /** The state that the previous round returned; `null` in the first round. */
  readonly state: unknown
}

type RoundContext = Pick<RequestContext, 'access' | 'isStatic' | 'era' | 'params'>

/**
 * Modern-leg requests that take more than one round. The relay stores nothing between rounds: the client carries the state, sealed so that
 * no other caller can use it and nobody can change it. [MCP-48, MCP-58]
 */
export interface InputRounds {
  /** Throws RpcError unless this caller was given the state for this request within the last hour. */
  read(context: RoundContext): InputRound
  /** Returns the result that asks `requests`. Throws RpcError when the client did not declare that it can answer. */
  require(context: RoundContext, requests: Readonly<Record<string, InputRequest>>, state?: unknown): JsonObject
}

/**
 * Makes the rounds. The first of `keys` seals states, and a state sealed with any of them is accepted. Nodes that share the keys can each
 * take the next round. There are two keys while the secret is replaced.
 */
export function createInputRounds({ keys, clock }: { readonly keys: readonly Uint8Array[]; readonly clock: Clock }): InputRounds {
  const [key] = keys
  if (key === undefined) throw new Error('input rounds need a key')
  return {
    read(context) {
      const responses = own(context.params, 'inputResponses') ?? {}
      if (own(context.params, 'inputResponses') === null || !isObject(responses)) {
        throw new RpcError('params', 'The parameter inputResponses must be an object.')
      }
      const sealed = own(context.params, 'requestState')
      if (sealed === undefined) return { responses, state: null }
      return { responses, state: unsealed(sealed, context, keys, clock.nowMs()) }
    },
    require(context, requests, state) {
      for (const { method } of Object.values(requests)) requireCapability(context, NEEDED[method])
      const sealed = state === undefined ? {} : { requestState: seal(state, context, key, clock.nowMs() + LIFE_MS) }
      return { resultType: 'input_required', inputRequests: requests, ...sealed }
    },
  }
}

/** Throws unless the client declared the capability. */
export function requireCapability({ era, params }: Pick<RoundContext, 'era' | 'params'>, name: string): void {
  if (era === 'modern' && declaredCapability(params, name)) return
  throw new RpcError('capability', `The client did not declare the capability ${name}, which this request needs.`, {
    requiredCapabilities: { [name]: {} },
  })
}

function seal(state: unknown, context: RoundContext, key: Uint8Array, untilMs: number): string {
  const body = Buffer.from(JSON.stringify([untilMs, state])).toString('base64url')
  return `${body}.${mac(body, context, key).toString('base64url')}`
}

function unsealed(sealed: unknown, context: RoundContext, keys: readonly Uint8Array[], nowMs: number): unknown {
  const [, body, given] = typeof sealed === 'string' ? (/^([\w-]+)\.([\w-]{43})$/.exec(sealed) ?? []) : []
  const isOurs = (text: string, made: Buffer): boolean => keys.some((key) => isSame(made, mac(text, context, key)))
  if (body === undefined || given === undefined || !isOurs(body, Buffer.from(given, 'base64url'))) {
    throw new RpcError('params', 'The parameter requestState is not one that was given for this request.')
  }
  const [untilMs, state] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [number, unknown]
  if (nowMs > untilMs) throw new RpcError('params', 'The parameter requestState is too old: send the request anew.')
  return state
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Signs the state together with the caller and the request, so that the signature is valid for this caller and request only. */
function mac(body: string, { access, isStatic, params }: RoundContext, key: Uint8Array): Buffer {
  const asked = [own(params, 'name') ?? null, own(params, 'uri') ?? null]
  const bound = JSON.stringify([body, isStatic, access.workspaceId, access.sub, ...asked])
  return createHmac('sha256', key).update(bound).digest()
}
