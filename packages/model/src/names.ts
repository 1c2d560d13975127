import type { DocumentBody } from './body.ts'
import { shownTitle, storedTitle, withTitle } from './body-title.ts'
import { isRefusal, refused, type Edit, type Fix, type Refusal } from './edit.ts'
import { cleanText } from './prose/values.ts'

const maxCharacters = 200
/** What stands behind so much is cut off unread. [CONC-13] */
const maxRead = 65_536

export interface CleanName {
  readonly name: string
  readonly fixes: readonly Fix[]
}

/** The name of a document or page as it is stored. [TOOL-13] */
export function cleanName(given: string, argument = 'name'): CleanName | Refusal {
  const name = cleanText(given.trimStart().slice(0, maxRead))
    .replace(/\p{Cc}/gu, '')
    .trim()
  if (name === '') {
    const expected = `1 to ${maxCharacters} characters that are not all blank`
    return refused('ERR_BAD_ARGUMENT', `${argument} is empty; a name has ${expected}.`, { argument, expected, got: '' })
  }
  // A character takes at most two units, so short names need no count.
  const points = name.length <= maxCharacters ? [] : [...name]
  if (points.length <= maxCharacters) return { name, fixes: [] }
  const reason = `a name has at most ${maxCharacters} characters; the rest was cut`
  return { name: points.slice(0, maxCharacters).join('').trimEnd(), fixes: [{ action: 'clamped', field: argument, reason }] }
}

/** What is wrong with the name of a call whatever the document; one that is left out is none. [MCP-3] */
export function nameFlaw({ name }: { readonly name?: string | undefined }): Refusal | null {
  const clean = name === undefined ? null : cleanName(name)
  return clean !== null && isRefusal(clean) ? clean : null
}

export interface RenameDocument {
  readonly docId: string
  readonly name: string
}

/** Retitles the document. [TOOL-rename_document, BODY-10] */
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

/** The placeholder is only shown, so asking for it on an untitled document changes nothing. */
function retitled(body: DocumentBody, name: string): DocumentBody {
  return storedTitle(body) === undefined && shownTitle(body) === name ? body : withTitle(body, name)
}
