/** Matches characters that XML 1.0 cannot contain, not even escaped, such as lone surrogates. */
const NOT_XML = /\p{Cs}|[\ufffe\uffff]|(?![\t\n\r])\p{Cc}/gu
/** Matches a text in which nothing has to be escaped, as in nearly all attributes. */
const PLAIN = /^[ !#-%(-;=?-~]*$/
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** An element of a drawing. `svgText` writes it as text; a browser can make the element from this object without parsing text. */
export interface SvgNode {
  /** The name of an element in the SVG namespace. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly (SvgNode | string)[]
}

/** Makes an element. Attributes with the value `undefined` are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  children: SvgNode['children'] = [],
): SvgNode {
  const written: Record<string, string> = {}
  for (const attribute in attributes) {
    const value = attributes[attribute]
    if (value !== undefined) written[attribute] = typeof value === 'number' ? formatNumber(value) : value
  }
  return { name, attributes: written, children }
}

/** Writes an element as text, with all text of the document escaped. [CANVAS-26] */
export function svgText(node: SvgNode | string): string {
  if (typeof node === 'string') return escapeXml(node)
  let text = `<${node.name}`
  for (const attribute in node.attributes) text += ` ${attribute}="${escapeXml(node.attributes[attribute] ?? '')}"`
  if (node.children.length === 0) return `${text}/>`
  text += '>'
  for (const child of node.children) text += svgText(child)
  return `${text}</${node.name}>`
}

/** Escapes a text for an XML attribute or for a place between tags. [CANVAS-26] */
function escapeXml(text: string): string {
  return PLAIN.test(text) ? text : text.replace(NOT_XML, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** Writes a number with at most two decimals, so that equal pages give equal bytes and files stay small. */
export function formatNumber(value: number): string {
  const rounded = Math.round(value * 100) / 100
  return Object.is(rounded, -0) ? '0' : String(rounded)
}
