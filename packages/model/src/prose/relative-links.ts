const MAX_LENGTH = 2048

/** The last part of a relative link or a fragment, without the query; `null` for another link, and for a link without parts. [AG-85] */
export function relativeEnd(href: string): string | null {
  if (href.length > MAX_LENGTH || href.startsWith('//') || /^[^/?#]*:/.test(href)) return null
  const last = href
    .replace(/\?[^#]*/, '')
    .split(/[/#]/)
    .findLast((part) => part !== '')
  if (last === undefined) return null
  try {
    return decodeURIComponent(last)
  } catch {
    return null
  }
}
