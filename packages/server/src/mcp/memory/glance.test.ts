import { expect, it } from 'vitest'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import { createChangeRecords } from '../../documents/change-records.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { createToolServer } from '../registry.ts'
import { success } from '../results.ts'
import type { CallContext, ToolDefinition } from '../tool.ts'
import { output } from '../tools/output-schema.ts'
import { annotations, DOCUMENT, input, VERSIONED } from '../tools/schema.ts'
import { createCallers } from './callers.ts'
import { Memories } from './memories.ts'

const REF = { workspaceId: 'w', id: 'd' }

function toolOf(name: string, run: ToolDefinition['run']): ToolDefinition {
  return {
    name,
    title: name,
    description: 'Does. Returns.',
    inputSchema: input(DOCUMENT, VERSIONED),
    outputSchema: output([]),
    annotations: annotations(),
    toolset: 'prose',
    access: 'edit',
    bucket: 'write',
    run,
  }
}

/** A tool server that remembers what callers saw of documents, which are never asked for. */
function remembering(...tools: readonly ToolDefinition[]) {
  const { clock, timers } = manualTime()
  const records = createChangeRecords()
  const memories = new Memories({ clock, timers, hold: (ref) => records.hold(ref) })
  const never = (): never => {
    throw new Error('no document is asked for')
  }
  const glances = {
    memories,
    callers: createCallers(clock),
    records,
    documents: { require: never },
    blindWrites: 'warn',
    clock,
  } as const
  const metrics = { add() {} }
  const server = createToolServer({ tools, clock, random: systemRandom, log: silentLogger, metrics, glances })
  const call = (name: string, more: object = {}, signal = new AbortController().signal) => {
    const context: CallContext = {
      access: { sub: 'ann', workspaceId: REF.workspaceId, role: 'member', limits: NO_LIMITS },
      isStatic: false,
      view: { toolsets: null, readonly: false, extra: true },
      clientName: null,
      signal,
      progress() {},
    }
    return server.call(`service_${name}`, { docId: REF.id, ...more }, context)
  }
  return { records, memories, call }
}

it('[AG-20] [MCP-15] an aborted call leaves no recording of document changes behind', async () => {
  const given = new AbortController()
  const { records, call } = remembering(
    toolOf('waits', async ({ signal }) => {
      given.abort(new Error('gone'))
      signal.throwIfAborted()
      return success({})
    }),
  )
  await expect(call('waits', {}, given.signal)).rejects.toThrow('gone')
  expect(records.isHeld(REF)).toBe(false)
  await expect(call('waits', {}, AbortSignal.abort(new Error('gone before')))).rejects.toThrow('gone before')
  expect(records.isHeld(REF)).toBe(false)
})

it('[AG-19] [TOOL-21] delete_document forgets what its caller saw of the document, and a dry run does not', async () => {
  const { memories, records, call } = remembering(
    toolOf('reads', async () => success({ serverVersion: 7 })),
    toolOf('deletes', async ({ args }) => success({ deleted: REF.id, ...(args['dryRun'] === true && { dryRun: true }) })),
  )
  await call('reads')
  expect([memories.size, records.isHeld(REF)]).toEqual([1, true])
  await call('deletes', { dryRun: true })
  expect([memories.size, records.isHeld(REF)]).toEqual([1, true])
  await call('deletes')
  expect([memories.size, records.isHeld(REF)]).toEqual([0, false])
})
