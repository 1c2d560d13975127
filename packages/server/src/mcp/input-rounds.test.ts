import fc from 'fast-check'
import { expect, it } from 'vitest'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { createInputRounds, requireCapability } from './input-rounds.ts'
import { RpcError } from './json-rpc.ts'
import type { RequestContext } from './methods.ts'
import type { JsonObject } from './tool.ts'

const KEY = new Uint8Array(32).fill(7)
const CAN_ALL = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {}, roots: {} } }
const FORM = { method: 'elicitation/create', params: { message: 'Who?' } } as const
const time = manualTime(1_000)
const rounds = createInputRounds({ keys: [KEY], clock: time.clock })

type Context = Pick<RequestContext, 'access' | 'isStatic' | 'era' | 'params'>

function contextOf(params: JsonObject, more: { sub?: string; workspaceId?: string; isStatic?: boolean } = {}): Context {
  const { sub = 'ann', workspaceId = 'w', isStatic = false } = more
  const limits = {
    quotaBytes: null,
    quotaSource: 'config',
    editorLimit: null,
    editorLimitSource: 'config',
    maxDocBytes: null,
    maxDocBytesSource: 'config',
  } as const
  return { access: { sub, workspaceId, role: 'member', limits }, isStatic, era: 'modern', params: { _meta: CAN_ALL, ...params } }
}

const refusalOf = (run: () => unknown): string | null => {
  try {
    run()
    return null
  } catch (error) {
    if (error instanceof RpcError) return error.kind
    throw error
  }
}

function stateOf(state: unknown, name = 'tool'): string {
  return String(rounds.require(contextOf({ name }), { who: FORM }, state)['requestState'])
}

it('[MCP-58] data kept in one input round is available in the next', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (state) => {
      const given = JSON.parse(JSON.stringify(state))
      const context = contextOf({ name: 'tool', requestState: stateOf(given), inputResponses: { who: { action: 'accept' } } })
      expect(rounds.read(context)).toEqual({ responses: { who: { action: 'accept' } }, state: given })
    }),
    { seed: 58, numRuns: 100 },
  )
  expect(rounds.read(contextOf({ name: 'tool' }))).toEqual({ responses: {}, state: null })
  expect(rounds.require(contextOf({}), { who: FORM })).toEqual({ resultType: 'input_required', inputRequests: { who: FORM } })
})

it('[MCP-58] a request state changed at any place is refused', () => {
  const sealed = stateOf({ step: 2 })
  const read = (requestState: unknown) => refusalOf(() => rounds.read(contextOf({ name: 'tool', requestState })))
  expect(read(sealed)).toBe(null)
  for (let at = 0; at < sealed.length; at++) {
    // The last Base64 character has unused low bits; changing only those bits would change no byte.
    const other = sealed[at] === 'A' ? 'Q' : 'A'
    expect(read(sealed.slice(0, at) + other + sealed.slice(at + 1))).toBe('params')
  }
  for (const bad of [null, 5, '', '.', `${sealed}-TAMPERED`, `${sealed}=`, sealed.split('.')[0], {}, '\u0000']) {
    expect(read(bad)).toBe('params')
  }
})

it('[MCP-58] a request state is accepted only from its caller, for its request and within an hour', async () => {
  const requestState = stateOf('a')
  const read = (params: JsonObject, more = {}) =>
    refusalOf(() => rounds.read(contextOf({ name: 'tool', requestState, ...params }, more)))
  expect(read({})).toBe(null)
  expect(read({ name: 'other' })).toBe('params')
  expect(read({ uri: 'relay://doc/1' })).toBe('params')
  expect(read({}, { sub: 'bob' })).toBe('params')
  expect(read({}, { workspaceId: 'v' })).toBe('params')
  expect(read({}, { isStatic: true })).toBe('params')
  const elsewhere = createInputRounds({ keys: [new Uint8Array(32)], clock: time.clock })
  expect(refusalOf(() => elsewhere.read(contextOf({ name: 'tool', requestState })))).toBe('params')
  await time.advance(3_600_000)
  expect(read({})).toBe(null)
  await time.advance(1)
  expect(read({})).toBe('params')
})

it('[MCP-58] a node with the same secret accepts the next round, also while the secret is replaced', () => {
  const requestState = stateOf('a')
  const other = new Uint8Array(32)
  const read = (...keys: readonly Uint8Array[]) =>
    refusalOf(() => createInputRounds({ keys, clock: time.clock }).read(contextOf({ name: 'tool', requestState })))
  expect([read(KEY), read(other, KEY), read(other)]).toEqual([null, null, 'params'])
})

it('[MCP-58] input answers that are not an object are refused', () => {
  for (const inputResponses of [null, 5, 'x', []]) {
    expect(refusalOf(() => rounds.read(contextOf({ inputResponses })))).toBe('params')
  }
})

it('[MCP-58] a client is asked only for capabilities that it declared, and never on the legacy leg', () => {
  const can = (capabilities: unknown, era: 'legacy' | 'modern' = 'modern') => ({
    ...contextOf({ _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities } }),
    era,
  })
  expect(refusalOf(() => requireCapability(can({ sampling: {} }), 'sampling'))).toBe(null)
  expect(refusalOf(() => rounds.require(can({ sampling: {} }), { who: FORM }))).toBe('capability')
  for (const capabilities of [{}, { sampling: true }, null, []]) {
    expect(refusalOf(() => requireCapability(can(capabilities), 'sampling'))).toBe('capability')
  }
  expect(refusalOf(() => requireCapability(can({ sampling: {} }, 'legacy'), 'sampling'))).toBe('capability')
})
