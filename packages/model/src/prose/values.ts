import { isBlobHash } from '../blob-references.ts'
import { relayHref, withoutStamp } from './relay-links.ts'

/**
 * Allowed attribute values of prose nodes and marks. [PROSE-17 to PROSE-20]
 *
 * Each reader takes a value from HTML (a string) or from a live tree (any JSON value). It returns the value in canonical form, or
 * `undefined` when it is not allowed. The regular expressions here only run on input of bounded length.
 */
export type AttrValue = string | number | boolean | readonly number[]
export type ReadValue = (raw: unknown) => AttrValue | undefined

/** Drops NUL, writes CR as LF and replaces lone surrogates, which UTF-8 cannot carry. [PROSE-4] */
export function cleanText(text: string): string {
  if (!/[\0\r\ud800-\udfff]/.test(text)) return text
  return text
    .replaceAll('\0', '')
    .replaceAll('\r', '\n')
    .replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (match) => (match.length === 2 ? match : '\ufffd'))
}

/** Any text; numbers and booleans are accepted as their text. [PROSE-8] */
export const anyText: ReadValue = (raw) => {
  if (typeof raw === 'string') return cleanText(raw)
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : undefined
}

export function oneOf(...allowed: readonly string[]): ReadValue {
  return (raw) => {
    const text = anyText(raw)
    return typeof text === 'string' && allowed.includes(text) ? text : undefined
  }
}

export const boolean: ReadValue = (raw) => {
  if (typeof raw === 'boolean') return raw
  return raw === 'true' ? true : raw === 'false' ? false : undefined
}

export const integer: ReadValue = (raw) => {
  const value = typeof raw === 'string' && /^\s*[+-]?\d{1,9}\s*$/.test(raw.slice(0, 40)) && raw.length <= 40 ? Number(raw) : raw
  // Adding 0 turns -0 into 0, which has no other written form.
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e9 ? value + 0 : undefined
}

/** Reads the span of a cell. An invalid span becomes 0, so that healing the table reports the span. [PROSE-H16] */
export const span: ReadValue = (raw) => {
  const value = integer(raw)
  return typeof value === 'number' && value >= 1 ? value : 0
}

/** Column widths in pixels, `"100,120"` or an array of numbers; 0 stands for an unset width. */
export const columnWidths: ReadValue = (raw) => {
  let list: unknown = raw
  if (typeof raw === 'string')
    list = raw.length <= 4096 ? raw.split(',').map((part) => (decimal.test(part) ? Number(part) : undefined)) : undefined
  if (typeof raw === 'number') list = [raw]
  if (!Array.isArray(list) || list.length === 0 || list.length > 1000) return undefined
  const widths: number[] = []
  for (const entry of list) {
    const value: unknown = typeof entry === 'string' && decimal.test(entry.slice(0, 40)) ? Number(entry) : (entry ?? 0)
    if (entry === undefined || typeof value !== 'number' || !decimal.test(String(value))) return undefined
    widths.push(value)
  }
  return widths
}

const decimal = /^\d{1,6}(\.\d{1,18})?$/
const size = /^(\d{1,5}(?:\.\d{1,18})?)(px|%)?$/

/** Image width or height: a number, or text ending in `px` or `%`; 1–10000. */
export const imageSize: ReadValue = (raw) => {
  const text = typeof raw === 'number' ? String(raw) : raw
  if (typeof text !== 'string' || text.length > 40) return undefined
  const match = size.exec(text.trim())
  if (match === null) return undefined
  const value = Number(match[1])
  if (value < 1 || value > 10000) return undefined
  return match[2] === undefined ? value : text.trim()
}

