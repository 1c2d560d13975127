import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { isObject, own, RpcError } from './json-rpc.ts'
import type { RequestContext } from './methods.ts'
import { declaredCapability } from './modern.ts'
import type { JsonObject } from './tool.ts'

const LIFE_MS = 3_600_000

/** Something that the client must find out before its request can be answered, as a request that it answers in its next round. */
export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: JsonObject
}

/** The capability that a client must have declared to be asked. */
const NEEDED: Readonly<Record<InputRequest['method'], string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** What a request brings of the round before. */
export interface InputRound {
  /** By the names under which they were asked for, as the client sent them. */
  readonly responses: JsonObject
  /** What was kept of the round before; `null` in the first one. */
  readonly state: unknown
}

type RoundContext = Pick<RequestContext, 'access' | 'isStatic' | 'era' | 'params'>

/**
 * Requests on the modern leg that take more than one round, with nothing kept here between two of them: what has to be remembered travels with
 * the client, sealed so that nobody else can use or change it. [MCP-48, MCP-58]
 */
export interface InputRounds {
  /** Throws RpcError when the state is not one that this caller was given for this request within the hour. */
  read(context: RoundContext): InputRound
  /** The result that asks for `requests`. Throws RpcError when the client did not declare that it can be asked. */
  require(context: RoundContext, requests: Readonly<Record<string, InputRequest>>, state?: unknown): JsonObject
}

export function createInputRounds({ key, clock }: { readonly key: Uint8Array; readonly clock: Clock }): InputRounds {
  return {
    read(context) {
      const responses = own(context.params, 'inputResponses') ?? {}
      if (own(context.params, 'inputResponses') === null || !isObject(responses)) {
        throw new RpcError('params', 'The parameter inputResponses must be an object.')
      }
      const sealed = own(context.params, 'requestState')
      if (sealed === undefined) return { responses, state: null }
      return { responses, state: unsealed(sealed, context, key, clock.nowMs()) }
    },
    require(context, requests, state) {
      for (const { method } of Object.values(requests)) requireCapability(context, NEEDED[method])
      const sealed = state === undefined ? {} : { requestState: seal(state, context, key, clock.nowMs() + LIFE_MS) }
      return { resultType: 'input_required', inputRequests: requests, ...sealed }
    },
  }
}

/** A client is asked only for what it said it can do. */
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

function unsealed(sealed: unknown, context: RoundContext, key: Uint8Array, nowMs: number): unknown {
  const [, body, given] = typeof sealed === 'string' ? (/^([\w-]+)\.([\w-]{43})$/.exec(sealed) ?? []) : []
  if (body === undefined || given === undefined || !isSame(Buffer.from(given, 'base64url'), mac(body, context, key))) {
    throw new RpcError('params', 'The parameter requestState is not one that was given for this request.')
  }
  const [untilMs, state] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [number, unknown]
  if (nowMs > untilMs) throw new RpcError('params', 'The parameter requestState is too old: send the request anew.')
  return state
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Over the state, the caller, and what is asked for: it is good for nothing else. */
function mac(body: string, { access, isStatic, params }: RoundContext, key: Uint8Array): Buffer {
  const asked = [own(params, 'name') ?? null, own(params, 'uri') ?? null]
  const bound = JSON.stringify([body, isStatic, access.workspaceId, access.sub, ...asked])
  return createHmac('sha256', key).update(bound).digest()
}
