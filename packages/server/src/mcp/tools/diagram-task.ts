import { readStoredBody } from '@docrelay/model/body-parse'
import type { GenerateDiagram } from '@docrelay/model/canvas/generate/diagram-input'
import { LayoutStopped } from '@docrelay/model/canvas/diagram/effort'
import { drawDiagram, type DrawnDiagram } from '@docrelay/model/canvas/generate/draw-diagram'
import { findWays, type RoutedEdit } from '@docrelay/model/canvas/shape-edits'
import type { FoundWay } from '@docrelay/model/canvas/ways'
import type { Refusal } from '@docrelay/model/edit'
import type { EditDocument, PreparedStep } from '@docrelay/model/steps/edit-document'
import { prepareSteps } from '@docrelay/model/steps/prepare-steps'

/** A layout of a diagram, the routes for an edit's connectors, or both for the steps of a call. Input and output are plain data. */
export type DiagramTask = DrawTask | RouteTask | StepsTask

interface Stoppable {
  /** Four bytes of shared memory. Any value but zero tells the thread to stop. */
  readonly stop: SharedArrayBuffer
}

export interface DrawTask extends Stoppable {
  readonly kind: 'draw'
  /** The stored body; `null` when the layout does not depend on the page's content. */
  readonly body: Uint8Array | null
  readonly args: GenerateDiagram
}

export interface RouteTask extends Stoppable {
  readonly kind: 'route'
  readonly body: Uint8Array
  readonly edit: RoutedEdit
  readonly args: object
}

export interface StepsTask extends Stoppable {
  readonly kind: 'steps'
  readonly body: Uint8Array
  readonly args: EditDocument
}

export type DiagramTaskResult =
  | { readonly kind: 'drawn'; readonly drawn: DrawnDiagram | Refusal }
  | { readonly kind: 'routed'; readonly ways: readonly FoundWay[] }
  | { readonly kind: 'prepared'; readonly steps: readonly (PreparedStep | null)[] }

/** Runs a task. Throws LayoutStopped once `stop` is set. [DIAG-17, CONC-13] */
export function runDiagramTask(task: DiagramTask): DiagramTaskResult {
  const flag = new Int32Array(task.stop)
  const isStopped = (): boolean => Atomics.load(flag, 0) !== 0
  if (task.kind === 'draw') {
    const { body, args } = task
    return { kind: 'drawn', drawn: drawDiagram(body && readStoredBody(body), args, isStopped) }
  }
  // The write makes other ids than this environment, but no route depends on an id.
  let made = 0
  const environment = { nowMs: 0, random: (count: number) => String(made++).padStart(count, '0') }
  const spend = (): void => {
    if (isStopped()) throw new LayoutStopped()
  }
  const body = readStoredBody(task.body)
  if (task.kind === 'steps') return { kind: 'prepared', steps: prepareSteps(body, task.args, environment, isStopped, spend) }
  return { kind: 'routed', ways: findWays(task.edit, body, task.args, environment, { spend }) }
}
