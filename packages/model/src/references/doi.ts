import { refused, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'

/** What may stand before a DOI. [REF-9] */
const PREFIX = /^(?:https?:\/\/(?:dx\.)?doi\.org\/|doi:\s*|info:doi\/)/i
const DOI = /^10\.\d{4,9}(?:\.\d+)*\/[^\p{C}\p{Z}]+$/u

const MOST_CHARACTERS = 300

/** The DOI that a text names, without what stands around it; `null` when it names none. [REF-9] */
export function readDoi(text: string): string | null {
  const doi = withoutPrefix(text)
  return doi.length <= MOST_CHARACTERS && DOI.test(doi) ? doi : null
}

/** By which equal DOIs are found, however a library has written them. [REF-4] */
export function doiKey(doi: string): string {
  return withoutPrefix(doi).toLowerCase()
}

/** The refusal of a text that names no DOI. */
export function invalidDoi(text: string): Refusal {
  const doi = quote(text)
  return refused('ERR_DOI_INVALID', `${JSON.stringify(doi)} is not a DOI; one looks like 10.1000/182.`, { doi })
}

function withoutPrefix(text: string): string {
  return text.trim().replace(PREFIX, '')
}
