import type { DocumentBody, Fields, ProsePage } from '../body.ts'
import {
  isRefusal,
  refused,
  type Edit,
  type EditRow,
  type EditEnvironment,
  type Fix,
  type Refusal,
  type Warning,
} from '../edit.ts'
import { idFlaw } from '../ids.ts'
import { memberOf, setMember } from '../json.ts'
import { nearestNames } from '../nearest.ts'
import { blockIdMint, completeIds, idsOf } from '../prose/blocks.ts'
import { computedField, fieldLabel, mapChips, maxLabelLength, withLabel } from '../prose/chips.ts'
import type { ProseTree } from '../prose/node.ts'
import { pageTree, withPageTree } from '../prose/page.ts'
import { cleanText } from '../prose/values.ts'
import { quote } from '../quote.ts'
import { fieldLibrary } from './list-fields.ts'

export interface SetFields {
  /** Fields to set. A field without `value` gets the empty text; the `value` `null` removes a field. */
  readonly fields?: readonly FieldValue[] | undefined
  /** Names of fields to remove, the same as `value: null`. [AG-81] */
  readonly remove?: readonly string[] | undefined
}

interface FieldValue {
  readonly name: string
  readonly value?: string | null | undefined
}

export interface FieldsSet {
  readonly set: readonly string[]
  readonly setCount: number
  /** The names in `set` that are new; `updated` has the other names of `set`. */
  readonly added: readonly string[]
  readonly updated: readonly string[]
  readonly removedNames?: readonly string[]
  /** The number of chips whose text changed, on all pages. */
  readonly chipsUpdated: number
}

const maxName = 120
const maxValueBytes = 65_536

/** Sets or removes fields by name, and updates their chips on all prose pages. [FIELD-1 to FIELD-6] */
export const setFields: Edit<SetFields, FieldsSet> = (body, args, environment) => {
  const flaw = setFieldsFlaw(args)
  if (flaw !== null) return flaw
  const wanted = readFields(args)
  const { fields, added, updated, removed, changed, missing } = applied(fieldLibrary(body), wanted.values)
  const chips = updateChips(changed.size === 0 ? body : { ...body, fields }, changed, environment)
  if (isRefusal(chips)) return chips
  const set = [...wanted.values].flatMap(([name, value]) => (value === null ? [] : [name]))
  const computed = set.filter((name) => computedField(name, environment.nowMs) !== undefined)
  return {
    kind: 'edited',
    body: chips.body,
    result: {
      set,
      setCount: set.length,
      added,
      updated,
      ...(removed.length === 0 ? {} : { removedNames: removed }),
      chipsUpdated: chips.count,
    },
    fixes: wanted.fixes,
    warnings: [...missing.map((name) => unknownName(name, fields.order)), ...computed.map(computedName), ...chips.warnings],
  }
}

interface Applied {
  readonly fields: Fields
  readonly added: readonly string[]
  readonly updated: readonly string[]
  readonly removed: readonly string[]
  /** Names that the call removes and that the document does not have. */
  readonly missing: readonly string[]
  /** Names whose value the call changed, added or removed. */
  readonly changed: ReadonlySet<string>
}

function applied(before: Fields, wanted: ReadonlyMap<string, string | null>): Applied {
  const names = [...wanted.keys()]
  const isRemoval = (name: string) => wanted.get(name) === null
  const isKnown = (name: string) => before.items.has(name)
  const added = names.filter((name) => !isRemoval(name) && !isKnown(name))
  const updated = names.filter((name) => !isRemoval(name) && isKnown(name))
  const removed = names.filter((name) => isRemoval(name) && isKnown(name))
  const changed = new Set([...added, ...removed])
  const items = new Map(before.items)
  for (const name of removed) items.delete(name)
  for (const [name, value] of wanted) {
    const item = before.items.get(name)
    if (value === null || (item !== undefined && memberOf(item, 'value') === value)) continue
    items.set(name, item === undefined ? { name, value } : setMember(item, 'value', value))
    changed.add(name)
  }
  const order = [...before.order.filter((name) => items.has(name)), ...added]
  const missing = names.filter((name) => isRemoval(name) && !isKnown(name))
  return { fields: { ...before, items, order }, added, updated, removed, missing, changed }
}

/** Refuses arguments of set_fields that are wrong for every document; `null` otherwise. [MCP-3] */
function setFieldsFlaw({ fields = [], remove = [] }: SetFields): Refusal | null {
  if (fields.length + remove.length === 0) return nothingAsked()
  const set = new Set(fields.map(({ name }) => name.trim()))
  for (const [index, name] of remove.entries()) {
    if (set.has(name.trim())) return alsoSet(index, name)
    const flaw = nameFlaw(name.trim())
    if (flaw !== null) return badName(`remove[${index}]`, index, name, flaw)
  }
  for (const [index, { name, value }] of fields.entries()) {
    const flaw = nameFlaw(name.trim())
    if (flaw !== null) return badName(`fields[${index}].name`, index, name, flaw)
    const got = byteLength(value ?? '')
    if (got > maxValueBytes) {
      const argument = `fields[${index}].value`
      const expected = `at most ${maxValueBytes} bytes`
      return refused('ERR_BAD_ARGUMENT', `${argument} has ${got} bytes; a value has ${expected}.`, { argument, expected, got })
    }
  }
  return null
}

