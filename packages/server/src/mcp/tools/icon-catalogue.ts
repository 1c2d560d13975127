import { readFileSync } from 'node:fs'

export interface Icon {
  readonly id: string
  readonly name: string
  readonly category: string
}

/** The icons that this relay knows, by id. [ICON-1] */
export interface IconCatalogue {
  readonly icons: readonly Icon[]
  /** Sorted. */
  readonly categories: readonly string[]
}

export interface IconQuery {
  readonly query?: string | undefined
  readonly category?: string | undefined
  readonly limit?: number | undefined
  /** The page begins after the icon with this id. */
  readonly after: string | null
}

export interface IconPage {
  readonly icons: readonly Icon[]
  readonly total: number
  /** Cursor of the next page: the id of the last icon on this page. */
  readonly next: string | null
}

const FILE = new URL('./assets/icons.json', import.meta.url)
const LIMIT = 50
const MAX_LIMIT = 200

export function openIconCatalogue(): IconCatalogue {
  const { slugs } = JSON.parse(readFileSync(FILE, 'utf8')) as { readonly slugs: Readonly<Record<string, string>> }
  return iconCatalogue(slugs)
}

/** Makes the catalogue. `slugs`: the slugs of each category, separated by spaces. */
export function iconCatalogue(slugs: Readonly<Record<string, string>>): IconCatalogue {
  const icons = Object.entries(slugs).flatMap(([category, text]) =>
    text.split(' ').map((slug) => ({ id: `builtin:${slug}`, name: nameOf(slug), category })),
  )
  return { icons: icons.sort((a, b) => (a.id < b.id ? -1 : 1)), categories: Object.keys(slugs).sort() }
}

function nameOf(slug: string): string {
  const words = slug.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/**
 * Returns one page of the matching icons. A cursor is the id of the last icon and not a number, so it stays valid when the catalogue changes.
 * [ICON-2, TOOL-25]
 */
export function findIcons({ icons }: IconCatalogue, { query, category, limit, after }: IconQuery): IconPage {
  const wanted = query?.trim().toLowerCase() ?? ''
  const matches = icons.filter(
    (icon) =>
      (category === undefined || icon.category === category) &&
      (wanted === '' || icon.id.includes(wanted) || icon.name.toLowerCase().includes(wanted)),
  )
  const rest = after === null ? matches : matches.filter(({ id }) => id > after)
  const shown = rest.slice(0, Math.min(MAX_LIMIT, Math.max(1, limit ?? LIMIT)))
  const last = shown.at(-1)
  return { icons: shown, total: matches.length, next: last !== undefined && shown.length < rest.length ? last.id : null }
}
