export type Members = Readonly<Record<string, unknown>>

export interface Answer {
  readonly isError: boolean
  readonly result: Members
}

/** The answer of a call that got none because its relay was killed. The write may or may not have been done. */
export const UNANSWERED: Answer = { isError: true, result: { code: 'no answer' } }

interface Call {
  /** Called before each try, because a restarted relay has another address. */
  readonly url: () => string
  readonly bearer: string
  readonly tool: string
  readonly args: Members
}

const PAUSE_MS = 100

/** Calls a tool. Waits while the relay is down or at a rate limit. Returns `UNANSWERED` when the relay ends during the call. */
export async function post({ url, bearer, tool, args }: Call): Promise<Answer> {
  for (;;) {
    let response: Response
    let text: string
    try {
      response = await fetch(url(), {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: `service_${tool}`, arguments: args },
        }),
      })
      text = await response.text()
    } catch (error) {
      await pause(PAUSE_MS)
      if (isRefusedConnection(error)) continue
      return UNANSWERED
    }
    if (response.status === 429 || response.status === 503) {
      await pause(1_000 * Number(response.headers.get('retry-after') ?? 1))
      continue
    }
    const { result } = JSON.parse(text) as {
      readonly result?: { readonly isError?: boolean; readonly structuredContent: Members }
    }
    if (result === undefined) throw new Error(`${tool} was answered ${text.slice(0, 400)}`)
    return { isError: result.isError === true, result: result.structuredContent }
  }
}

function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
