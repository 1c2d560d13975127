import type { CanvasPage, DocumentBody, ProsePage } from '@docrelay/model/body'
import { wireValue } from '../binding/binding-values.ts'

/**
 * Whether the live document can hold all changes of an edit. Then projecting the live document over the body from before the edit gives the
 * edited body. True for page text and shapes; false for page lists and for members that only the stored body has. [YDOC-6]
 */
export function isLiveChange(before: DocumentBody, after: DocumentBody): boolean {
  const { canvas, prose } = before
  return (
    before.memberOrder === after.memberOrder &&
    before.members === after.members &&
    before.references === after.references &&
    before.fields === after.fields &&
    canvas.form === after.canvas.form &&
    prose.form === after.prose.form &&
    prose.members === after.prose.members &&
    prose.memberOrder === after.prose.memberOrder &&
    samePages(canvas.pages, after.canvas.pages, hasLiveShapes) &&
    samePages(prose.pages, after.prose.pages, () => true)
  )
}

function samePages<T extends CanvasPage | ProsePage>(
  before: readonly T[],
  after: readonly T[],
  isLive: (old: T, page: T) => boolean,
): boolean {
  if (before.length !== after.length) return false
  return before.every((old, i) => {
    const page = after[i] as T
    if (page === old) return true
    return page.id === old.id && page.members === old.members && page.memberOrder === old.memberOrder && isLive(old, page)
  })
}

/** Whether the live document holds all new shapes. Members that it cannot hold are kept only in the stored body. [BODY-7] */
function hasLiveShapes(old: CanvasPage, page: CanvasPage): boolean {
  const known = new Set(old.shapes)
  return (
    old.shapesForm === page.shapesForm && page.shapes.every((shape) => known.has(shape) || wireValue(shape.value) === shape.value)
  )
}
