import type { GenerateDiagram } from '@docrelay/model/canvas/generate/diagram-input'
import type { DrawnDiagram } from '@docrelay/model/canvas/generate/draw-diagram'
import type { RoutedEdit } from '@docrelay/model/canvas/shape-edits'
import type { FoundWay } from '@docrelay/model/canvas/ways'
import type { Refusal } from '@docrelay/model/edit'
import type { EditDocument, PreparedStep } from '@docrelay/model/steps/edit-document'
import { RelayError } from '../../kernel/errors.ts'
import { createLanes } from '../../kernel/fair-turns.ts'
import type { Logger } from '../../kernel/log.ts'
import { openTaskPool } from '../../kernel/task-pool.ts'
import { OverdueLayout } from '../overdue-layout.ts'
import type { DiagramTask, DiagramTaskResult } from './diagram-task.ts'

const DEADLINE_MS = 15_000
const THREADS = 2
const MIB = 1_048_576
const ENDS_THREAD_BYTES = 16 * MIB
/** Reading a body above this size takes so long that diagrams with smaller bodies must not wait for it. [C11] */
const HEAVY_BYTES = 4 * MIB
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024 }

interface Asked {
  readonly workspaceId: string
  /** Aborted when the caller gave up. */
  readonly signal: AbortSignal
}

export interface LayoutRequest extends Asked {
  /** The stored body; `null` when the layout does not depend on the page's content. */
  readonly body: Uint8Array | null
  readonly args: GenerateDiagram
}

export interface WaysRequest extends Asked {
  readonly body: Uint8Array
  readonly edit: RoutedEdit
  readonly args: object
}

export interface StepsRequest extends Asked {
  readonly body: Uint8Array
  readonly args: EditDocument
}

/**
 * Lays out diagrams and routes connectors in task threads, so that neither the main thread nor a live document waits for them. [DIAG-17,
 * CONC-13]
 */
export interface DiagramLayouts extends AsyncDisposable {
  /**
   * Rejects with OverdueLayout when the layout takes too long, and with the signal's reason when the caller gave up. Either way the layout
   * stops.
   */
  draw(request: LayoutRequest): Promise<DrawnDiagram | Refusal>
  /** Computes the routes that an edit needs for its connectors. Rejects as `draw` does. */
  route(request: WaysRequest): Promise<readonly FoundWay[]>
  /** Computes layouts and routes for the steps of one call, one entry for each step. Rejects as `draw` does. */
  prepare(request: StepsRequest): Promise<readonly (PreparedStep | null)[]>
}

/**
 * Opens the threads; the first diagram starts one. Workspaces take turns, and only one diagram of a workspace is laid out at a time. [C11]
 */
export function openDiagramLayouts(log: Logger, deadlineMs = DEADLINE_MS): DiagramLayouts {
  const lanes = createLanes({ slots: THREADS, perHolder: 1 })
  const pool = openTaskPool<DiagramTask, DiagramTaskResult>({
    entry: new URL('./diagram-worker.ts', import.meta.url),
    size: THREADS,
    resourceLimits: RESOURCE_LIMITS,
    deadline: 'processor',
  })

  async function run(task: Unstoppable<DiagramTask>, signal: AbortSignal): Promise<DiagramTaskResult> {
    const { body } = task
    const stop = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const halt = (): void => void Atomics.store(new Int32Array(stop), 0, 1)
    signal.throwIfAborted()
    signal.addEventListener('abort', halt)
    try {
      const endsThread = body !== null && body.byteLength > ENDS_THREAD_BYTES
      const outcome = await pool.run({ task: { ...task, stop }, deadlineMs, endsThread, givenUp: signal })
      signal.throwIfAborted()
      if (outcome.kind === 'done') return outcome.result
      if (outcome.kind === 'overdue') throw new OverdueLayout()
      const detail = outcome.kind === 'failed' ? outcome.detail : 'it was given up'
      log.error('diagram.task_failed', 'a diagram could not be laid out', { detail })
      throw new RelayError('UNAVAILABLE', 'The diagram could not be laid out now.')
    } finally {
      signal.removeEventListener('abort', halt)
    }
  }

  function inLane(task: Unstoppable<DiagramTask>, { workspaceId, signal }: Asked): Promise<DiagramTaskResult> {
    const heavy = (task.body?.byteLength ?? 0) > HEAVY_BYTES
    return lanes.run({ holder: workspaceId, heavy, givenUp: signal }, () => run(task, signal))
  }

  return {
    async draw({ body, args, ...asked }) {
      const result = await inLane({ kind: 'draw', body, args }, asked)
      return (result as Extract<DiagramTaskResult, { kind: 'drawn' }>).drawn
    },
    async route({ body, edit, args, ...asked }) {
      const result = await inLane({ kind: 'route', body, edit, args }, asked)
      return (result as Extract<DiagramTaskResult, { kind: 'routed' }>).ways
    },
    async prepare({ body, args, ...asked }) {
      const result = await inLane({ kind: 'steps', body, args }, asked)
      return (result as Extract<DiagramTaskResult, { kind: 'prepared' }>).steps
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

type Unstoppable<T> = T extends unknown ? Omit<T, 'stop'> : never
