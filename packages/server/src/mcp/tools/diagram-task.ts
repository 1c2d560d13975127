import { readStoredBody } from '@docrelay/model/body-parse'
import type { GenerateDiagram } from '@docrelay/model/canvas/generate/diagram-input'
import { drawDiagram, type DrawnDiagram } from '@docrelay/model/canvas/generate/draw-diagram'
import type { Refusal } from '@docrelay/model/edit'

/** Lays out a diagram in a task thread. Input and output are plain data. */
export interface DiagramTask {
  /** The stored body; `null` when the layout does not depend on the page's content. */
  readonly body: Uint8Array | null
  readonly args: GenerateDiagram
  /** Four bytes of shared memory. A value other than zero means that the layout is no longer wanted. */
  readonly stop: SharedArrayBuffer
}

/** Lays out one diagram. Throws LayoutStopped when `stop` was set. [DIAG-17] */
export function runDiagramTask({ body, args, stop }: DiagramTask): DrawnDiagram | Refusal {
  const flag = new Int32Array(stop)
  return drawDiagram(body && readStoredBody(body), args, () => Atomics.load(flag, 0) !== 0)
}
