import type { CanvasPage, DocumentBody, ProsePage } from '@docrelay/model/body'
import { wireValue } from '../binding/binding-values.ts'

/**
 * Whether the live document holds all that an edit changed, so that projecting over the body from before says it too: only text and shapes of
 * pages. Members that the stored body alone has, and what is in the page lists, are not among that. [YDOC-6]
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

/** A value with members that cannot be put into the live document is kept by the stored body alone. [BODY-7] */
function hasLiveShapes(old: CanvasPage, page: CanvasPage): boolean {
  const known = new Set(old.shapes)
  return (
    old.shapesForm === page.shapesForm && page.shapes.every((shape) => known.has(shape) || wireValue(shape.value) === shape.value)
  )
}
