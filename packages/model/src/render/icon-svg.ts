import { type Bounds, boundsAround, type Point } from '../canvas/geometry/bounds.ts'
import { measureText } from '../canvas/text/measure-text.ts'
import { BACKGROUND } from './colours.ts'
import type { BoxDrawable } from './drawable.ts'
import { element, formatNumber, type SvgNode } from './svg-node.ts'
import { textSvg } from './text-svg.ts'

/** The data of the SVG path of an icon of the catalogue, by its slug, drawn in a square of 24; `null` for an icon that the relay does not know. */
export type IconPaths = (slug: string) => string | null

export const noIcons: IconPaths = () => null

/** The side of the square in which the paths of the catalogue are drawn. */
const SQUARE = 24
const GAP = 4
const BADGE_HEIGHT = 16
const BADGE_FONT = 10
const MAX_BADGE_CHARACTERS = 24

/** An icon of a box. `at` places the icon once the height of the label is known. */
interface BoxIcon {
  /** The height that the icon takes above the label. */
  readonly above: number
  at(labelHeight: number): { readonly nodes: readonly SvgNode[]; readonly bounds: Bounds }
}

/**
 * Draws the icon of a box: the path of the catalogue, or else the name of the icon on a badge. An uploaded image is always shown by a name, since a preview
 * has no bytes of blobs.
 * [CANVAS-25, CANVAS-26]
 */
export function iconSvg(icon: NonNullable<BoxDrawable['icon']>, box: BoxDrawable, paths: IconPaths): BoxIcon {
  const path = icon.slug === null ? null : paths(icon.slug)
  return path === null ? namedIcon(icon, box) : drawnIcon(path, icon, box)
}

function drawnIcon(path: string, { mode, size: wanted }: NonNullable<BoxDrawable['icon']>, box: BoxDrawable): BoxIcon {
  const { centre, width, height, label, labelSize } = box
  if (mode === 'badge') {
    const corner = { x: centre.x + width / 2, y: centre.y - height / 2 }
    const bounds = boundsAround(corner, wanted * 1.5, wanted * 1.5)
    const ground = element('ellipse', {
      cx: corner.x,
      cy: corner.y,
      rx: wanted * 0.75,
      ry: wanted * 0.75,
      fill: BACKGROUND,
      stroke: box.stroke,
    })
    return { above: 0, at: () => ({ nodes: [ground, pathSvg(path, corner, wanted, box.labelColour)], bounds }) }
  }
  const gap = label === '' ? 0 : GAP
  // With `icon-only` the icon fills its shape, except for the room of the label: twice its font size. [ICON-5]
  const size = mode === 'inside' ? wanted : Math.max(Math.min(width, height - (label === '' ? 0 : 2 * labelSize)), 1)
  return {
    above: size + gap,
    at: (labelHeight) => {
      const middle = { x: centre.x, y: centre.y - (labelHeight + gap) / 2 }
      return { nodes: [pathSvg(path, middle, size, box.labelColour)], bounds: boundsAround(middle, size, size) }
    },
  }
}

function pathSvg(d: string, centre: Point, size: number, colour: string): SvgNode {
  const corner = `${formatNumber(centre.x - size / 2)} ${formatNumber(centre.y - size / 2)}`
  return element('g', { transform: `translate(${corner}) scale(${Math.round((size / SQUARE) * 1e4) / 1e4})` }, [
    element('path', { d, fill: colour }),
  ])
}

function namedIcon(icon: NonNullable<BoxDrawable['icon']>, { centre, width, height }: BoxDrawable): BoxIcon {
  const characters = Array.from(icon.name)
  const shown =
    characters.length > MAX_BADGE_CHARACTERS ? `${characters.slice(0, MAX_BADGE_CHARACTERS - 1).join('')}…` : icon.name
  const badgeWidth = measureText(shown, BADGE_FONT) + 10
  const isCorner = icon.mode === 'badge'
  const isRoomInside = !isCorner && height > 2.5 * BADGE_HEIGHT
  const top = centre.y - height / 2 + (isRoomInside ? GAP : -BADGE_HEIGHT / 2)
  const x = isCorner ? centre.x + width / 2 - badgeWidth / 2 : centre.x
  const ground = element('rect', {
    ...{ x: x - badgeWidth / 2, y: top, width: badgeWidth, height: BADGE_HEIGHT, rx: BADGE_HEIGHT / 2 },
    ...{ fill: '#f1f5f9', stroke: '#64748b', 'stroke-width': 1 },
  })
  const text = {
    lines: [shown],
    x,
    top: top + 2,
    anchor: 'middle',
    size: BADGE_FONT,
    colour: '#334155',
    family: 'sans-serif',
  } as const
  const bounds = { left: x - badgeWidth / 2, top, right: x + badgeWidth / 2, bottom: top + BADGE_HEIGHT }
  return { above: isCorner ? 0 : BADGE_HEIGHT + GAP, at: () => ({ nodes: [ground, ...textSvg(text)], bounds }) }
}
