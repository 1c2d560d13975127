/** Characters that XML 1.0 cannot hold in any spelling, lone surrogates included. */
const NOT_XML = /\p{Cs}|[\ufffe\uffff]|(?![\t\n\r])\p{Cc}/gu
/** Text in which nothing has to be escaped; nearly all attributes are such. */
const PLAIN = /^[ !#-%(-;=?-~]*$/
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** An element of a drawing: as text of a file by `svgText`, or made in a browser without parsing any text. */
export interface SvgNode {
  /** Of the namespace of SVG. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly (SvgNode | string)[]
}

/** One element; attributes that are `undefined` are left out. */
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

/** The element as text; whatever a document says in it stays text. [CANVAS-26] */
export function svgText(node: SvgNode | string): string {
  if (typeof node === 'string') return escapeXml(node)
  let text = `<${node.name}`
  for (const attribute in node.attributes) text += ` ${attribute}="${escapeXml(node.attributes[attribute] ?? '')}"`
  if (node.children.length === 0) return `${text}/>`
  text += '>'
  for (const child of node.children) text += svgText(child)
  return `${text}</${node.name}>`
}

/** Text as it may stand in an XML attribute or between tags. [CANVAS-26] */
function escapeXml(text: string): string {
  return PLAIN.test(text) ? text : text.replace(NOT_XML, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** At most two decimals, so that equal pages give equal bytes and files stay small. */
export function formatNumber(value: number): string {
  const rounded = Math.round(value * 100) / 100
  return Object.is(rounded, -0) ? '0' : String(rounded)
}
