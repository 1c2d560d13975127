import type { RoutedEdit } from '@docrelay/model/canvas/shape-edits'
import type { GivenWays } from '@docrelay/model/canvas/ways'
import type { Documents } from '../../documents/documents.ts'
import type { ToolCall } from '../tool.ts'
import type { DiagramLayouts } from './diagram-layouts.ts'
import type { Editable } from './edit-tool.ts'
import { storedBody } from './stored-body.ts'

export interface WaysDeps {
  readonly documents: Editable & Pick<Documents, 'get'>
  readonly layouts: Pick<DiagramLayouts, 'route'>
}

/** Returns the argument `ways`. The edit routes a few connectors itself; when it refuses because there are too many, a thread routes them. [CONC-13] */
export async function waysOf(
  edit: RoutedEdit,
  { access, args, signal }: ToolCall,
  attempt: number,
  { documents, layouts }: WaysDeps,
): Promise<{ readonly ways: GivenWays }> {
  if (attempt === 0) return { ways: 'few' }
  const body = await storedBody(documents, access, args['docId'] as string)
  return { ways: body === 'none' ? [] : await layouts.route({ workspaceId: access.workspaceId, body, edit, args, signal }) }
}