function badName(argument: string, index: number, name: string, flaw: string): Refusal {
  const shown = quote(name.trim())
  const sentence = `${argument} "${shown}" is no name of a field: ${flaw}; nothing was set.`
  return refused('ERR_BAD_FIELD_NAME', sentence, { index, name: shown })
}

function nothingAsked(): Refusal {
  const expected = 'fields to set, or names to remove'
  return refused('ERR_BAD_ARGUMENT', `fields and remove are empty; expected ${expected}.`, { argument: 'fields', expected })
}

function alsoSet(index: number, name: string): Refusal {
  const [argument, expected] = [`remove[${index}]`, 'a name that fields does not set']
  const sentence = `${argument} "${quote(name.trim())}" is set by fields too; expected ${expected}.`
  return refused('ERR_BAD_ARGUMENT', sentence, { argument, expected })
}

interface Wanted {
  /** Each name once, in the order of its first mention, with its last value. [FIELD-2] */
  readonly values: ReadonlyMap<string, string | null>
  readonly fixes: readonly Fix[]
}

function readFields({ fields = [], remove = [] }: SetFields): Wanted {
  const values = new Map<string, string | null>()
  const fixes: Fix[] = []
  for (const [index, { name, value: given = '' }] of fields.entries()) {
    const value = given === null ? null : cleanText(given)
    if (value !== given) fixes.push({ action: 'dropped_invalid', field: `fields[${index}].value`, reason: unwritable })
    values.set(name.trim(), value)
  }
  for (const name of remove) values.set(name.trim(), null)
  return { values, fixes }
}

const unwritable = 'a value has no NUL and no lone surrogates, and its line breaks are LF'

/** Returns why a trimmed text cannot be the name of a field; `null` when it can. [FIELD-1] */
function nameFlaw(name: string): string | null {
  if (name === '') return 'it is empty'
  // A character takes at most two UTF-16 units, so the start of a long text is enough to see that the text is too long.
  if ([...name.slice(0, 2 * maxName + 1)].length > maxName) return `it is longer than ${maxName} characters`
  if (/[{}]/.test(name)) return 'it has { or }'
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name)) return 'it has a control character'
  // Names are keys of the stored library, which a PUT of the same document must be able to carry. [BODY-11]
  return idFlaw(name)?.replace('an id', 'it') ?? null
}

function byteLength(text: string): number {
  return text.length * 3 <= maxValueBytes ? text.length : new TextEncoder().encode(text).length
}

interface Chips {
  readonly body: DocumentBody
  readonly count: number
  readonly warnings: readonly Warning[]
}

/** Updates the chips of these names to the present values. Writes only pages on which a chip changed. [FIELD-4] */
export function updateChips(
  body: DocumentBody,
  names: ReadonlySet<string>,
  environment: EditEnvironment,
  isOpen: (page: ProsePage) => boolean = () => true,
): Chips | Refusal {
  const libraries = { fields: body.fields, references: undefined, nowMs: environment.nowMs }
  let chips: Chips = { body, count: 0, warnings: [] }
  if (names.size === 0) return chips
  const pages: { readonly id: string; readonly tree: ProseTree }[] = []
  let [length, growth] = [0, 0]
  for (const page of body.prose.pages) {
    if (!mayHaveChips(page) || !isOpen(page)) continue
    const { tree, warnings } = pageTree(page)
    let count = 0
    const shown = mapChips(tree, (chip) => {
      const name = chip.attrs['name']
      if (chip.type !== 'fieldRef' || typeof name !== 'string' || !names.has(name)) return chip
      const label = fieldLabel(name, libraries) ?? ''
      length += label.length
      growth += label.length - String(chip.attrs['label'] ?? '').length
      const updated = withLabel(chip, label)
      if (updated !== chip) count++
      return updated
    })
    if (count === 0) continue
    pages.push({ id: page.id, tree: shown })
    chips = { body, count: chips.count + count, warnings: [...chips.warnings, ...warnings] }
  }
  // Checked before any page is written: a few long values in many chips are more than a JavaScript string can hold.
  if (growth > 0 && length > maxLabelLength) return labelsTooLong(length)
  for (const { id, tree } of pages) {
    const complete = completeIds(tree, blockIdMint(chips.body, environment, idsOf(tree)))
    chips = { ...chips, body: withPageTree(chips.body, id, complete) }
  }
  return chips
}

function labelsTooLong(length: number): Refusal {
  const expected = `values that the chips of the document show with at most ${maxLabelLength} characters together`
  const message = `The chips of these fields would show ${length} characters; fields takes ${expected}. Shorten the values, or remove chips; nothing was set.`
  return refused('ERR_BAD_ARGUMENT', message, { argument: 'fields', expected, got: length })
}

/** Whether a page may have chips of fields. Parsing a page takes long, and most pages have no chip. HTML may spell the attribute in any case. */
function mayHaveChips(page: ProsePage): boolean {
  return /data-field/i.test(page.content)
}

function unknownName(name: string, known: readonly string[]): Warning {
  const reason = `the document has no field "${quote(name)}" to remove`
  return { reason, field: 'fields', nearest: nearestNames(name, known).map(quote) }
}

function computedName(name: string): Warning {
  const what = name === 'today' ? 'date' : 'time'
  return {
    reason: `editors compute the field "${name}"; its chips show the ${what}, in UTC at this write, and not the value`,
    field: 'fields',
  }
}

export const fieldEdits = {
  set_fields: { edit: setFields, flaw: setFieldsFlaw },
} as const satisfies Record<string, EditRow>
