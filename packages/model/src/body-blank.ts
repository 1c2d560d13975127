import type { DocumentBody } from './body.ts'
import type { Json } from './json.ts'

export interface BlankBody {
  readonly id: string
  readonly title: string
  readonly nowMs: number
  readonly canvasPageId: string
  readonly prosePageId: string
  /** The written form of new documents: `keyed` where the relay serves editors of the keyed form, else `list`. [CFG-2] */
  readonly form: 'list' | 'keyed'
}

/** Makes the body of a new document: one canvas page without shapes, one empty prose page. [BODY-12] */
export function blankBody(blank: BlankBody): DocumentBody {
  const { id, title, nowMs, form, canvasPageId, prosePageId } = blank
  const members: readonly (readonly [string, Json])[] = [
    ['id', id],
    ['name', title],
    ['title', title],
    ['createdAt', nowMs],
    ['modifiedAt', nowMs],
    ['activePageId', canvasPageId],
    ['blobReferences', []],
  ]
  const names = members.map(([name]) => name)
  return {
    memberOrder: [...names.slice(0, 5), 'pages', ...(form === 'keyed' ? ['pageOrder'] : []), 'richTextPages', ...names.slice(5)],
    members: new Map(members),
    canvas: { form, pages: [{ id: canvasPageId, members: { id: canvasPageId, name: 'Canvas' }, shapesForm: form, shapes: [] }] },
    prose: {
      form,
      members: form === 'keyed' ? { activePageId: prosePageId } : {},
      pages: [{ id: prosePageId, members: { id: prosePageId, name: 'Prose', order: 0 }, content: '<p></p>' }],
    },
    references: undefined,
    fields: undefined,
  }
}
