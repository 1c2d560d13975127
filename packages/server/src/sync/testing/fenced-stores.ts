import type { DocumentHead, DocumentState, DocumentStore } from '../../documents/document-store.port.ts'
import type { Storage } from '../../drivers/sql/storage.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { AppendOutcome, UpdateLog } from '../update-log.port.ts'
import type { MemoryOwnership } from './memory-ownership.ts'

export interface FencedStores {
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  readonly recovery: RecoveryStore
}

/** The faults in the calls of one node to the store. */
export interface StoreFaults {
  /** Resolves when the node may continue, as after SIGCONT. */
  gate: Promise<void>
  /** True while the store does not answer. */
  isDown: boolean
  /** The next append is committed or not, and the node gets no answer. */
  unanswered?: 'committed' | 'not committed' | null
  /** True when appends are refused while everything else works. */
  refuses?: boolean
}

/** Returns the stores of one of several nodes on one storage. These stores compare owners and epochs as the database does. [LIFE-26] */
export function fencedStores(
  { documents, updates, recovery }: Pick<Storage, 'documents' | 'updates' | 'recovery'>,
  ownership: MemoryOwnership,
  node: Incarnation,
  faults: StoreFaults = { gate: Promise.resolve(), isDown: false },
): FencedStores {
  const isFenced = (key: number, epoch: number | undefined): boolean => epoch !== undefined && !ownership.holds(node, key, epoch)
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    await faults.gate
    if (faults.isDown) throw new RelayError('UNAVAILABLE', 'the store does not answer')
    return ownership.inTurn(work)
  }
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    await faults.gate
    if (faults.isDown) throw new RelayError('UNAVAILABLE', 'the store does not answer')
    return work()
  }
  const owned = (head: DocumentHead): DocumentHead => ({ ...head, owner: ownership.ownerOf(head.key) })
  const ownedState = (state: DocumentState): DocumentState =>
    state.kind === 'document' ? { ...state, head: owned(state.head) } : state
  return {
    updates: {
      ...updates,
      load: (key) => read(() => updates.load(key)),
      after: (key, seq) => read(() => updates.after(key, seq)),
      append: (records) =>
        write(async () => {
          const { unanswered = null } = faults
          faults.unanswered = null
          if (unanswered === 'not committed' || faults.refuses === true) throw outcomeUnknown()
          const kept = records.filter(({ key, epoch }) => !isFenced(key, epoch))
          const stored = kept.length === 0 ? [] : await updates.append(kept.map((record) => withoutEpoch(record)))
          if (unanswered === 'committed') throw outcomeUnknown()
          const outcomes = new Map(kept.map((record, i) => [record, stored[i] as AppendOutcome]))
          return records.map((record) => outcomes.get(record) ?? { kind: 'fenced' })
        }),
      compact: (key, snapshot, epoch) => write(async () => (isFenced(key, epoch) ? 'fenced' : updates.compact(key, snapshot))),
      rebuild: (key, rebuilt, epoch) => write(async () => (isFenced(key, epoch) ? 'fenced' : updates.rebuild(key, rebuilt))),
    },
    recovery: {
      ...recovery,
      capture: (key, reason, nowMs, epoch) =>
        write(async () => (isFenced(key, epoch) ? { kind: 'fenced' } : recovery.capture(key, reason, nowMs))),
    },
    documents: {
      ...documents,
      state: (ref) => read(async () => ownedState(await documents.state(ref))),
      heads: (...which) => read(async () => (await documents.heads(...which)).map(owned)),
      list: (workspaceId) => read(async () => (await documents.list(workspaceId)).map(owned)),
      read: (ref) =>
        read(async () => {
          const record = await documents.read(ref)
          return record && { ...record, head: owned(record.head) }
        }),
      write: (given) =>
        write(async () => {
          const current = await documents.state(given.ref)
          const head = current.kind === 'document' ? owned(current.head) : null
          const { log } = given
          if (log.kind === 'live' && head !== null && isFenced(head.key, log.epoch)) return { kind: 'fenced', current: head }
          const foreign = head?.owner && head.owner.owner !== node ? head.owner : null
          if (log.kind === 'cold' && head !== null && foreign !== null)
            return ownership.isDead(foreign.owner)
              ? { kind: 'unsettled', current: head }
              : { kind: 'owned', by: foreign, current: head }
          const outcome = await documents.write({ ...given, log: log.kind === 'live' ? withoutEpoch(log) : log })
          return outcome.kind === 'written' ? { kind: 'written', head: owned(outcome.head) } : outcome
        }),
    },
  }
}

function outcomeUnknown(): RelayError {
  return new RelayError('NOT_PERSISTED', 'the answer of the store was lost')
}

/** Returns the same object without its epoch, because the storage below compares no owners. */
function withoutEpoch<T extends { readonly epoch?: number }>(given: T): Omit<T, 'epoch'> {
  const { epoch: _epoch, ...rest } = given
  return rest
}
