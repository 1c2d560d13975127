import { measureText } from '../text/measure-text.ts'
import { widestWord, wrapLabel } from '../text/wrap-label.ts'

const FONT = 14
const LINE_HEIGHT = 17
const PADDING = 12
const WRAP_WIDTH = 296
const MAX_WIDTH = 480
const MIN_WIDTH = 160
const MIN_HEIGHT = 72
/** Font size, line height and width of the labels of connectors, as pictures show them. */
const LABEL_FONT = 12
const LABEL_LINE = 15
const LABEL_WIDTH = 200

/** A width and a height in even integers, so that half of each is an integer too. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** Returns the size of a node that shows its whole label: as wide and as high as the lines of the label need. [DIAG-5, DIAG-18] */
export function nodeSize(label: string, kind: 'rectangle' | 'ellipse'): Size {
  const room = Math.min(Math.max(WRAP_WIDTH, Math.ceil(widestWord(label, FONT))), MAX_WIDTH - 2 * PADDING)
  const lines = wrapLabel(label, { fontSizePx: FONT, maxWidth: room })
  const width = Math.max(...lines.map((line) => measureText(line, FONT))) + 2 * PADDING
  const height = lines.length * LINE_HEIGHT + 2 * PADDING
  // Inside an ellipse fits a rectangle of the same proportions that is smaller by the factor √2 in both directions.
  const factor = kind === 'ellipse' ? Math.SQRT2 : 1
  return { width: even(Math.max(MIN_WIDTH, width * factor)), height: even(Math.max(MIN_HEIGHT, height * factor)) }
}

/** Returns the size of the label of a connector: at most four lines of at most 200 px. */
export function labelSize(label: string): Size {
  const lines = wrapLabel(label, { fontSizePx: LABEL_FONT, maxWidth: LABEL_WIDTH, maxLines: 4 })
  const width = Math.max(...lines.map((line) => measureText(line, LABEL_FONT))) + 6
  return { width: even(width), height: even(lines.length * LABEL_LINE) }
}

function even(value: number): number {
  return 2 * Math.ceil(value / 2)
}
