/** Where the `style` of pasted elements stands while they are read. */
export const PASTED_STYLE = 'data-pasted-style'

/**
 * Pasted HTML without what a strict Content-Security-Policy refuses and reports: style elements and handlers go, and the style attribute gets
 * a name under which only `pastedStyle` finds it. Nothing depends on this for safety: only known nodes and attributes are read.
 */
export function quietHtml(html: string): string {
  return html
    .replace(/<style[\s>].*?<\/style\s*>/gis, '')
    .replace(/<[a-z][^<>]*>/gi, (tag) =>
      tag.replace(/(?<=[\s"'])style\s*=/gi, `${PASTED_STYLE}=`).replace(/(?<=[\s"'])on[a-z]+\s*=/gi, 'data-dropped='),
    )
}

/** The value of a property in the style of a pasted element, where the last one counts; `''` for none. */
export function pastedStyle(element: { getAttribute(name: string): string | null }, property: string): string {
  let value = ''
  for (const declaration of (element.getAttribute(PASTED_STYLE) ?? '').split(';')) {
    const colon = declaration.indexOf(':')
    if (declaration.slice(0, colon).trim().toLowerCase() === property) value = declaration.slice(colon + 1).trim()
  }
  return value
}

/** Takes a property out of the style of a pasted element. */
export function dropPastedStyle(
  element: { getAttribute(name: string): string | null; setAttribute(name: string, value: string): void },
  property: string,
): void {
  const declarations = (element.getAttribute(PASTED_STYLE) ?? '').split(';')
  const kept = declarations.filter((declaration) => declaration.split(':')[0]?.trim().toLowerCase() !== property)
  element.setAttribute(PASTED_STYLE, kept.join(';'))
}
