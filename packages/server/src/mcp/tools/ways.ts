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

/** Most calls route a connector or two, which the edit does itself. When it refuses since there are too many, they are routed before it runs again. [CONC-13] */
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
