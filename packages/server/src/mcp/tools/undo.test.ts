import { expect, it } from 'vitest'
import type { CallStore, StoredCall } from '../../documents/call-store.port.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { contendedEdit, undoneBefore } from '../../documents/edit-plan.ts'
import type { EditOutcome } from '../../documents/residents.port.ts'
import { runTool, toolCall } from '../testing/tool-call.ts'
import { undoTool } from './undo.ts'

const CALL: StoredCall = {
  ...{ callId: 'call-1', tool: 'set_prose', sub: 'ann', client: null, caller: null, changed: 1, removed: 0 },
  ...{ atMs: 0, version: 2, hasRecord: true, undoneBy: null, record: new TextEncoder().encode('{}'), answer: null },
}

async function notAsked(): Promise<never> {
  throw new Error('this is asked only where a try failed because of its connectors')
}

/** Runs an undo while a faster undo takes the same call back. The write of the slower undo gets `outcome`. */
async function overtaken(outcome: EditOutcome) {
  let stored = CALL
  let tries = 0
  const calls: Pick<CallStore, 'list' | 'read'> = { list: async () => [stored], read: async () => [stored] }
  const documents = {
    get: notAsked,
    require: async () => ({ key: 1, version: 7 }) as DocumentHead,
    async edit(_: unknown, { args }: { readonly args: unknown }): Promise<EditOutcome> {
      tries++
      stored = { ...CALL, undoneBy: 'call-2' }
      return (args as { readonly refusal?: EditOutcome }).refusal ?? outcome
    },
  }
  const tool = undoTool({ documents, calls, layouts: { route: notAsked }, clock: { nowMs: () => 0 } })
  const answer = await runTool([tool], 'undo', toolCall({ docId: 'd', callId: 'call-1' }))
  return { answer, tries }
}

const UNDONE = { code: 'ERR_NOT_UNDOABLE', callId: 'call-1', reason: 'undone', undoneBy: 'call-2' }

it('[AG-72] an undo refused by the store because another was faster names that undo, after one more try', async () => {
  expect(await overtaken(undoneBefore())).toEqual({ answer: expect.objectContaining(UNDONE), tries: 2 })
})

it('[AG-72] an undo that lost every race reports another undo of its call when there was one', async () => {
  expect(await overtaken(contendedEdit(7))).toEqual({ answer: expect.objectContaining(UNDONE), tries: 1 })
})

it('[AG-68] an undo of the last call that another undo overtakes takes back the call before', async () => {
  const own = { ...CALL, client: 'Agent' }
  let stored: readonly StoredCall[] = [own, { ...own, callId: 'call-0', version: 1 }]
  const tries: unknown[] = []
  const calls: Pick<CallStore, 'list' | 'read'> = {
    list: async () => stored,
    read: async (_, callIds) => stored.filter(({ callId }) => callIds.includes(callId)),
  }
  const documents = {
    get: notAsked,
    require: async () => ({ key: 1, version: 7 }) as DocumentHead,
    async edit(_: unknown, { args }: { readonly args: unknown }): Promise<EditOutcome> {
      const { targets } = args as { readonly targets: readonly { readonly callId: string }[] }
      const undone = targets.flatMap(({ callId }) => (callId === 'call-0' ? callId : []))
      tries.push(targets.map(({ callId }) => callId))
      // The faster undo is stored now, so this undo finds nothing of the call to take back.
      stored = stored.map((call) => (call.callId === 'call-1' ? { ...call, undoneBy: 'call-2' } : call))
      const effects = { changed: undone.length }
      const head = { version: 8, facts: { carried: {} } } as DocumentHead
      return { kind: 'edited', head, changed: undone.length > 0, result: { undone }, effects, fixes: [], warnings: [] }
    },
  }
  const tool = undoTool({ documents, calls, layouts: { route: notAsked }, clock: { nowMs: () => 0 } })
  const answer = await runTool([tool], 'undo', toolCall({ docId: 'd', last: 1 }))
  expect(tries).toEqual([['call-1'], ['call-0']])
  expect(answer).toMatchObject({ undone: ['call-0'], changed: 1 })
})
