import type { Json } from '../json.ts'

/** The colour of `auto` on the white background. [CANVAS-26] */
export const AUTO_COLOUR = '#1f2937'
export const BACKGROUND = '#ffffff'

const HEX = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i
const FUNCTION = /^(?:rgb|hsl)a?\([0-9a-z.,%/+\- ]{1,56}\)$/i
const NAME = /^[a-z]{3,24}$/i

/** Returns a stored colour for an SVG attribute, else `fallback`, so that no text of a document can end the attribute. [CANVAS-6, CANVAS-26] */
export function readColour(value: Json | undefined, fallback: string): string {
  if (typeof value !== 'string') return fallback
  const text = value.trim()
  if (/^auto$/i.test(text)) return AUTO_COLOUR
  if (/^transparent$/i.test(text)) return 'none'
  return HEX.test(text) || FUNCTION.test(text) || NAME.test(text) ? text : fallback
}

/** Like `readColour`, but a stored `null` means `none`: no paint at all. */
export function readPaint(value: Json | undefined, fallback: string): string {
  return value === null ? 'none' : readColour(value, fallback)
}
