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

/** Returns an edit as `Documents.edit` passes it to a room. */
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

/** Runs an edit in a room. Throws when the room cannot answer. */
export async function editIn(worker: TestWorker, room: number, request: EditRequest): Promise<EditOutcome> {
  const outcome = await worker.job(room, { kind: 'edit', request })
  if (outcome.kind !== 'edit') throw new Error(`the edit ended ${JSON.stringify(outcome)}`)
  return outcome.outcome
}

/** Returns the outcome of an edit. Throws when the edit was refused or repeated. */
export function done(outcome: EditOutcome): Extract<EditOutcome, { kind: 'edited' }> {
  if (outcome.kind === 'refused') throw new Error(`${outcome.code}: ${outcome.message}`)
  if (outcome.kind === 'repeated') throw new Error('it was done before')
  return outcome
}
