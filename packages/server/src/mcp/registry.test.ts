import { describe, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import { OverdueBody } from '../documents/bodies.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import { RelayError } from '../kernel/errors.ts'
import { systemRandom } from '../kernel/ids.ts'
import { type LogFields, type Logger, silentLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { OverdueLayout } from './overdue-layout.ts'
import { createToolServer } from './registry.ts'
import { failure, success } from './results.ts'
import { annotations, DOCUMENT, input, REPEATABLE, VERSIONED } from './tools/schema.ts'
import { output } from './tools/output-schema.ts'
import type { CallContext, ToolCall, ToolDefinition } from './tool.ts'

const WHOLE = { toolsets: null, readonly: false, extra: true } as const

function toolOf(name: string, run: ToolDefinition['run'], more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name,
    title: name,
    description: 'Does. Returns.',
    inputSchema: input(DOCUMENT, { ...VERSIONED, ...REPEATABLE }),
    outputSchema: output([]),
    annotations: annotations(),
    toolset: 'prose',
    access: 'edit',
    bucket: 'write',
    run,
    ...more,
  }
}

function serverOf(...tools: readonly ToolDefinition[]) {
  const logged: LogFields[] = []
  const metrics: string[] = []
  const log: Logger = { ...silentLogger, error: (_event, _msg, fields) => void logged.push(fields ?? {}) }
  const server = createToolServer({
    tools,
    clock: manualTime().clock,
    random: systemRandom,
    log,
    metrics: { add: (...[name, , labels = {}]) => void metrics.push([name, ...Object.values(labels)].join(' ')) },
  })
  const call = async (name: string, args: object = { docId: 'd' }, context: Partial<CallContext> = {}) => {
    const result = await server.call(`service_${name}`, args as ToolCall['args'], { ...contextOf(), ...context })
    return result['structuredContent'] as ToolCall['args']
  }
  return { server, call, logged, metrics }
}

function contextOf(access: Partial<Access> = {}): CallContext {
  return {
    access: { sub: 'ann', workspaceId: 'w', role: 'member', limits: NO_LIMITS, ...access },
    isStatic: false,
    view: WHOLE,
    clientName: null,
    signal: new AbortController().signal,
    progress() {},
  }
}

const failing = (error: unknown) => toolOf('fails', () => Promise.reject(error))

describe('the tool server', () => {
  it('[TOOL-1] tools are listed with their prefix and found only by their full names', () => {
    const { server } = serverOf(
      toolOf('one', async () => success({})),
      toolOf('two', async () => success({}), { bucket: 'read' }),
    )
    expect(server.list({ ...WHOLE, isViewer: false }).map(({ name }) => name)).toEqual(['service_one', 'service_two'])
    expect(server.find('service_two')).toEqual({ kind: 'known', bucket: 'read', tokens: 1 })
    expect(server.find('two')).toEqual({ kind: 'unknown', nearest: 'service_two' })
    expect(server.find('__proto__')).toMatchObject({ kind: 'unknown' })
    expect(() => serverOf(failing(null), failing(null))).toThrow('the tool fails is defined twice')
  })

  it('[TOOL-10] [TOOL-11] a request lists and calls only the toolsets that it selects', async () => {
    const read = toolOf('reads', async () => success({ read: true }), { bucket: 'read', toolset: 'read' })
    const { server, call } = serverOf(
      read,
      toolOf('writes', async () => success({ written: true })),
    )
    const names = (view: object) => server.list({ ...WHOLE, isViewer: false, ...view }).map(({ name }) => name)
    expect(names({ toolsets: ['prose'] })).toEqual(['service_writes'])
    expect(names({ readonly: true })).toEqual(['service_reads'])
    expect(names({ isViewer: true })).toEqual(['service_reads'])
    expect(names({ toolsets: ['prose'], readonly: true, extra: true })).toEqual([])
    const disabled = { code: 'ERR_TOOL_DISABLED', tool: 'service_writes', toolset: 'prose' }
    for (const view of [
      { toolsets: ['read'], readonly: false, extra: true },
      { toolsets: null, readonly: true, extra: true },
    ] as const)
      expect(await call('writes', {}, { view })).toMatchObject(disabled)
    expect(await call('reads', { docId: 'd' }, { view: { toolsets: ['read'], readonly: true, extra: true } })).toEqual({
      read: true,
    })
  })

  it('[TOOL-10] a request restricted to the interface neither lists nor calls a tool beyond it', async () => {
    const { server, call } = serverOf(
      toolOf('writes', async () => success({ written: true })),
      toolOf('beyond', async () => success({ written: true }), { extra: true }),
    )
    const names = (extra: boolean) => server.list({ ...WHOLE, isViewer: false, extra }).map(({ name }) => name)
    expect([names(true), names(false)]).toEqual([['service_writes', 'service_beyond'], ['service_writes']])
    const view = { ...WHOLE, extra: false }
    expect(await call('beyond', {}, { view })).toMatchObject({ code: 'ERR_TOOL_DISABLED', tool: 'service_beyond' })
    expect(await call('writes', { docId: 'd' }, { view })).toEqual({ written: true })
    expect(await call('beyond')).toEqual({ written: true })
  })

  it('[MCP-26] a write of a viewer is refused after its arguments are checked and before the tool runs', async () => {
    const never = () => Promise.reject(new Error('was run'))
    const { call } = serverOf(toolOf('writes', never), toolOf('delete_document', never))
    const viewer = contextOf({ role: 'viewer' })
    expect(await call('writes', { docId: 'd' }, viewer)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', docId: 'd', role: 'viewer' })
    expect(await call('writes', { docId: 'd', dryRun: true }, viewer)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })
    expect(await call('delete_document', { docId: 'd' }, viewer)).toMatchObject({ code: 'ERR_DELETE_FORBIDDEN', role: 'viewer' })
    expect(await call('writes', { docId: 1 }, viewer)).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
  })

  it('[MCP-3] an argument error beyond the schema is reported before the role is checked and the tool runs', async () => {
    const never = () => Promise.reject(new Error('was run'))
    const flaw = () => failure('ERR_TARGET_MISSING', 'Name a block.')
    const { call } = serverOf(toolOf('writes', never, { flaw }))
    for (const role of ['member', 'viewer'] as const) {
      expect(await call('writes', { docId: 'd', requestId: 'r' }, contextOf({ role }))).toMatchObject({
        code: 'ERR_TARGET_MISSING',
      })
      expect(await call('writes', { docId: '..' }, contextOf({ role }))).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
    }
  })

  it('[TOOL-12] [TOOL-22] document ids and request ids are held to their length limits', async () => {
    const { call } = serverOf(toolOf('writes', async () => success({})))
    for (const docId of ['', '..', 'a/b', 'a\\b', 'a\u0000', 'é'.repeat(129)])
      expect(await call('writes', { docId })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'docId' })
    for (const requestId of ['r'.repeat(129)])
      expect(await call('writes', { docId: 'd', requestId })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'requestId' })
    expect(await call('writes', { docId: 'é'.repeat(128), requestId: '🙂'.repeat(128) })).toEqual({})
  })

  it('[TOOL-22] the tool does not get the request id, and dry runs are not remembered', async () => {
    let runs = 0
    const { call } = serverOf(toolOf('writes', async ({ args }) => success({ args, run: ++runs })))
    const args = { docId: 'd', requestId: 'r' }
    expect(await call('writes', { ...args, dryRun: true })).toEqual({ args: { docId: 'd', dryRun: true }, run: 1 })
    expect(await call('writes', args)).toEqual({ args: { docId: 'd' }, run: 2 })
    expect(await call('writes', args)).toEqual({ args: { docId: 'd' }, run: 2, replayed: true })
    expect(await call('writes', args, contextOf({ workspaceId: 'v' }))).toMatchObject({ run: 3 })
    expect(await call('writes', args, { isStatic: true })).toMatchObject({ run: 4 })
  })

  it('[TOOL-9] an unexpected error answers an incident id of the log without details', async () => {
    const { call, logged, metrics } = serverOf(failing(new Error('secret /path')))
    const result = await call('fails')
    expect(result).toEqual({ code: 'ERR_INTERNAL', message: expect.any(String), incident: expect.stringMatching(/^inc-/) })
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(logged).toMatchObject([
      { incident: result['incident'], tool: 'fails', detail: expect.stringContaining('secret /path') },
    ])
    expect(metrics).toEqual(['relay_handler_panics_total', 'relay_mcp_calls_total service_fails error'])
  })

  it('[OPS-4] each call is counted by its tool and outcome', async () => {
    const { call, metrics } = serverOf(
      toolOf('works', async () => success({})),
      toolOf('refuses', async () => failure('ERR_LAST_PAGE', 'No.')),
    )
    await call('works')
    await call('works', { docId: '..' })
    await call('refuses')
    expect(metrics).toEqual(['works ok', 'works error', 'refuses error'].map((line) => `relay_mcp_calls_total service_${line}`))
  })

  it.each(['UNAVAILABLE', 'NOT_PERSISTED', 'BLOB_STORE_ERROR'] satisfies ErrorCode[])(
    '[TOOL-28] error code %s is answered as an unreachable store',
    async (code) => {
      const { call } = serverOf(failing(new RelayError(code, 'internal words')))
      expect(await call('fails')).toEqual({ code: 'ERR_STORE_UNAVAILABLE', message: expect.any(String), retryable: true })
    },
  )

  it('[TOOL-28] a call refused for want of a turn says when to repeat it', async () => {
    const { call } = serverOf(failing(new RelayError('UNAVAILABLE', 'The workspace is busy.', { retryAfterMs: 5_000 })))
    const message = 'The workspace is busy. Repeat the call in 5 s.'
    expect(await call('fails')).toEqual({ code: 'ERR_STORE_UNAVAILABLE', message, retryable: true })
  })

  it('[TOOL-22] [C7] an unconfirmed write may be repeated with its request id, and without one only after reading the document', async () => {
    const { call } = serverOf(toolOf('writes', () => Promise.reject(new RelayError('NOT_PERSISTED', 'internal words'))))
    expect((await call('writes', { docId: 'd' }))['message']).toContain('read the document before')
    expect((await call('writes', { docId: 'd', requestId: 'r' }))['message']).toContain('repeat the call with the same requestId')
  })

  it('[TOOL-28] a document that takes too long to read is answered with how to read a smaller part', async () => {
    const { call } = serverOf(failing(new OverdueBody()))
    const result = await call('fails')
    expect(result).toEqual({ code: 'ERR_STORE_UNAVAILABLE', message: expect.any(String), retryable: true })
    expect(result['message']).toMatch(/longer than a call may take.*Nothing was written.*get_prose with pageId and without id/)
  })

  it('[TOOL-28] [DIAG-17] the answer to a layout that takes too long says not to repeat the call', async () => {
    const { call } = serverOf(failing(new OverdueLayout()))
    const result = await call('fails')
    expect(result).toEqual({ code: 'ERR_STORE_UNAVAILABLE', message: expect.any(String), retryable: false })
    expect(result['message']).toMatch(/longer to lay out than a call may take.*Nothing was written.*Send fewer/)
  })

  it('[MCP-15] a call aborted before it begins does not run; one aborted later rejects with the reason', async () => {
    const gone = AbortSignal.abort(new Error('gone'))
    let runs = 0
    const { server } = serverOf(
      toolOf('writes', async ({ signal }) => {
        runs++
        signal.throwIfAborted()
        return success({})
      }),
    )
    await expect(server.call('service_writes', { docId: 'd' }, { ...contextOf(), signal: gone })).rejects.toThrow('gone')
    expect(runs).toBe(0)
  })
})
