import type { DocumentBody } from './body.ts'
import { shownTitle, storedTitle, withTitle } from './body-title.ts'
import { isRefusal, refused, type Edit, type EditRow, type Fix, type Refusal } from './edit.ts'
import { cleanText } from './prose/values.ts'

const maxCharacters = 200
/** A name longer than this many UTF-16 units is cut before anything else reads it. [CONC-13] */
const maxRead = 65_536

export interface CleanName {
  readonly name: string
  readonly fixes: readonly Fix[]
}

/**
 * Returns the name of a document or page as it is stored. White space at both ends is removed without a fix; every other change is reported as a fix.
 * [TOOL-13]
 */
export function cleanName(given: string, argument = 'name'): CleanName | Refusal {
  const trimmed = given.trimStart().slice(0, maxRead).trim()
  const name = cleanText(trimmed)
    .replace(/\p{Cc}/gu, '')
    .trim()
  if (name === '') {
    const expected = `1 to ${maxCharacters} characters that are not all blank`
    return refused('ERR_BAD_ARGUMENT', `${argument} is empty; a name has ${expected}.`, { argument, expected, got: '' })
  }
  const fixes: readonly Fix[] = name === trimmed ? [] : [unfitCharacters(argument)]
  // A character takes at most two UTF-16 units, so short names need no counting.
  const points = name.length <= maxCharacters ? [] : [...name]
  if (points.length <= maxCharacters) return { name, fixes }
  const reason = `a name has at most ${maxCharacters} characters; the rest was cut`
  const cut = points.slice(0, maxCharacters).join('').trimEnd()
  return { name: cut, fixes: [...fixes, { action: 'clamped', field: argument, reason }] }
}

/** The fix for a line of text from which control characters and lone surrogates were removed. [TOOL-17] */
export function unfitCharacters(field: string): Fix {
  return { action: 'dropped_invalid', field, reason: 'control characters and halves of characters cannot stand there' }
}

/** Refuses a name that is wrong for every document. Returns `null` for a good or an absent name. [MCP-3] */
export function nameFlaw({ name }: { readonly name?: string | undefined }): Refusal | null {
  const clean = name === undefined ? null : cleanName(name)
  return clean !== null && isRefusal(clean) ? clean : null
}

export interface RenameDocument {
  readonly docId: string
  readonly name: string
}

/** Sets the title of a document. [TOOL-rename_document, BODY-10] */
export const renameDocument: Edit<RenameDocument, { readonly id: string; readonly name: string }> = (body, args) => {
  const clean = cleanName(args.name)
  if (isRefusal(clean)) return clean
  return {
    kind: 'edited',
    body: retitled(body, clean.name),
    result: { id: args.docId, name: clean.name },
    fixes: clean.fixes,
    warnings: [],
  }
}

/** Sets the title of a body. The placeholder title is never stored, so setting it on an untitled document changes nothing. */
function retitled(body: DocumentBody, name: string): DocumentBody {
  return storedTitle(body) === undefined && shownTitle(body) === name ? body : withTitle(body, name)
}

export const documentEdits = {
  rename_document: { edit: renameDocument, flaw: nameFlaw },
} as const satisfies Record<string, EditRow>
