import { isDocumentId } from '../../documents/document-id.ts'

/** The resource that a URI of this relay names. [RES-1..RES-6] */
export type ResourceName =
  | { readonly kind: 'icons' }
  | { readonly kind: 'skill'; readonly name: string }
  | { readonly kind: 'document'; readonly id: string }
  | { readonly kind: PagePart; readonly id: string; readonly pageId: string }

export type PagePart = 'markdown' | 'outline' | 'svg'

export type DocumentResource = Exclude<ResourceName, { kind: 'icons' | 'skill' }>

export const ICONS_URI = 'relay://icons'

/** For each resource of a page: the folder and ending of its URI, after the URI of the document. */
const PAGE_FORMS = {
  markdown: { folder: 'prose', end: '.md' },
  outline: { folder: 'outline', end: '' },
  svg: { folder: 'page', end: '.svg' },
} as const satisfies Record<PagePart, { readonly folder: string; readonly end: string }>

export const PAGE_PARTS = Object.keys(PAGE_FORMS) as readonly PagePart[]

export function skillUri(name: string): string {
  return `relay://skills/${encodeURIComponent(name)}`
}

export function documentUri(id: string): string {
  return `relay://doc/${encodeURIComponent(id)}`
}

export function pageUri(part: PagePart, id: string, pageId: string): string {
  const { folder, end } = PAGE_FORMS[part]
  return `${documentUri(id)}/${folder}/${encodeURIComponent(pageId)}${end}`
}

/** Returns the URI template of a page's resource. */
export function pageTemplate(part: PagePart): string {
  const { folder, end } = PAGE_FORMS[part]
  return `relay://doc/{id}/${folder}/{pageId}${end}`
}

/** Parses a URI; `null` when it does not name a resource of this relay. */
export function readUri(uri: string): ResourceName | null {
  if (uri === ICONS_URI) return { kind: 'icons' }
  const [head, ...parts] = uri.split('/').map(decoded)
  if (head !== 'relay:' || parts[0] !== '' || parts.includes(null)) return null
  const [, area, id, folder, page, ...rest] = parts as string[]
  if (id === undefined || rest.length > 0) return null
  if (area === 'skills') return folder === undefined ? { kind: 'skill', name: id } : null
  if (area !== 'doc' || !isDocumentId(id)) return null
  if (folder === undefined) return { kind: 'document', id }
  const part = PAGE_PARTS.find((kind) => PAGE_FORMS[kind].folder === folder)
  if (part === undefined || page === undefined) return null
  const { end } = PAGE_FORMS[part]
  return page.endsWith(end) && page.length > end.length
    ? { kind: part, id, pageId: page.slice(0, page.length - end.length) }
    : null
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}
