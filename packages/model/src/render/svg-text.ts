/** Characters that XML 1.0 cannot hold in any spelling, lone surrogates included. */
const NOT_XML = /\p{Cs}|[\ufffe\uffff]|(?![\t\n\r])\p{Cc}/gu

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text as it may stand in an XML attribute or between tags. [CANVAS-26] */
export function escapeXml(text: string): string {
  return text.replace(NOT_XML, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** At most two decimals, so that equal pages give equal bytes and files stay small. */
export function formatNumber(value: number): string {
  const rounded = Math.round(value * 100) / 100
  return Object.is(rounded, -0) ? '0' : String(rounded)
}

/** One element; attributes that are `undefined` are left out, strings are escaped. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content: string | null = null,
): string {
  let text = `<${name}`
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined) text += ` ${attribute}="${typeof value === 'number' ? formatNumber(value) : escapeXml(value)}"`
  }
  return content === null ? `${text}/>` : `${text}>${content}</${name}>`
}
