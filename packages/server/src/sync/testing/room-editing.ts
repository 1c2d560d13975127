import type { EditArgs, EditName } from '@docrelay/model/edits'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { EditOutcome, EditRequest } from '../../documents/residents.port.ts'
import type { TestWorker } from './worker-harness.ts'
import { PRIVATE_DOCS } from '../../access/testing/policies.ts'

type Given = Partial<Pick<EditRequest, 'expectedVersion' | 'dryRun' | 'agent'>> & {
  readonly sub?: string
  readonly role?: EditRequest['access']['role']
  readonly quotaBytes?: number
  readonly maxDocBytes?: number
}

/** An edit as `Documents.edit` hands it on. */
export function editRequest<N extends EditName>(head: DocumentHead, edit: N, args: EditArgs<N>, given: Given = {}): EditRequest {
  const { sub = 'agent', role = 'owner', quotaBytes = null, maxDocBytes = null, ...asked } = given
  const limits = { ...NO_LIMITS, quotaBytes, maxDocBytes, maxDocBytesSource: 'claim' } as const
  return {
    ref: { workspaceId: head.workspaceId, id: head.id },
    access: { sub, workspaceId: head.workspaceId, role, limits },
    accessPolicy: PRIVATE_DOCS,
    edit,
    args,
    expectedVersion: null,
    dryRun: false,
    agent: null,
    ...asked,
  }
}

/** Runs it in a room; throws when the room cannot answer. */
export async function editIn(worker: TestWorker, room: number, request: EditRequest): Promise<EditOutcome> {
  const outcome = await worker.job(room, { kind: 'edit', request })
  if (outcome.kind !== 'edit') throw new Error(`the edit ended ${JSON.stringify(outcome)}`)
  return outcome.outcome
}

/** The outcome of an edit that was done. */
export function done(outcome: EditOutcome): Extract<EditOutcome, { kind: 'edited' }> {
  if (outcome.kind === 'refused') throw new Error(`${outcome.code}: ${outcome.message}`)
  if (outcome.kind === 'repeated') throw new Error('it was done before')
  return outcome
}