export const language: ReadValue = (raw) =>
  typeof raw === 'string' && raw.length <= 40 && /^[A-Za-z0-9_+#.-]{1,40}$/.test(raw) ? raw : undefined

/** Any non-empty text. */
export const nonEmpty: ReadValue = (raw) => {
  const text = anyText(raw)
  return text === '' ? undefined : text
}

const namedColours = new Set(
  `aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse
  chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta
  darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet
  deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green
  greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral
  lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
  lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple
  mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite
  navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink
  plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue
  slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow
  yellowgreen transparent`.split(/\s+/),
)

/** A colour as in CANVAS-6 without `auto`, at most 64 characters, as written. */
export const colour: ReadValue = (raw) => {
  if (typeof raw !== 'string') return undefined
  const text = raw.trim()
  if (text.length === 0 || text.length > 64) return undefined
  if (/^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text)) return text
  if (/^(?:rgb|hsl)a?\((?:[0-9.,%/+ -]|deg|g?rad|turn|none)+\)$/i.test(text)) return text
  return namedColours.has(text.toLowerCase()) ? text : undefined
}

/**
 * Returns the scheme of a URL in lower case, as the most lenient browser would read it: control characters, their replacements by the parser (U+FFFD) and
 * spaces are removed first. Returns `''` for a relative URL.
 */
function schemeOf(url: string): string {
  // Only the text before the first colon can be a scheme, so a long relative URL costs one search, however many runs of text have this URL.
  const end = url.indexOf(':')
  const before = end === -1 ? '' : url.slice(0, end).replace(/[\p{C}\p{Z}\ufffd]/gu, '')
  return /^[a-z][a-z0-9+.-]*$/i.test(before) ? before.toLowerCase() : ''
}

const blobUrl = /^blob:\/\/[0-9a-f]{64}$/
const headingLink = /^[a-z][a-z0-9+.-]*:\/\/heading\/[^/\s]+\/(?:id:[^/\s]+|\d+)$/i

/** A link target. [PROSE-18, PROSE-19, AG-83] */
export const href: ReadValue = (raw) => {
  if (typeof raw !== 'string' || raw === '') return undefined
  const url = cleanText(raw)
  const scheme = schemeOf(url)
  if (['', 'http', 'https', 'mailto', 'tel'].includes(scheme)) return url
  if (blobUrl.test(url)) return url
  if (['javascript', 'vbscript', 'data', 'file'].includes(scheme)) return undefined
  if (url.length <= 2048 && headingLink.test(url)) return withoutStamp(url)
  return scheme === 'relay' ? (relayHref(url) ?? undefined) : undefined
}

const dataImage = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml);base64,/i

/** An image source. [PROSE-20] */
export const imageSource: ReadValue = (raw) => {
  if (typeof raw !== 'string' || raw === '') return undefined
  const url = cleanText(raw)
  const scheme = schemeOf(url)
  if (scheme === '' || scheme === 'http' || scheme === 'https') return url
  if (blobUrl.test(url)) return url
  return dataImage.test(url.slice(0, 64)) && isBase64(url, url.indexOf(',') + 1) ? url : undefined
}

function isBase64(text: string, from: number): boolean {
  let end = text.length
  while (end > from && end > text.length - 2 && text.charCodeAt(end - 1) === 61) end--
  for (let i = from; i < end; i++) {
    const c = text.charCodeAt(i)
    const ok = (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || (c >= 48 && c <= 57) || c === 43 || c === 47
    if (!ok) return false
  }
  return end > from
}

const colours = 'hex, rgb(), hsl() or a CSS name'
const allowedForms: ReadonlyMap<string, string> = new Map([
  ['src', 'https, http, a relative URL, blob:// and a hash, or data:image/ in Base64'],
  [
    'href',
    'https, http, mailto, tel, a relative URL, a # fragment, relay://doc/<id> with or without /page/<pageId> and #<blockId>, or blob:// and a hash',
  ],
  ['color', colours],
  ['backgroundColor', colours],
])

/** The reason of the fix when an attribute value is left out. */
export function badValue(name: string): string {
  const allowed = allowedForms.get(name)
  return `${name} has a value that is not allowed${allowed === undefined ? '' : `; allowed: ${allowed}`}`
}

/** A stored file as `blob://<hash>`, also accepted as the bare hash. Nothing else may become a URL in an editor. [FILE-2] */
export const blobReference: ReadValue = (raw) => {
  if (typeof raw !== 'string' || raw.length > 256) return undefined
  const url = isBlobHash(raw) ? `blob://${raw}` : raw
  return /^blob:\/\/[A-Za-z0-9_.-]+$/.test(url) ? url : undefined
}
