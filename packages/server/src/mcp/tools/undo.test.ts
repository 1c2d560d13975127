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

/** An undo of a call that another undo takes back while this one is written, which is answered `outcome` then. */
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

it('[AG-72] an undo that the store refuses, because another was faster, says so and by which call, after one more look', async () => {
  expect(await overtaken(undoneBefore())).toEqual({ answer: expect.objectContaining(UNDONE), tries: 2 })
})

it('[AG-72] an undo that lost every race asks whether another undo was among the winners', async () => {
  expect(await overtaken(contendedEdit(7))).toEqual({ answer: expect.objectContaining(UNDONE), tries: 1 })
})

it('[AG-68] an undo of the last call that another undo overtakes takes back the call before it', async () => {
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
      // The faster undo has been written, so nothing of the call is left.
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
