import { join } from 'node:path'
import { ICONS_FILE, type IconPackage, slugOf } from './icon-assets.ts'

/** The file from which previews read the drawings of icons. */
export const ICON_PATHS_FILE = join(ICONS_FILE, '..', '..', '..', '..', 'previews', 'assets', 'icon-paths.txt')

const SIZE = 24
const ONE_PATH = /^<path fill="currentColor" d="([^"]+)"\/>$/

/** The content of the drawings file. Each line has a slug, a space and the data of one SVG path in a square of 24. [CANVAS-25] */
export function iconPathsFile({ icons, categories, width, height }: IconPackage): string {
  if (width !== SIZE || height !== SIZE)
    throw new Error(`the icons are drawn in ${width} by ${height}, not in ${SIZE} by ${SIZE}`)
  const named = new Set(Object.values(categories).flat())
  const lines = Object.entries(icons).flatMap(([name, { body, hidden }]) => {
    if (hidden === true || !named.has(name)) return []
    const path = ONE_PATH.exec(body)?.[1]
    if (path === undefined) throw new Error(`the icon ${name} is not one path`)
    return [`${slugOf(name)} ${path}\n`]
  })
  return lines.sort().join('')
}
