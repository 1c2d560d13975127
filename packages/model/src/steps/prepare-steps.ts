import type { DocumentBody } from '../body.ts'
import { drawDiagram } from '../canvas/generate/draw-diagram.ts'
import type { GenerateDiagram } from '../canvas/generate/diagram-input.ts'
import { findWays, isRoutedEdit } from '../canvas/shape-edits.ts'
import { type EditEnvironment, isRefusal } from '../edit.ts'
import { runEdit, type SimpleEditName } from '../edits.ts'
import { type EditDocument, type PreparedStep, runSteps } from './edit-document.ts'

/**
 * Computes before the write what takes long in the steps of a call: layouts of diagrams and ways of connectors, by step. Runs the steps on the body, so that a
 * diagram finds the shapes of earlier steps, and throws their result away. Prepares no step behind a refused step. Calls `spend` now and then; `spend` may
 * throw to end the preparation. [AG-53, AG-58, DIAG-17, CONC-13]
 */
export function prepareSteps(
  body: DocumentBody,
  args: EditDocument,
  environment: EditEnvironment,
  isStopped: () => boolean,
  spend: () => void,
): readonly (PreparedStep | null)[] {
  const prepared: (PreparedStep | null)[] = []
  const prepare = (tool: string, now: DocumentBody, own: unknown, same: EditEnvironment): PreparedStep | null => {
    spend()
    if (isRoutedEdit(tool)) return { ways: findWays(tool, now, own, same, { spend }) }
    if (tool !== 'generate_diagram') return null
    const drawn = drawDiagram(now, own as GenerateDiagram, isStopped)
    return isRefusal(drawn) ? { isRefused: true } : { drawn }
  }
  runSteps(
    (tool, now, own, same) => {
      const extra = prepare(tool, now, own, same)
      prepared.push(extra)
      return runEdit(tool as SimpleEditName, now, { ...(own as object), ...extra }, same)
    },
    body,
    args,
    environment,
  )
  return prepared
}
