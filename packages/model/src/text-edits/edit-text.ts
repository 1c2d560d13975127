import { labelOf, withLabel } from '../canvas/stored-shape.ts'
import { type Edit, type EditRow, type Fix, isRefusal, refused, type Refusal } from '../edit.ts'
import type { BlockList } from '../prose/block-list.ts'
import { namingOf, type Printed } from '../prose/block-names.ts'
import { readHandle } from '../prose/handles.ts'
import { addressFlaw } from '../prose/targets.ts'
import { splicedBlock, type TextSplice, visibleText } from '../prose/text-splices.ts'
import { cleanText } from '../prose/values.ts'
import { readStampedId } from '../stamps/stamp.ts'
import { findExact, findFolded, foldText, type Match, narrowedTo } from './find-text.ts'
import { OpenTexts, type TextHolder, type TextReach, type TextScope, textsInReach } from './text-holders.ts'
import { ambiguousText, type FoundText, textNotFound } from './text-refusals.ts'
import { MAX_LISTED, writeTexts } from './write-texts.ts'

/** One replacement of words, at all places or at one place. */
export interface TextEdit {
  readonly find: string
  readonly replace: string
  readonly id?: string | undefined
  readonly sectionIndex?: number | undefined
  readonly all?: boolean | undefined
  /** The number of the match to replace, from 1. */
  readonly occurrence?: number | undefined
}

export interface EditText extends Printed {
  readonly pageId?: string | undefined
  readonly edits: readonly TextEdit[]
  readonly scope?: TextScope | undefined
  readonly expectedVersion?: number | undefined
}

export interface EditedTexts extends BlockList {
  /** For each edit: the number of its replacements, and at most 20 ids of the blocks (with stamps) and shapes. */
  readonly edits: readonly { readonly count: number; readonly ids: readonly string[] }[]
}

const MAX_REPLACEMENTS = 5_000
const MAX_LABEL = 10_000

/** Refuses arguments of edit_text that are wrong for every document; `null` otherwise. [MCP-3, AG-32, AG-33] */
function editTextFlaw(args: EditText): Refusal | null {
  for (const [i, edit] of args.edits.entries()) {
    const flaw = oneEditFlaw(args, edit, i)
    if (flaw !== null) return flaw
  }
  return null
}

function oneEditFlaw({ pageId, scope, expectedVersion }: EditText, edit: TextEdit, i: number): Refusal | null {
  const { id, sectionIndex, all, occurrence } = edit
  const { find, replace } = cleanEdit(edit)
  const bad = (member: string, expected: string, why: string) =>
    refused('ERR_BAD_ARGUMENT', `edits[${i}].${member}: ${why}; expected ${expected}.`, {
      argument: `edits[${i}].${member}`,
      expected,
    })
  if (find === '') return bad('find', 'the words that stand in the document', 'nothing is left to look for')
  if (find === replace) return bad('replace', 'other words than in find', 'find and replace are equal, so nothing could change')
  if (all === true && occurrence !== undefined)
    return bad('occurrence', 'all or occurrence, not both', 'all replaces every place')
  if (sectionIndex !== undefined && pageId === undefined)
    return bad('sectionIndex', 'pageId beside it', 'a section is a part of one page')
  if (sectionIndex !== undefined && id !== undefined)
    return bad('sectionIndex', 'id or sectionIndex, not both', 'a block is a part of its section')
  if (sectionIndex !== undefined && scope === 'canvas')
    return bad('sectionIndex', 'it with prose only', 'a canvas has no sections')
  const handle = id === undefined ? null : readHandle(readStampedId(id)?.id ?? id)
  if (handle !== null && pageId === undefined) return bad('id', 'pageId beside it', 'a handle is a place on one page')
  return addressFlaw({ id }, expectedVersion, { id: `edits[${i}].id`, anchor: '' })
}

/** Finds words and replaces them, in prose and in labels of shapes. [TOOL-edit_text, AG-44 to AG-49] */
export const editText: Edit<EditText, EditedTexts> = (body, args, environment) => {
  const flaw = editTextFlaw(args)
  if (flaw !== null) return flaw
  const texts = new OpenTexts(body, namingOf(args))
  const fixes: Fix[] = []
  const written: (readonly TextHolder[])[] = []
  const counts: number[] = []
  for (const [i, given] of args.edits.entries()) {
    const edit = cleanEdit(given)
    const { scope = 'prose', pageId } = args
    const reach = {
      scope,
      pageId,
      id: edit.id,
      sectionIndex: edit.sectionIndex,
      isVersionNamed: args.expectedVersion !== undefined,
      seen: environment.seen,
    }
    const found = chosen(i, edit, texts, reach, fixes)
    if (isRefusal(found)) return found
    counts.push(found.length)
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total > MAX_REPLACEMENTS) return tooMany(total)
    written.push(replaceAll(found, edit.replace))
    const long = written.at(-1)?.find((holder) => holder.kind === 'shape' && holder.text.length > MAX_LABEL)
    if (long !== undefined) return labelTooLong(i, long.text.length)
  }
  const answer = writeTexts(texts, environment)
  const edits = counts.map((count, i) => ({
    count,
    ids: [...new Set((written[i] ?? []).map(answer.nameOf))].slice(0, MAX_LISTED),
  }))
  return { ...answer.edited, result: { edits, ...answer.edited.result }, fixes }
}

