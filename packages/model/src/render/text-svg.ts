import { labelLineHeight } from '../canvas/label-fit.ts'
import { element, type SvgNode } from './svg-node.ts'

/** Baseline below the top of a line, as a share of the font size. */
const ASCENT = 0.95

/** The height of a line in pixels. */
export function lineHeight(fontSize: number): number {
  return fontSize * labelLineHeight
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

/** Draws lines of text below each other. Returns an empty list when no line has text. */
export function textSvg({ lines, x, top, anchor, size, colour, family }: TextBlock): readonly SvgNode[] {
  const spans = lines.flatMap((line, i) => {
    // An empty line needs no element, since each line has its own y.
    return line === '' ? [] : [element('tspan', { x, y: top + ASCENT * size + i * lineHeight(size) }, [line])]
  })
  if (spans.length === 0) return []
  return [element('text', { 'font-family': family, 'font-size': size, 'text-anchor': anchor, fill: colour }, spans)]
}
