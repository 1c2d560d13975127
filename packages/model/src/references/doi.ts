import { refused, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'

/** The prefixes that a text may have before a DOI, such as `https://doi.org/`. [REF-9] */
const PREFIX = /^(?:https?:\/\/(?:dx\.)?doi\.org\/|doi:\s*|info:doi\/)/i
const DOI = /^10\.\d{4,9}(?:\.\d+)*\/[^\p{C}\p{Z}]+$/u

const MOST_CHARACTERS = 300

/** Returns the DOI in a text, without spaces and prefix; `null` when the text is no DOI. [REF-9] */
export function readDoi(text: string): string | null {
  const doi = withoutPrefix(text)
  return doi.length <= MOST_CHARACTERS && DOI.test(doi) ? doi : null
}

/** Returns the key of a DOI: equal DOIs have the same key, whatever their case and prefix. [REF-4] */
export function doiKey(doi: string): string {
  return withoutPrefix(doi).toLowerCase()
}

/** Refuses a text that is no DOI. */
export function invalidDoi(text: string): Refusal {
  const doi = quote(text)
  return refused('ERR_DOI_INVALID', `${JSON.stringify(doi)} is not a DOI; one looks like 10.1000/182.`, { doi })
}

function withoutPrefix(text: string): string {
  return text.trim().replace(PREFIX, '')
}
