import { ATOM } from '../prose/text-splices.ts'

/** A range of a text, in UTF-16 units. */
export interface Match {
  readonly from: number
  readonly to: number
}

/** Yields the matches of `find` in a text, in order. No match overlaps another, splits a character or contains an atom. [AG-44] */
export function* findExact(text: string, find: string): Generator<Match> {
  const search = searcher(find)
  for (let at = search(text, 0); at !== -1; ) {
    const to = at + find.length
    const isMatch = !splitsCharacter(text, at) && !splitsCharacter(text, to) && !find.includes(ATOM)
    if (isMatch) yield { from: at, to }
    at = search(text, isMatch ? to : at + 1)
  }
}

/** A search of the JavaScript engine for at most 32 characters takes at most 32 comparisons for each character of the text. */
const SHORT = 32

/** Returns a function that searches a text for `find` from an index on, in time linear in the text. [AG-49] */
function searcher(find: string): (text: string, from: number) => number {
  if (find.length <= SHORT) return (text, from) => text.indexOf(find, from)
  // Knuth, Morris and Pratt: for each place of `find`, the length of the longest start of `find` that also ends at this place.
  const starts = new Uint32Array(find.length)
  for (let i = 1, length = 0; i < find.length; i++) {
    while (length > 0 && find[i] !== find[length]) length = starts[length - 1] as number
    if (find[i] === find[length]) length++
    starts[i] = length
  }
  return (text, from) => {
    for (let i = from, length = 0; i < text.length; i++) {
      while (length > 0 && text[i] !== find[length]) length = starts[length - 1] as number
      if (text[i] === find[length]) length++
      if (length === find.length) return i + 1 - length
    }
    return -1
  }
}

/** Whether an index lies between the two UTF-16 units of one character. */
export function splitsCharacter(text: string, at: number): boolean {
  return at > 0 && at < text.length && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at))
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** A text in which all characters that the second search treats as equal are written the same way. [AG-45] */
export interface FoldedText {
  readonly text: string
  /**
   * For each UTF-16 unit of `text`, and for its end, the index in the original text; -1 inside a cluster, at which no match may begin or end. `null`: folding
   * did not change the text.
   */
  readonly places: readonly number[] | null
}

const FOLDED_ALREADY = /^(?: ?[\x21-\x7e])* ?$/

/** Matches clusters that no match may split: a run of white space, and a letter with its accents. */
const CLUSTERS = /\s+|\P{M}\p{M}*|\p{M}+/gu

const ALIKE: ReadonlyMap<string, string> = new Map([
  ...[...'‘’'].map((quote) => [quote, "'"] as const),
  ...[...'“”„'].map((quote) => [quote, '"'] as const),
  ...[...'‐‑–—'].map((dash) => [dash, '-'] as const),
  ['…', '...'],
])

export function foldText(text: string): FoldedText {
  if (FOLDED_ALREADY.test(text)) return { text, places: null }
  const places: number[] = []
  let folded = ''
  for (const { 0: cluster, index } of text.matchAll(CLUSTERS)) {
    const written = foldedCluster(cluster)
    folded += written
    for (let i = 0; i < written.length; i++) places.push(i === 0 ? index : -1)
  }
  places.push(text.length)
  return { text: folded, places }
}

function foldedCluster(cluster: string): string {
  if (/^\s/.test(cluster)) return ' '
  const [first = ''] = cluster
  return ((ALIKE.get(first) ?? first) + cluster.slice(first.length)).normalize('NFD')
}

/** Yields the matches of a folded `find`, as ranges of the original text. [AG-45] */
export function* findFolded({ text, places }: FoldedText, find: string): Generator<Match> {
  if (places === null) return yield* findExact(text, find)
  const search = searcher(find)
  for (let at = search(text, 0); at !== -1; ) {
    const [from, to] = [places[at] ?? -1, places[at + find.length] ?? -1]
    const isMatch = from !== -1 && to !== -1 && !find.includes(ATOM)
    if (isMatch) yield { from, to }
    at = search(text, isMatch ? at + find.length : at + 1)
  }
}

/** Cuts the common start and end off a match and its replacement, without splitting a character. [AG-48] */
export function narrowedTo(
  matched: string,
  replace: string,
): { readonly start: number; readonly end: number; readonly insert: string } {
  let start = 0
  while (start < matched.length && start < replace.length && matched[start] === replace[start]) start++
  if (splitsCharacter(matched, start) || splitsCharacter(replace, start)) start--
  let [end, last] = [matched.length, replace.length]
  while (end > start && last > start && matched[end - 1] === replace[last - 1]) {
    end--
    last--
  }
  if (splitsCharacter(matched, end) || splitsCharacter(replace, last)) {
    end++
    last++
  }
  return { start, end, insert: replace.slice(start, last) }
}
