import type { JsonObject } from '@docrelay/model/json'
import type { ShapeValues } from '@docrelay/model/canvas/page-geometry'
import { kindOf } from '@docrelay/model/canvas/shape-kinds'
import { labelOf, stringOf } from '@docrelay/model/canvas/stored-shape'
import { canvasTexts as texts } from './canvas.en.ts'

const MOST = 80

/** Returns the name of a shape: its text, or its kind when it has no text. */
export function nameOf(id: string, shapes: ShapeValues): string {
  const value = shapes.get(id)
  if (value === undefined) return texts.freeEnd
  const text = (labelOf(value) ?? '').replace(/\s+/g, ' ').trim()
  const kind = kindNameOf(value)
  if (text !== '') return text.length > MOST ? `${text.slice(0, MOST)}…` : text
  return texts.untitled(kind)
}

/** The kind of a shape in words. A kind that only another editor knows has the name from that editor. */
export function kindNameOf(value: JsonObject): string {
  const { type } = kindOf(value)
  return texts.kind(type === 'unknown' ? (stringOf(value, 'type') ?? type) : type)
}

/** Describes a shape in words: its text and kind, and for a connector the shapes that it connects. */
export function describe(id: string, shapes: ShapeValues): string {
  const value = shapes.get(id)
  if (value === undefined) return ''
  if (kindOf(value).form === 'line') {
    const end = (side: 'start' | 'end') => {
      const shape = stringOf(value, `${side}ShapeId`)
      return shape === undefined || !shapes.has(shape) ? texts.freeEnd : nameOf(shape, shapes)
    }
    return texts.connector(end('start'), end('end'), (labelOf(value) ?? '').trim())
  }
  const hasText = (labelOf(value) ?? '').trim() !== ''
  return hasText ? texts.shape(nameOf(id, shapes), kindNameOf(value)) : nameOf(id, shapes)
}
