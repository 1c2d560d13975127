import { type JsonObject, memberOf } from '../json.ts'
import { kindOf } from './shape-kinds.ts'
import { labelOf, numberOf, sizeOf } from './stored-shape.ts'
import { measureText } from './text/measure-text.ts'
import { wrapLabel } from './text/wrap-label.ts'

/** Between the label of a box and its edge, in pixels. */
export const labelPadding = 8
/** Of a line of a label, as a share of the font size. */
export const labelLineHeight = 1.25

/** Whether the label of a box is larger than the room for it. Labels of lines and groups have no room of their own. [TOOL-19] */
export function labelOverflows(value: JsonObject): boolean {
  const { look, form } = kindOf(value)
  const [label, size] = [labelOf(value), sizeOf(value)]
  if (label === undefined || label === '' || size === null || form !== 'box') return false
  const isText = look.as === 'text'
  const fontSizePx = numberOf(value, isText ? 'fontSize' : 'labelFontSize') ?? look.labelSize
  if (!(fontSizePx > 0) || memberOf(value, 'iconDisplayMode') === 'icon-only') return false
  // The largest rectangle of the proportions of an ellipse that lies in it is smaller by the root of two.
  const share = look.outline === 'ellipse' ? Math.SQRT1_2 : 1
  const padding = isText ? 0 : labelPadding
  const [width, height] = [size.width * share - 2 * padding, size.height * share]
  const lineHeight = fontSizePx * labelLineHeight
  // One line more than there is room for is enough to know, and none that fits is cut for it.
  const maxLines = Math.max(Math.floor(height / lineHeight), 0) + 1
  const lines = wrapLabel(label, { fontSizePx, maxWidth: Math.max(width, 1), maxLines })
  return lines.length * lineHeight > height || lines.some((line) => measureText(line, fontSizePx) > width)
}
