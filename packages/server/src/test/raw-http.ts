import { type IncomingHttpHeaders, request } from 'node:http'
import type { RelayUnderTest } from './relay-under-test.ts'
import type { TokenOptions } from '../auth/testing/test-issuer.ts'
import { createExchangeCheck } from '../http/testing/exchange-check.ts'
import { routeTable } from '../compose/route-table.ts'

const check = createExchangeCheck(routeTable())

/** An answer as a client without any library sees it. */
export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; throws when it is not JSON. */
  readonly json: Record<string, unknown>
}

export interface RawRequest {
  /** Claims of the token; `null` sends none. */
  readonly as?: TokenOptions | null
  readonly headers?: Readonly<Record<string, string>>
  /** The body: text or bytes are sent as they are, any other value as JSON. */
  readonly body?: unknown
}

export type Call = (method: string, path: string, options?: RawRequest) => Promise<RawAnswer>

/**
 * Sends requests to a relay with the path unchanged: nothing is normalised or escaped. Rejects when the OpenAPI document does not describe the
 * answer. [REST-36]
 */
export function rawHttp(relay: Pick<RelayUnderTest, 'baseUrl' | 'token'>, defaults: RawRequest = {}): Call {
  return async (method, path, options = {}) => {
    const { as, headers, body } = { ...defaults, ...options }
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : body === undefined ? '' : JSON.stringify(body)
    const bearer: Record<string, string> = as === null ? {} : { authorization: `Bearer ${relay.token(as)}` }
    const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(bytes)) }
    const answer = await send(relay.baseUrl, method, path, { ...bearer, ...length, ...headers }, bytes)
    check(method, path, { status: answer.status, headers: headersOf(answer.headers), text: answer.text })
    return answer
  }
}

function headersOf(headers: IncomingHttpHeaders): Headers {
  return new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]))
}

function send(
  baseUrl: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text) as Record<string, unknown>
          },
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
