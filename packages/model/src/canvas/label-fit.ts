import { type JsonObject, memberOf } from '../json.ts'
import { kindOf } from './shape-kinds.ts'
import { labelOf, numberOf, sizeOf } from './stored-shape.ts'
import { measureText } from './text/measure-text.ts'
import { wrapLabel } from './text/wrap-label.ts'

/** The space between the label of a box and its left and right edges, in pixels. */
export const labelPadding = 8
/** The height of a line of a label, as a multiple of the font size. */
export const labelLineHeight = 1.25

/** Whether the label of a box needs more room than the box has. Always false for lines and groups, whose labels may be of any size. [TOOL-19] */
export function labelOverflows(value: JsonObject): boolean {
  const { look, form } = kindOf(value)
  const [label, size] = [labelOf(value), sizeOf(value)]
  if (label === undefined || label === '' || size === null || form !== 'box') return false
  const isText = look.as === 'text'
  const fontSizePx = numberOf(value, isText ? 'fontSize' : 'labelFontSize') ?? look.labelSize
  if (!(fontSizePx > 0) || memberOf(value, 'iconDisplayMode') === 'icon-only') return false
  // The largest rectangle in an ellipse has its width and height divided by the square root of 2.
  const share = look.outline === 'ellipse' ? Math.SQRT1_2 : 1
  const padding = isText ? 0 : labelPadding
  const [width, height] = [size.width * share - 2 * padding, size.height * share]
  const lineHeight = fontSizePx * labelLineHeight
  // Wrapping stops one line after the last that fits: that line shows the overflow, and a label that fits is never cut.
  const maxLines = Math.max(Math.floor(height / lineHeight), 0) + 1
  const lines = wrapLabel(label, { fontSizePx, maxWidth: Math.max(width, 1), maxLines })
  return lines.length * lineHeight > height || lines.some((line) => measureText(line, fontSizePx) > width)
}
