import type { TestIssuer, TokenOptions } from '../../../auth/testing/test-issuer.ts'
import type { Recorder } from './recorder.ts'

/** An answer of REST or of a tool. `status` is `null` when none came in time; the write may then have been done or not. */
export interface Answered {
  readonly status: number | null
  readonly body: Readonly<Record<string, unknown>> | null
}

const PATIENCE_MS = 5_000
const LONGEST_PAUSE_MS = 1_000

export interface Caller {
  readonly baseUrl: string
  readonly issuer: TestIssuer
  readonly as: TokenOptions
  readonly recorder: Recorder
}

/** Sends one request and never repeats it. Each request has a connection of its own, like those of callers behind a balancer. */
export async function request(
  { baseUrl, issuer, as, recorder }: Caller,
  method: string,
  path: string,
  json?: unknown,
): Promise<Answered> {
  const kind = method === 'GET' ? 'reads' : 'writes'
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${issuer.token(as)}`, 'content-type': 'application/json', connection: 'close' },
      body: json === undefined ? null : JSON.stringify(json),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    recorder.noteAnswer(kind, response.status, `${method} ${path}`)
    if (response.status === 503 && !response.headers.has('retry-after'))
      recorder.noteBadAnswer(`${method} ${path}: 503 without Retry-After: ${text}`)
    await comeAgainAfter(response)
    return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Answered['body']) : null }
  } catch {
    recorder.noteAnswer(kind, null, `${method} ${path}`)
    await pause(100)
    return { status: null, body: null }
  }
}

/** Calls a tool once, as a JSON-RPC request. */
export function askTool(caller: Caller, tool: string, args: unknown): Promise<Answered> {
  const params = { name: `service_${tool}`, arguments: args }
  return request(caller, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}

/** Calls a tool once. Resolves with its result, or with `null` when the call was refused or not answered. */
export async function callTool(caller: Caller, tool: string, args: unknown): Promise<Readonly<Record<string, unknown>> | null> {
  return resultOf(await askTool(caller, tool, args))
}

/** Returns the result of a call, or `null` when it was refused or not answered. */
export function resultOf({ body }: Answered): Readonly<Record<string, unknown>> | null {
  const result = body?.['result'] as
    | { readonly isError?: boolean; readonly structuredContent?: Readonly<Record<string, unknown>> }
    | undefined
  return result === undefined || result.isError === true ? null : (result.structuredContent ?? {})
}

async function comeAgainAfter(response: Response): Promise<void> {
  if (response.status !== 429 && response.status !== 503) return
  await pause(Math.min(LONGEST_PAUSE_MS, 1_000 * Number(response.headers.get('retry-after') ?? 0.2)))
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
