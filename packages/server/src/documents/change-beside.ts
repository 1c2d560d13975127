import type { Access } from '../access/access.ts'
import { retryCas } from '../kernel/retry-cas.ts'
import { quotaRefusal } from './put-plan.ts'
import { refusedWrite } from './refused-write.ts'
import { inTurn, refuseContended, type WritingDeps } from './writing.ts'
import type { DocumentHead, DocumentRef } from './document-store.port.ts'

/** A change of the members that are stored beside a body: share list, owner, collection. */
export type BesideChange =
  | Pick<DocumentHead, 'collectionId'>
  | Pick<DocumentHead, 'sharedWith'>
  | Pick<DocumentHead, 'ownerId' | 'ownerName' | 'sharedWith'>

export type BesideOutcome = { readonly kind: 'changed' | 'unchanged'; readonly head: DocumentHead } | { readonly kind: 'gone' }

/** Names a document, or one life of it when a key is given. */
export type BesideTarget = DocumentRef & { readonly key?: number }

/**
 * Changes members that are stored beside the body, and plans the change again when another writer was faster.
 *
 * `change` gets the stored document, throws when the caller lacks the right, and returns `null` when there is nothing
 * to do. With `gatedBy` the quota of that caller applies to growth. When the promise resolves, the change is durable,
 * and the live document and clients are told. [LIFE-2, LIFE-13, WS-53]
 */
export function changeBeside(
  deps: WritingDeps,
  target: BesideTarget,
  actor: string,
  change: (head: DocumentHead) => BesideChange | null | Promise<BesideChange | null>,
  gatedBy?: Access,
): Promise<BesideOutcome> {
  const { store, residents, events, clock } = deps
  const ref = { workspaceId: target.workspaceId, id: target.id }
  return inTurn(deps, ref, () =>
    retryCas<BesideOutcome>(async () => {
      const state = await store.state(ref)
      if (state.kind !== 'document' || (target.key !== undefined && target.key !== state.head.key)) return { kind: 'gone' }
      const { head } = state
      const set = await change(head)
      if (set === null) return { kind: 'unchanged', head }
      const outcome = await store.write({
        ref,
        expect: { kind: 'document', key: head.key, version: head.version },
        set,
        bump: true,
        nowMs: clock.nowMs(),
        quotaBytes: gatedBy?.limits.quotaBytes ?? null,
        log: { kind: 'none' },
        told: { actor },
      })
      if (outcome.kind === 'over-quota' && gatedBy !== undefined) throw refusedWrite(quotaRefusal(outcome, gatedBy), deps.metrics)
      if (outcome.kind !== 'written') return 'again'
      residents.bodyChanged(ref, outcome.head.version)
      events.publish({ kind: 'updated', head: outcome.head, actor })
      if ('sharedWith' in set) residents.sharingChanged(outcome.head)
      return { kind: 'changed', head: outcome.head }
    }, refuseContended),
  )
}
