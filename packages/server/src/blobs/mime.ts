export const UNKNOWN_TYPE = 'application/octet-stream'

/** Restricted names of RFC 6838: no wildcard, no quoting, no white space. */
const NAME = '[a-z0-9][a-z0-9!#$&^_.+-]{0,126}'
const TYPE = new RegExp(`^${NAME}/${NAME}$`)

/** Types, besides those of `isScriptCapable`, from which a browser may run scripts when it shows them. */
const SCRIPT_CAPABLE: ReadonlySet<string> = new Set([
  'application/hta',
  'application/x-mimearchive',
  'application/x-shockwave-flash',
  'application/xml',
  'application/xml-dtd',
  'application/xml-external-parsed-entity',
  'application/xslt',
  'application/x-xslt',
  'text/html',
  'text/vbscript',
  'text/x-component',
  'text/x-server-parsed-html',
  'text/xml',
  'text/xml-external-parsed-entity',
  'text/xsl',
  'text/xslt',
])
const JAVASCRIPT = /^(?:text|application)\/(?:x-)?(?:javascript|ecmascript|jscript|livescript|vbscript)(?:[0-9.]*)$/
const SVG: ReadonlySet<string> = new Set(['image/svg+xml', 'image/svg', 'image/svg-xml', 'image/svg+xml-compressed'])

/**
 * Returns the type under which a blob is stored and served, on every path: in lower case and without parameters. A
 * malformed type, or one that could run scripts, becomes the unknown type. SVG is kept, since documents show it in
 * `<img>`. [BLOB-4]
 */
export function storedMimeType(given: string | null | undefined): string {
  const type = withoutParameters(given ?? '')
  return TYPE.test(type) && !isScriptCapable(type) ? type : UNKNOWN_TYPE
}

/** Whether a type says that the content of the bytes is unknown. */
export function isUnknownType(given: string): boolean {
  return withoutParameters(given) === UNKNOWN_TYPE
}

function withoutParameters(given: string): string {
  return given.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/**
 * Whether bytes of this type are served as a download, so that a browser never shows them as a page of this origin.
 * [BLOB-7]
 */
export function isAttachment(mimeType: string): boolean {
  return SVG.has(mimeType) || isScriptCapable(mimeType)
}

/** Whether the type is HTML, XML of any vocabulary, a message that holds pages, or JavaScript; SVG is not. */
function isScriptCapable(type: string): boolean {
  if (SVG.has(type)) return false
  const isPageHolder = type.startsWith('multipart/') || type.startsWith('message/')
  return (
    isPageHolder ||
    type.endsWith('+xml') ||
    /[/.+-]x?html(?:$|[+;-])/.test(type) ||
    SCRIPT_CAPABLE.has(type) ||
    JAVASCRIPT.test(type)
  )
}
