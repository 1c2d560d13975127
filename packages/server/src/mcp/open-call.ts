import { newId, type Random } from '../kernel/ids.ts'
import type { EndpointCaller } from './credentials.ts'
import type { Exchange, RpcResponder } from './exchange.ts'
import { type Era, isId, isObject, notificationMessage, own, type RpcAnswer, RpcError, type RpcRequest } from './json-rpc.ts'
import { readNaming, readsExtra, readView, type RequestContext } from './methods.ts'
import { clientOf, logLevelOf } from './modern.ts'
import { callerOf } from './memory/callers.ts'
import { LOG_LEVELS, type LogLevel, type Session } from './sessions.ts'
import type { Streams } from './streams.ts'
import type { JsonObject, Toolset } from './tool.ts'

export interface OpenCall extends Disposable {
  readonly context: RequestContext
}

/** Makes the context in which a method runs. Throws RpcError when the address or a header of the request has an unknown value. */
export function openCall(options: {
  readonly request: RpcRequest
  readonly exchange: Exchange
  readonly caller: EndpointCaller
  readonly era: Era
  readonly session: Session | null
  readonly responder: RpcResponder
  readonly random: Random
  readonly toolsets: readonly Toolset[]
  readonly streams: Pick<Streams, 'wait'>
}): OpenCall {
  const { request, exchange, caller, era, session, responder } = options
  const { method, params } = request
  const view = method.startsWith('tools/')
    ? readView(exchange.query, exchange.header('x-mcp-toolsets'), options.toolsets)
    : { toolsets: null, readonly: false, extra: readsExtra(exchange.query) }
  const given = own(params, '_meta')
  const token = isObject(given) ? own(given, 'progressToken') : undefined
  const threshold = era === 'modern' ? logLevelOf(params) : (session?.logLevel ?? 'info')
  const clientName = era === 'modern' ? clientOf(params) : (session?.clientName ?? null)
  const controller = new AbortController()
  const context: RequestContext = {
    access: caller.access,
    isStatic: caller.isStatic,
    view,
    naming: readNaming(exchange.query, exchange.header('x-mcp-ids')),
    clientName,
    caller: callerOf({ meta: given, session, clientName, address: exchange.incoming.socket.remoteAddress ?? '' }),
    signal: controller.signal,
    wait: (end) => options.streams.wait(caller, end),
    era,
    session,
    params,
    progress(step) {
      if (isId(token)) responder.notify(notificationMessage('notifications/progress', { progressToken: token, ...step }))
    },
    log(level, data) {
      if (threshold === null || rank(level) < rank(threshold)) return
      responder.notify(notificationMessage('notifications/message', { level, data }))
    },
    ask: (asked, askedParams) => ask(asked, askedParams, options),
  }
  // `cancellable` comes last: if a line above threw after it, the request would stay in its session forever. [MCP-31]
  return { context, [Symbol.dispose]: cancellable(controller, options) }
}

function rank(level: LogLevel): number {
  return LOG_LEVELS.indexOf(level)
}

/**
 * Makes a request cancellable: on the modern leg by closing the connection, in a session by `notifications/cancelled`. [MCP-15]
 */
function cancellable(
  controller: AbortController,
  { request, exchange, era, session }: Parameters<typeof openCall>[0],
): () => void {
  if (era === 'legacy') {
    session?.running.set(request.id, controller)
    return () => void (session?.running.get(request.id) === controller && session.running.delete(request.id))
  }
  const { outgoing } = exchange
  const left = (): void => controller.abort()
  outgoing.once('close', left)
  if (outgoing.destroyed) left()
  return () => void outgoing.off('close', left)
}

/**
 * Sends the client a request within the response to its own request, and waits for the answer that it POSTs. [MCP-58]
 */
function ask(method: string, params: JsonObject, options: Parameters<typeof openCall>[0]): Promise<JsonObject> {
  const { session, responder, random, exchange } = options
  if (session === null || !responder.events) {
    return Promise.reject(new RpcError('params', 'The client can be asked only in a session and with SSE framing.'))
  }
  const id = newId('ask-', 32, random)
  return new Promise((resolve, reject) => {
    const settle = ({ result, error }: Pick<RpcAnswer, 'result' | 'error'>): void => {
      session.asked.delete(id)
      exchange.outgoing.off('close', gone)
      if (isObject(result)) resolve(result)
      else reject(new RpcError('params', `The client refused ${method}: ${JSON.stringify(error ?? null).slice(0, 200)}.`))
    }
    const gone = (): void => settle({ result: null, error: 'it is gone' })
    session.asked.set(id, settle)
    exchange.outgoing.once('close', gone)
    responder.notify({ jsonrpc: '2.0', id, method, params })
  })
}
