import { readFileSync } from 'node:fs'
import type { IconPaths } from '@docrelay/model/render/icon-svg'

const FILE = new URL('./assets/icon-paths.txt', import.meta.url)

/** Opens the drawings of the catalogue's icons, for pictures of pages. The file is read with the first icon and then kept. [CANVAS-25, ICON-1] */
export function openIconPaths(): IconPaths {
  let text: string | null = null
  return (slug) => {
    if (!/^[a-z0-9-]{1,100}$/.test(slug)) return null
    text ??= `\n${readFileSync(FILE, 'latin1')}`
    const start = text.indexOf(`\n${slug} `)
    return start < 0 ? null : text.slice(start + slug.length + 2, text.indexOf('\n', start + 1))
  }
}