/** Cleans the texts of an edit as stored text is: without NUL and lone surrogates, with LF as line break. [PROSE-8] */
function cleanEdit(edit: TextEdit): TextEdit {
  const clean = (text: string): string => cleanText(text.replace(/\r\n/g, '\n'))
  return { ...edit, find: clean(edit.find), replace: clean(edit.replace) }
}

/** Returns the places that an edit replaces. [AG-45, AG-46] */
function chosen(i: number, edit: TextEdit, texts: OpenTexts, reach: TextReach, fixes: Fix[]): readonly FoundText[] | Refusal {
  const { find, all, occurrence } = edit
  const searched = textsInReach(texts, reach)
  if (isRefusal(searched)) return searched
  let found = foundIn(searched, ({ text }) => findExact(text, find), occurrence)
  if (found.count === 0) {
    const folded = foldText(find).text
    found = foundIn(searched, (holder) => findFolded(texts.folded(holder), folded), occurrence)
    const reason = 'the words were found with other white space, quotation marks, dashes, dots or composed characters'
    if (found.count > 0) fixes.push({ action: 'clamped', field: `edits[${i}].find`, reason })
  }
  const { count, first, wanted } = found
  if (count === 0) return textNotFound(i, find, texts, reach, searched)
  if (occurrence !== undefined) return wanted === null ? noOccurrence(i, occurrence, count) : [wanted]
  if (count > 1 && all !== true) return ambiguousText(i, first, count, texts.naming)
  return count > MAX_REPLACEMENTS ? tooMany(count) : first
}

interface Found {
  readonly count: number
  /** The first matches, as many as one call may replace. */
  readonly first: readonly FoundText[]
  /** The match with the number `occurrence`; `null` when there is none. */
  readonly wanted: FoundText | null
}

function foundIn(searched: readonly TextHolder[], matches: (holder: TextHolder) => Iterable<Match>, occurrence?: number): Found {
  const first: FoundText[] = []
  let count = 0
  let wanted: FoundText | null = null
  for (const holder of searched)
    for (const match of matches(holder)) {
      count++
      if (count === occurrence) wanted = { holder, match }
      if (count <= MAX_REPLACEMENTS) first.push({ holder, match })
    }
  return { count, first, wanted }
}

function noOccurrence(i: number, got: number, count: number): Refusal {
  const [argument, expected] = [`edits[${i}].occurrence`, `1 to ${count}`]
  return refused('ERR_BAD_ARGUMENT', `${argument} is ${got}, and the words stand at ${count} places; expected ${expected}.`, {
    argument,
    expected,
    got,
  })
}

function tooMany(got: number): Refusal {
  const expected = `at most ${MAX_REPLACEMENTS} replacements in one call`
  return refused('ERR_BAD_ARGUMENT', `edits would replace at ${got} places; expected ${expected}.`, {
    argument: 'edits',
    expected,
    got,
  })
}

function labelTooLong(i: number, got: number): Refusal {
  const [argument, expected] = [`edits[${i}].replace`, `a label of at most ${MAX_LABEL} characters afterwards`]
  return refused('ERR_BAD_ARGUMENT', `${argument} makes a label of ${got} characters; expected ${expected}.`, {
    argument,
    expected,
    got,
  })
}

/** Replaces the found places. Returns the text blocks and shapes of these places, in order. */
function replaceAll(found: readonly FoundText[], replace: string): readonly TextHolder[] {
  const byHolder = new Map<TextHolder, TextSplice[]>()
  for (const { holder, match } of found) {
    const splices = byHolder.get(holder) ?? []
    byHolder.set(holder, splices)
    const { start, end, insert } = narrowedTo(holder.text.slice(match.from, match.to), replace)
    const at = match.from + start
    if (end > start || insert !== '')
      splices.push({ at, remove: end - start, insert, like: likeWhom(holder.text, match.from, at, end - start) })
  }
  for (const [holder, splices] of byHolder) if (splices.length > 0) spliceHolder(holder, splices)
  return [...byHolder.keys()]
}

/** The character whose marks new text takes: the first removed one, else the one before in the match, else the first of the match. [AG-47] */
function likeWhom(text: string, matchFrom: number, at: number, removed: number): number {
  for (let place = at; place < at + removed; place++) if (text[place] !== '\n') return place
  return at > matchFrom ? at - 1 : matchFrom
}

function spliceHolder(holder: TextHolder, splices: readonly TextSplice[]): void {
  if (holder.kind === 'block') {
    holder.block = splicedBlock(holder.block, splices)
    holder.text = visibleText(holder.block)
    holder.steps.push(splices)
    return
  }
  let [text, done] = ['', 0]
  for (const { at, remove, insert } of splices) {
    text += holder.text.slice(done, at) + insert
    done = at + remove
  }
  holder.text = text + holder.text.slice(done)
  holder.value = holder.text === labelOf(holder.stored) ? holder.stored : withLabel(holder.stored, holder.text)
}

export const textEdits = {
  edit_text: { edit: editText, flaw: editTextFlaw },
} as const satisfies Record<string, EditRow>
