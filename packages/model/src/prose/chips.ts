import type { Fields, Opaque, References } from '../body.ts'
import type { Warning } from '../edit.ts'
import { fieldValue } from '../fields/list-fields.ts'
import { nearestNames } from '../nearest.ts'
import { quote } from '../quote.ts'
import { sameList, withContent } from './equal.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

/** The values that the chips of a page show and refer to. */
export interface Libraries {
  readonly fields: Fields | Opaque | undefined
  readonly references: References | Opaque | undefined
  readonly nowMs: number
}

/**
 * Limit on the total characters of field values that the chips written by one call may show. Each chip shows the whole value of its field,
 * so many chips, or one long value, could make a page too large for memory. [PROSE-37, FIELD-4]
 */
export const maxLabelLength = 8 * 1024 * 1024

/**
 * Returns the text of a field that editors compute, at the time of the write in UTC; `undefined` for every other name.
 * [FIELD-5]
 */
export function computedField(name: string, nowMs: number): string | undefined {
  if (name !== 'today' && name !== 'now') return undefined
  const [date, time] = new Date(nowMs).toISOString().split('T') as [string, string]
  return name === 'today' ? date : time.slice(0, 5)
}

/**
 * Returns the text that a chip of this field shows: `''` when the chip shows nothing, `undefined` when there is no such field.
 * [PROSE-37]
 */
export function fieldLabel(name: string, libraries: Libraries): string | undefined {
  const computed = computedField(name, libraries.nowMs)
  if (computed !== undefined) return computed
  const field = libraries.fields?.kind === 'fields' ? libraries.fields.items.get(name) : undefined
  return field === undefined ? undefined : fieldValue(field)
}

/** Returns a chip with this label; the chip itself when it has that label already. */
export function withLabel(chip: ProseElement, label: string): ProseElement {
  if ((chip.attrs['label'] ?? '') === label) return chip
  const { label: _, ...attrs } = chip.attrs
  return { ...chip, attrs: label === '' ? attrs : { ...attrs, label } }
}

/**
 * Returns a copy in which `change` was applied to every chip of a field or citation; unchanged nodes keep their
 * identity.
 */
export function mapChips<T extends ProseNode>(nodes: readonly T[], change: (chip: ProseElement) => ProseElement): readonly T[] {
  const mapped = nodes.map((node): ProseNode => {
    if (node.type === 'text') return node
    if (node.type === 'fieldRef' || node.type === 'citationInline') return change(node)
    return node.content.length === 0 ? node : withContent(node, mapChips(node.content, change))
  })
  return sameList(nodes, mapped as readonly ProseNode[] as readonly T[])
}

/** Returns nodes without the labels of field chips. Such a label is derived from the field, or from the time, and is not content. [AG-3] */
export function withoutLabels<T extends ProseNode>(nodes: readonly T[]): readonly T[] {
  return mapChips(nodes, (chip) => (chip.type === 'fieldRef' ? withLabel(chip, '') : chip))
}

/** Maximum number of warnings of each kind; each one searches all names of the document for similar ones. */
const maxWarnings = 10

/** Sets the label of each field chip to the field's value. Chips with unknown names are kept and cause a warning. [PROSE-37] */
export function settleChips(
  tree: ProseTree,
  libraries: Libraries,
): { readonly tree: ProseTree; readonly labelLength: number; readonly warnings: readonly Warning[] } {
  let labelLength = 0
  const [fields, citations] = [new Set<string>(), new Set<string>()]
  const references = libraries.references?.kind === 'references' ? libraries.references.items : new Map<string, unknown>()
  const settled = mapChips(tree, (chip) => {
    if (chip.type === 'citationInline') {
      const id = String(chip.attrs['refId'])
      if (!references.has(id)) citations.add(id)
      return chip
    }
    const name = String(chip.attrs['name'])
    const label = fieldLabel(name, libraries)
    if (label === undefined) fields.add(name)
    labelLength += label?.length ?? 0
    return withLabel(chip, label ?? '')
  })
  const fieldNames = libraries.fields?.kind === 'fields' ? libraries.fields.order : []
  return {
    tree: settled,
    labelLength,
    warnings: [...warn('field', fields, fieldNames), ...warn('reference', citations, [...references.keys()])],
  }
}

function warn(kind: 'field' | 'reference', unknown: ReadonlySet<string>, known: readonly string[]): readonly Warning[] {
  const kept = kind === 'field' ? 'its chip shows nothing until it is set' : 'its citation is kept and shows as unresolved'
  const warnings = [...unknown].slice(0, maxWarnings).map(
    (name): Warning => ({
      reason: `the document has no ${kind} "${quote(name)}"; ${kept}`,
      nearest: nearestNames(name, known).map(quote),
    }),
  )
  const more = unknown.size - warnings.length
  return more > 0 ? [...warnings, { reason: `${more} more names of unknown ${kind}s` }] : warnings
}
