import * as Y from 'yjs'
import { openTaskPool } from '../../kernel/task-pool.ts'
import { indexedDoc } from './root-index.ts'

/** Work on a copy of a document outside the worker's own thread, so that a bad one hurts nobody. [G10, D8] */
export interface ScratchPool {
  /** Applies `update` to a copy made of `state`; false when that takes too long, fails, or leaves content pending. */
  trial(state: Uint8Array, update: Uint8Array): Promise<boolean>
  /** Decodes a snapshot once and compares its state vector. `untold`: it took too long or more memory than there is, so nobody knows. */
  verify(snapshot: Uint8Array, vector: Uint8Array): Promise<'holds' | 'differs' | 'untold'>
  [Symbol.asyncDispose](): Promise<void>
}

export type ScratchTask =
  | { readonly kind: 'trial'; readonly state: Uint8Array; readonly update: Uint8Array }
  | { readonly kind: 'verify'; readonly snapshot: Uint8Array; readonly vector: Uint8Array }

const MIB = 1024 * 1024
/** Below this a decode costs less than the way to another thread. */
const HERE_BYTES = 16 * 1024
const HEAP_MIB = 1024

/** A pool of one thread, started when it is first needed. A task has 2 s and 1 s per MiB. [C4, G10] */
export function openScratchPool(): ScratchPool {
  const pool = openTaskPool<ScratchTask, boolean>({
    entry: new URL('./room-scratch-thread.ts', import.meta.url),
    size: 1,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    deadline: 'processor',
  })
  const run = (task: ScratchTask, bytes: number) => pool.run({ task, deadlineMs: 2_000 + (1_000 * bytes) / MIB })
  return {
    async trial(state, update) {
      const outcome = await run({ kind: 'trial', state, update }, state.length + update.length)
      return outcome.kind === 'done' && outcome.result
    },
    async verify(snapshot, vector) {
      const task = { kind: 'verify' as const, snapshot, vector }
      const holds = (yes: boolean) => (yes ? 'holds' : 'differs')
      if (snapshot.length <= HERE_BYTES) return holds(runScratch(task))
      const outcome = await run(task, snapshot.length)
      return outcome.kind === 'done' ? holds(outcome.result) : 'untold'
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Runs one task on a document of its own. */
export function runScratch(task: ScratchTask): boolean {
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

/** Whether the state that came out can be read back. */
function decodes(doc: Y.Doc): boolean {
  const copy = indexedDoc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return copy.store.pendingStructs === null && copy.store.pendingDs === null
}

/** The order of clients in a state vector is the order of their arrival. */
function sameVector(a: Uint8Array, b: Uint8Array): boolean {
  const one = Y.decodeStateVector(a)
  const other = Y.decodeStateVector(b)
  return one.size === other.size && [...one].every(([client, clock]) => other.get(client) === clock)
}
