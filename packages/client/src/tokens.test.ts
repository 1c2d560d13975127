import { describe, expect, it } from 'vitest'
import { NeedsSignIn } from './errors.ts'
import { Requests } from './rest/request.ts'
import { playedEnvironment } from './testing/played-environment.ts'
import { Tokens, usableToken } from './tokens.ts'

/** A `Tokens` object. The test answers the application's calls for a fresh token, one after the other. */
function bench() {
  const played = playedEnvironment()
  const calls: PromiseWithResolvers<string>[] = []
  const told: Error[] = []
  const token = ({ fresh }: { readonly fresh: boolean }) => {
    if (!fresh) return 'kept'
    const call = Promise.withResolvers<string>()
    calls.push(call)
    return call.promise
  }
  const tokens = new Tokens(token, (error) => told.push(error), played.environment)
  return { ...played, calls, told, tokens }
}
const outcome = (promise: Promise<string>) => promise.then(String, (error: unknown) => `${error}`)

describe('a call for a fresh token that the application never answers', () => {
  it('[WS-67] fails after 30 s for all its waiters, and the next attempt calls token() again', async () => {
    const { tokens, calls, advance, waiting } = bench()
    const [first, second] = [outcome(usableToken(tokens.get({ fresh: true }))), outcome(tokens.replacementOf('refused'))]
    await advance(30_000)
    const third = tokens.get({ fresh: true })
    expect(calls).toHaveLength(2)
    calls[1]?.resolve('new')
    const late = 'RelayError: token() gave no token within 30 s'
    expect([await first, await second, await third]).toEqual([late, late, 'new'])
    expect([tokens.last, waiting()]).toEqual(['new', []])
  })

  it('[WS-67] fails the request that met 401, but no later request', async () => {
    const { tokens, calls, environment, advance } = bench()
    const refused = { error: 'no', errorCode: 'TOKEN_INVALID' }
    const answers = [new Response(JSON.stringify(refused), { status: 401 }), new Response('{"ok":1}')]
    const fetch = async () => answers.shift() ?? new Response('{}')
    const context = { base: '', tokens, workspace: undefined, environment: { ...environment, fetch }, attempts: 1 }
    const asked = new Requests(context).json('GET', '/x').catch((error: unknown) => error)
    await advance(30_000)
    expect(await asked).toMatchObject({ code: 'TOKEN_FAILED', message: 'token() gave no token within 30 s' })
    expect(await new Requests(context).json('GET', '/x')).toEqual({ ok: 1 })
    expect(calls).toHaveLength(1)
  })

  it('[WS-67] yields a usable token when it answers late, unless a newer call was answered before', async () => {
    const { tokens, calls, advance, settled } = bench()
    void outcome(tokens.get({ fresh: true }))
    await advance(30_000)
    calls[0]?.resolve('late')
    await settled()
    expect(await tokens.replacementOf('refused')).toBe('late')
    void outcome(tokens.get({ fresh: true }))
    await advance(30_000)
    const third = tokens.get({ fresh: true })
    calls[2]?.resolve('newest')
    await third
    calls[1]?.resolve('older')
    await settled()
    expect(tokens.last).toBe('newest')
  })

  it('[WS-67] reports NeedsSignIn even when it answers late', async () => {
    const { tokens, calls, told, advance, settled } = bench()
    void outcome(tokens.get({ fresh: true }))
    await advance(30_000)
    calls[0]?.reject(new NeedsSignIn())
    await settled()
    expect(told.map(({ name }) => name)).toEqual(['NeedsSignIn'])
  })
})
