import { describe, expect, it } from 'vitest'
import type { Json } from '@docrelay/model/json'
import { noFacts } from '../../documents/testing/document-writes.ts'
import type { EditInput } from '../../documents/edit.ts'
import type { EditOutcome } from '../../documents/residents.port.ts'
import { runTool, toolCall } from '../testing/tool-call.ts'
import { agentOf } from './edit-tool.ts'
import { proseTools } from './prose.ts'

const head = { id: 'd', workspaceId: 'default', version: 7, facts: noFacts } as unknown as Extract<
  EditOutcome,
  { kind: 'edited' }
>['head']

const EFFECTS = { changed: 1, callId: 'call-000000000001' } as const

/** The tools over a document service that returns `outcome`, with the requests that the service received. */
function edited(outcome: Partial<EditOutcome>) {
  const asked: EditInput[] = []
  const told = { result: { pageId: 'p', ok: true }, effects: EFFECTS, fixes: [], warnings: [] }
  const whole = { kind: 'edited', head, changed: true, ...told, ...outcome }
  const tools = proseTools({
    edit: async (_, input) => {
      asked.push(input)
      return whole as EditOutcome
    },
    require: async () => head,
  })
  return {
    asked,
    run: (args: Readonly<Record<string, unknown>>, more: Parameters<typeof toolCall>[1] = {}) =>
      runTool(tools, 'delete_block', toolCall({ docId: 'd', pageId: 'p', id: 'blk-1', ...args }, more)),
  }
}

describe('answers of an edit tool', () => {
  it('[TOOL-15] [TOOL-17] an edit returns what it did, its version and its fixes', async () => {
    const fixes = [{ action: 'clamped', reason: 'r' }] as const
    expect(await edited({}).run({})).toEqual({ pageId: 'p', ok: true, ...EFFECTS, serverVersion: 7 })
    expect(await edited({ fixes }).run({ dryRun: true })).toEqual({
      pageId: 'p',
      ok: true,
      ...EFFECTS,
      serverVersion: 7,
      fixes,
      dryRun: true,
    })
  })

  it('[TOOL-20] [PROSE-47] the expected version goes both to the version check and to the arguments of the edit', async () => {
    const { asked, run } = edited({})
    await run({ id: '@1', expectedVersion: 7, dryRun: true })
    await run({ id: 'blk-1' })
    expect(asked).toMatchObject([
      {
        id: 'd',
        edit: 'delete_block',
        args: { docId: 'd', pageId: 'p', id: '@1', expectedVersion: 7 },
        expectedVersion: 7,
        dryRun: true,
      },
      { expectedVersion: null, dryRun: false },
    ])
    expect(asked[0]?.args).not.toHaveProperty('dryRun')
  })

  it('[TOOL-22] a repeat gets the first answer with replayed added', async () => {
    const lockedHead = { ...head, facts: { ...noFacts, carried: { lockedBy: 'u1' } } }
    const once = { requestId: 'r', request: 'q', digest: 'x' }
    const { asked, run } = edited({ head: lockedHead })
    const first = await run({}, { once })
    expect(asked).toMatchObject([{ once }])
    const answer = { result: { pageId: 'p', ok: true }, effects: EFFECTS, notes: { warnings: first['warnings'] } }
    const repeat = await edited({ kind: 'repeated', answer, version: 7 }).run({}, { once })
    expect(repeat).toEqual({ ...first, replayed: true })
    expect(Object.keys(repeat)).toEqual([...Object.keys(first), 'replayed'])
  })

  it('[TOOL-8] a refused edit is returned with its facts', async () => {
    const refusal = { kind: 'refused', code: 'ERR_ID_NOT_FOUND', message: 'no such block', facts: { id: 'x' } } as const
    expect(await edited(refusal).run({})).toEqual({ code: 'ERR_ID_NOT_FOUND', message: 'no such block', id: 'x' })
  })

  it('[TOOL-19] [CANVAS-23] an edit of a locked document is written, with a warning that names the lock holder', async () => {
    const locked = (carried: Readonly<Record<string, Json>>) =>
      edited({ head: { ...head, facts: { ...noFacts, carried } } }).run({})
    expect(await locked({ lockedBy: 'u1', lockedByName: 'Ada' })).toMatchObject({
      serverVersion: 7,
      warnings: [{ field: 'lockedBy', reason: expect.stringContaining('Ada') }],
    })
    expect(JSON.stringify(await locked({ lockedBy: 'u'.repeat(999) })).length).toBeLessThan(400)
    for (const lockedBy of [null, '', 7]) expect(await locked({ lockedBy })).not.toHaveProperty('warnings')
  })
})

describe('presence of an agent', () => {
  it('[PRES-2] an agent is shown under the name of its client, in a colour that depends on its principal', () => {
    const { access } = toolCall({})
    expect(agentOf({ access, clientName: `  ${'é'.repeat(70)} ` }).name).toBe('é'.repeat(64))
    for (const clientName of [null, ' ']) expect(agentOf({ access, clientName }).name).toBe('Agent')
    const { color } = agentOf({ access, clientName: null })
    expect(color).toMatch(/^#[0-9a-f]{6}$/)
    expect(agentOf({ access, clientName: 'other' }).color).toBe(color)
    expect(agentOf({ access: { ...access, sub: 'bob' }, clientName: null }).color).not.toBe(color)
  })
})
