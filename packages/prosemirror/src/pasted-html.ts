/** Attribute that holds the `style` of a pasted element during parsing. */
export const PASTED_STYLE = 'data-pasted-style'

/**
 * Returns pasted HTML without parts that a strict Content-Security-Policy refuses and reports. Style elements and event handlers are removed, and
 * the style attribute is renamed so that only `pastedStyle` reads it. Safety does not depend on this, because only known nodes and attributes are
 * read.
 */
export function quietHtml(html: string): string {
  return html
    .replace(/<style[\s>].*?<\/style\s*>/gis, '')
    .replace(/<[a-z][^<>]*>/gi, (tag) =>
      tag.replace(/(?<=[\s"'])style\s*=/gi, `${PASTED_STYLE}=`).replace(/(?<=[\s"'])on[a-z]+\s*=/gi, 'data-dropped='),
    )
}

/** Returns a property from the style of a pasted element; the last declaration counts. `''` when there is none. */
export function pastedStyle(element: { getAttribute(name: string): string | null }, property: string): string {
  let value = ''
  for (const declaration of (element.getAttribute(PASTED_STYLE) ?? '').split(';')) {
    const colon = declaration.indexOf(':')
    if (declaration.slice(0, colon).trim().toLowerCase() === property) value = declaration.slice(colon + 1).trim()
  }
  return value
}

/** Removes a property from the style of a pasted element. */
export function dropPastedStyle(
  element: { getAttribute(name: string): string | null; setAttribute(name: string, value: string): void },
  property: string,
): void {
  const declarations = (element.getAttribute(PASTED_STYLE) ?? '').split(';')
  const kept = declarations.filter((declaration) => declaration.split(':')[0]?.trim().toLowerCase() !== property)
  element.setAttribute(PASTED_STYLE, kept.join(';'))
}
