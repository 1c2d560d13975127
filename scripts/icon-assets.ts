import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGE = join(import.meta.dirname, '..', 'node_modules', '@iconify-json', 'mdi')
/** The file from which the relay reads the catalogue. */
export const ICONS_FILE = join(import.meta.dirname, '..', 'packages/server/src/mcp/tools/assets/icons.json')

export interface IconPackage {
  readonly info: {
    readonly version: string
    readonly name: string
    readonly license: { readonly spdx: string; readonly url: string }
  }
  readonly icons: Readonly<Record<string, { readonly body: string; readonly hidden?: boolean }>>
  readonly categories: Readonly<Record<string, readonly string[]>>
  /** Width of the square in which each icon is drawn. */
  readonly width: number
  readonly height: number
}

/** The content of the catalogue file: the slugs of each category, without drawings. An icon is listed under its first category. [ICON-1] */
export function iconsFile({ info, icons, categories }: Omit<IconPackage, 'width' | 'height'>): string {
  const placed = new Set<string>()
  const slugs: Record<string, string> = {}
  for (const category of Object.keys(categories).sort()) {
    const own = (categories[category] ?? [])
      .filter((name) => icons[name] !== undefined && icons[name].hidden !== true)
      .map(slugOf)
      .filter((slug) => !placed.has(slug))
      .sort()
    for (const slug of own) placed.add(slug)
    if (own.length > 0) slugs[category] = own.join(' ')
  }
  const source = `${info.name}, @iconify-json/mdi ${info.version}, ${info.license.spdx}, ${info.license.url}`
  return `${JSON.stringify({ source, slugs }, null, 2)}\n`
}

export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

export function readIconPackage(): IconPackage {
  const read = (name: string) => JSON.parse(readFileSync(join(PACKAGE, name), 'utf8'))
  const { version } = read('package.json')
  const { icons, width, height } = read('icons.json')
  return {
    info: { ...read('info.json'), version },
    icons,
    width,
    height,
    categories: read('metadata.json').categories,
  }
}
