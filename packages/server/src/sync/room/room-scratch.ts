import * as Y from 'yjs'
import type { Clock } from '../../kernel/clock.ts'
import { ownThreadMs } from '../../kernel/processor-time.ts'
import { openTaskPool, type TaskPool } from '../../kernel/task-pool.ts'
import type { LoadSlots } from './room-host.ts'
import { indexedDoc } from './indexed-doc.ts'

/**
 * Tests updates and snapshots on a copy of the document in another thread, so that a harmful one cannot block the home of the room. One
 * task runs at a time, and each is charged to its workspace. The workspace that owes the least processor time has the next task.
 * [G9, G10, D8]
 */
export interface ScratchPool {
  /** Applies `update` to a copy made from `state`. Returns false when that takes too long, fails, or leaves content pending. */
  trial(workspaceId: string, state: Uint8Array, update: Uint8Array): Promise<boolean>
  /** Decodes a snapshot and compares its state vector. `unknown`: the task ran out of time or memory, so the answer is unknown. */
  verify(workspaceId: string, snapshot: Uint8Array, vector: Uint8Array): Promise<'holds' | 'differs' | 'unknown'>
  /** Decodes a whole state and returns how many ms that took; `null` when it took too long or failed. [G9] */
  loadMs(workspaceId: string, state: Uint8Array): Promise<number | null>
  [Symbol.asyncDispose](): Promise<void>
}

export type ScratchTask =
  | { readonly kind: 'trial'; readonly state: Uint8Array; readonly update: Uint8Array }
  | { readonly kind: 'verify'; readonly snapshot: Uint8Array; readonly vector: Uint8Array }
  | { readonly kind: 'load'; readonly state: Uint8Array }

export interface ScratchResult {
  /** Result of a `trial` or a `verify`; always true for a `load`. */
  readonly passed: boolean
  /** Processor time that the task took. */
  readonly tookMs: number
}

export interface ScratchPoolOptions {
  /** Admits one task at a time. */
  readonly slots: Pick<LoadSlots, 'run'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Charges processor time to a workspace. */
  readonly charge: (workspaceId: string, tookMs: number) => void
  /** Up to this size snapshots are checked in the calling thread; `HERE_BYTES` when absent. */
  readonly hereBytes?: number
  /** The threads; tests pass their own. */
  readonly pool?: TaskPool<ScratchTask, ScratchResult>
}

const MIB = 1024 * 1024
/** Up to this size, decoding a snapshot in the calling thread costs less than sending its bytes to another thread. */
const HERE_BYTES = 16 * 1024
const HEAP_MIB = 1024

/** Opens a low-priority thread, which starts with its first task. */
function openScratchThread(): TaskPool<ScratchTask, ScratchResult> {
  return openTaskPool({
    entry: new URL('./room-scratch-thread.ts', import.meta.url),
    size: 1,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    deadline: 'processor',
  })
}

/** Opens the pool. Each task may take 2 s of processor time plus 1 s per MiB. [C4, G10] */
export function openScratchPool({
  slots,
  clock,
  charge,
  hereBytes = HERE_BYTES,
  pool = openScratchThread(),
}: ScratchPoolOptions): ScratchPool {
  /** Resolves to `null` when the task took too long or failed. Its workspace is then charged the elapsed time, at most the deadline. */
  const run = (workspaceId: string, task: ScratchTask, bytes: number): Promise<ScratchResult | null> =>
    slots.run(workspaceId, async () => {
      const deadlineMs = 2_000 + (1_000 * bytes) / MIB
      const startedMs = clock.monotonicMs()
      const outcome = await pool.run({ task, deadlineMs })
      if (outcome.kind === 'done') {
        charge(workspaceId, outcome.result.tookMs)
        return outcome.result
      }
      charge(workspaceId, Math.min(deadlineMs, clock.monotonicMs() - startedMs))
      return null
    })
  const runHere = (workspaceId: string, task: ScratchTask): ScratchResult => {
    const result = runScratch(task)
    charge(workspaceId, result.tookMs)
    return result
  }
  return {
    async trial(workspaceId, state, update) {
      const result = await run(workspaceId, { kind: 'trial', state, update }, state.length + update.length)
      return result?.passed ?? false
    },
    async verify(workspaceId, snapshot, vector) {
      const task = { kind: 'verify' as const, snapshot, vector }
      const result = snapshot.length <= hereBytes ? runHere(workspaceId, task) : await run(workspaceId, task, snapshot.length)
      if (result === null) return 'unknown'
      return result.passed ? 'holds' : 'differs'
    },
    async loadMs(workspaceId, state) {
      const result = await run(workspaceId, { kind: 'load', state }, state.length)
      return result?.tookMs ?? null
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Runs one task on a fresh document. A `load` that cannot be decoded throws. */
export function runScratch(task: ScratchTask): ScratchResult {
  const startedMs = ownThreadMs()
  const passed = task.kind === 'load' ? decode(task.state) : passes(task)
  return { passed, tookMs: ownThreadMs() - startedMs }
}

function passes(task: Exclude<ScratchTask, { kind: 'load' }>): boolean {
  const doc = indexedDoc()
  try {
    if (task.kind === 'trial') {
      Y.applyUpdate(doc, task.state)
      Y.applyUpdate(doc, task.update)
    } else {
      Y.applyUpdate(doc, task.snapshot)
    }
    const complete = doc.store.pendingStructs === null && doc.store.pendingDs === null
    return complete && (task.kind === 'trial' ? decodes(doc) : sameVector(Y.encodeStateVector(doc), task.vector))
  } catch {
    return false
  } finally {
    doc.destroy()
  }
}

function decode(state: Uint8Array): true {
  const doc = indexedDoc()
  Y.applyUpdate(doc, state)
  doc.destroy()
  return true
}

/** Whether the resulting state can be decoded again. */
function decodes(doc: Y.Doc): boolean {
  const copy = indexedDoc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return copy.store.pendingStructs === null && copy.store.pendingDs === null
}

/** Compares two state vectors entry by entry, because each lists its clients in their order of arrival. */
function sameVector(a: Uint8Array, b: Uint8Array): boolean {
  const one = Y.decodeStateVector(a)
  const other = Y.decodeStateVector(b)
  return one.size === other.size && [...one].every(([client, clock]) => other.get(client) === clock)
}
