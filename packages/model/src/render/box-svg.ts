import { BACKGROUND } from './colours.ts'
import { type BoxDrawable, extentOf, type TextDrawable } from './drawable.ts'
import { type Bounds, boundsOfTurned, unite } from './geometry.ts'
import { element, escapeXml, formatNumber } from './svg-text.ts'
import { lineHeight, textWidth, wrapText } from './text-layout.ts'

const PADDING = 8
const BADGE_HEIGHT = 16
const BADGE_FONT = 10
const MAX_BADGE_CHARACTERS = 24
/** Baseline below the top of a line, as a share of the font size. */
const ASCENT = 0.95

/** A rectangle, ellipse, file or any other box with its label and icon. [CANVAS-25] */
export function boxSvg(box: BoxDrawable): string {
  const { centre, width, height } = box
  const parts: string[] = []
  if (box.icon?.mode !== 'icon-only') parts.push(outline(box))
  const labelTop = box.icon?.mode === 'inside' || box.icon?.mode === 'icon-only' ? BADGE_HEIGHT / 2 + 2 : 0
  if (box.label !== '') {
    const lines = wrapText(
      box.label,
      box.labelSize,
      Math.max(width - 2 * PADDING, box.labelSize),
      linesIn(height - 2 * labelTop, box.labelSize),
    )
    const top = centre.y + labelTop - (lines.length * lineHeight(box.labelSize)) / 2
    parts.push(
      textSvg({ lines, x: centre.x, top, anchor: 'middle', size: box.labelSize, colour: box.labelColour, family: 'sans-serif' }),
    )
  }
  if (box.icon !== null) parts.push(badge(box, box.icon))
  return group(box, parts.join(''))
}

/** Something drawn and the room that it takes. */
export interface Drawn {
  readonly svg: string
  readonly bounds: Bounds | null
}

/** A text shape in its own font, alignment and colour. Lines that its height has no room for are drawn all the same. */
export function textShapeSvg(shape: TextDrawable): Drawn {
  const { centre, width, height, fontSize, align, vertical } = shape
  const lines = wrapText(shape.text, fontSize, Math.max(width, fontSize), 500)
  const used = lines.length * lineHeight(fontSize)
  const top =
    vertical === 'top' ? centre.y - height / 2 : vertical === 'bottom' ? centre.y + height / 2 - used : centre.y - used / 2
  const x = align === 'left' ? centre.x - width / 2 : align === 'right' ? centre.x + width / 2 : centre.x
  const anchor = align === 'left' ? 'start' : align === 'right' ? 'end' : 'middle'
  const block = { left: centre.x - width / 2, top, right: centre.x + width / 2, bottom: top + used }
  return {
    svg: group(shape, textSvg({ lines, x, top, anchor, size: fontSize, colour: shape.colour, family: shape.family })),
    bounds: unite(extentOf(shape), boundsOfTurned(block, centre, shape.rotation)),
  }
}

/** A label on a line, on a ground of its own so that it can be read. */
export function lineLabelSvg(label: string, x: number, y: number, colour: string): Drawn {
  const size = 12
  const lines = wrapText(label, size, 200, 4)
  const width = Math.max(...lines.map((line) => textWidth(line, size))) + 6
  const height = lines.length * lineHeight(size)
  const ground = element('rect', { x: x - width / 2, y: y - height / 2, width, height, fill: BACKGROUND })
  return {
    svg: ground + textSvg({ lines, x, top: y - height / 2, anchor: 'middle', size, colour, family: 'sans-serif' }),
    bounds: { left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 },
  }
}

function outline(box: BoxDrawable): string {
  const { centre, width, height, fill, stroke, strokeWidth } = box
  const paint = { fill, stroke, 'stroke-width': strokeWidth }
  if (box.outline === 'ellipse')
    return element('ellipse', { cx: centre.x, cy: centre.y, rx: width / 2, ry: height / 2, ...paint })
  const radius = Math.min(box.cornerRadius, width / 2, height / 2)
  return element('rect', { x: centre.x - width / 2, y: centre.y - height / 2, width, height, rx: radius || undefined, ...paint })
}

/** An icon is shown by its name: the catalogue's drawings are the editor's, and a preview holds no bytes. [CANVAS-26] */
function badge(box: BoxDrawable, icon: NonNullable<BoxDrawable['icon']>): string {
  const { centre, width, height } = box
  const name = Array.from(icon.name)
  const shown = name.length > MAX_BADGE_CHARACTERS ? `${name.slice(0, MAX_BADGE_CHARACTERS - 1).join('')}…` : icon.name
  const badgeWidth = textWidth(shown, BADGE_FONT) + 10
  const top =
    icon.mode === 'badge'
      ? centre.y - height / 2 - BADGE_HEIGHT / 2
      : centre.y - height / 2 + (height > 2.5 * BADGE_HEIGHT ? 4 : -BADGE_HEIGHT / 2)
  const x = icon.mode === 'badge' ? centre.x + width / 2 - badgeWidth / 2 : centre.x
  const ground = element('rect', {
    ...{ x: x - badgeWidth / 2, y: top, width: badgeWidth, height: BADGE_HEIGHT, rx: BADGE_HEIGHT / 2 },
    ...{ fill: '#f1f5f9', stroke: '#64748b', 'stroke-width': 1 },
  })
  const line = {
    lines: [shown],
    x,
    top: top + 2,
    anchor: 'middle',
    size: BADGE_FONT,
    colour: '#334155',
    family: 'sans-serif',
  } as const
  return ground + textSvg(line)
}

function linesIn(height: number, fontSize: number): number {
  return Math.max(1, Math.floor(height / lineHeight(fontSize)))
}

interface TextBlock {
  readonly lines: readonly string[]
  readonly x: number
  readonly top: number
  readonly anchor: 'start' | 'middle' | 'end'
  readonly size: number
  readonly colour: string
  readonly family: string
}

function textSvg({ lines, x, top, anchor, size, colour, family }: TextBlock): string {
  const spans = lines.map((line, i) => {
    // An element without text would be left out of the layout; it is the y of the next line that counts.
    return line === '' ? '' : element('tspan', { x, y: top + ASCENT * size + i * lineHeight(size) }, escapeXml(line))
  })
  if (spans.every((span) => span === '')) return ''
  return element('text', { 'font-family': family, 'font-size': size, 'text-anchor': anchor, fill: colour }, spans.join(''))
}

function group(shape: BoxDrawable | TextDrawable, content: string): string {
  const { rotation, centre, opacity } = shape
  if (rotation === 0 && opacity === 1) return content
  const turn = `rotate(${formatNumber(rotation)} ${formatNumber(centre.x)} ${formatNumber(centre.y)})`
  return element('g', { transform: rotation === 0 ? undefined : turn, opacity: opacity === 1 ? undefined : opacity }, content)
}
