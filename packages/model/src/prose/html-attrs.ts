import type { FixList, Place } from './fixes.ts'
import type { HtmlElement } from './html-dom.ts'
import type { ProseAttrs } from './node.ts'
import type { AttrSpec } from './schema.ts'
import { equalValues } from './equal.ts'
import { type AttrValue, badValue } from './values.ts'

/** Where to report attributes that are left out. */
export interface AttrReport {
  readonly fixes: FixList
  readonly place: Place
  readonly nodeType: string
}

/**
 * Reads an element's attributes by a row of the node or mark table. Defaults are left out. Attributes outside the row are dropped and
 * reported, except `markers`, which the caller has already read. Without `report` nothing is reported. [PROSE-17]
 */
export function readHtmlAttrs(
  element: HtmlElement,
  specs: readonly AttrSpec[],
  markers: readonly string[],
  report: AttrReport | undefined,
): ProseAttrs {
  if (element.attrs.length === 0) return noAttrs
  const found = new Map<string, AttrValue>()
  for (const attr of element.attrs) {
    if (attr.name === 'style') {
      readStyle(attr.value, specs, found, report)
      continue
    }
    const spec = specs.find((other) => other.html === attr.name)
    if (spec !== undefined) readValue(spec, attr.value, found, report)
    else if (!markers.includes(attr.name)) drop(report, attr.name)
  }
  const attrs: { [name: string]: AttrValue } = {}
  for (const spec of specs) {
    const value = found.get(spec.name)
    if (value !== undefined) attrs[spec.name] = value
  }
  return attrs
}

function readStyle(
  style: string,
  specs: readonly AttrSpec[],
  found: Map<string, AttrValue>,
  report: AttrReport | undefined,
): void {
  for (const declaration of style.split(';')) {
    const colon = declaration.indexOf(':')
    const property = (colon === -1 ? declaration : declaration.slice(0, colon)).trim().toLowerCase()
    if (property === '') continue
    const spec = specs.find((other) => other.html === `style:${property}`)
    if (spec === undefined || colon === -1) drop(report, `style.${property}`)
    else readValue(spec, declaration.slice(colon + 1).trim(), found, report)
  }
}

function readValue(spec: AttrSpec, raw: string, found: Map<string, AttrValue>, report: AttrReport | undefined): void {
  const value = spec.read(raw)
  if (value === undefined) {
    // An empty attribute means the same as a missing one.
    if (raw !== '') report?.fixes.add('dropped_invalid', badValue(spec.name), report.place, report.nodeType, spec.name)
    return
  }
  if (!equalValues(value, spec.default)) found.set(spec.name, value)
}

function drop(report: AttrReport | undefined, field: string): void {
  if (report === undefined) return
  const name = field.length > 100 ? `${field.slice(0, 100)}…` : field
  report.fixes.add('dropped_unknown', `a ${report.nodeType} has no attribute ${name}`, report.place, report.nodeType, name)
}

const noAttrs: ProseAttrs = {}
