import { diff, type Hunk } from './prose-fragment-hunks.ts'

/** One code point of a text, or an element without text, such as an atom, whose `text` is empty. */
export interface Letter {
  readonly text: string
}

/**
 * Returns the differences between two texts by words, without the equal characters at the ends of each difference.
 *
 * Unchanged text between two differences is replaced with them when it is shorter than the average of the two differences. The reason: any
 * two sentences share some words, and each separate piece of text permanently enlarges the live document.
 */
export function diffText(a: readonly Letter[], b: readonly Letter[]): readonly Hunk[] {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  const number = numbering()
  const hunks = diff(Int32Array.from(left.texts, number), Int32Array.from(right.texts, number), WINDOWS).map(
    (hunk): Hunk => ({
      aFrom: left.starts[hunk.aFrom] as number,
      aTo: left.starts[hunk.aTo] as number,
      bFrom: right.starts[hunk.bFrom] as number,
      bTo: right.starts[hunk.bTo] as number,
    }),
  )
  return joinNear(hunks).map((hunk) => narrowed(a, b, hunk))
}

/** In texts that differ everywhere, `diff` keeps rows of eight words that stand once in each text, and between them single words that do. */
const WINDOWS = [8, 1]

/** Returns a function that numbers words. Equal words get the same number. An element without text gets a number of its own. */
function numbering(): (word: string) => number {
  const numbers = new Map<string, number>()
  let last = 0
  return (word) => {
    const known = word === '' ? undefined : numbers.get(word)
    if (known !== undefined) return known
    numbers.set(word, ++last)
    return last
  }
}

interface Words {
  /** The words, each with the white space after the word. An element without text is a word of its own, `''`. */
  readonly texts: readonly string[]
  /** The index of the letter at which each word begins, and then the number of letters. */
  readonly starts: readonly number[]
}

function wordsOf(letters: readonly Letter[]): Words {
  const texts: string[] = []
  const starts: number[] = []
  let before: Letter | undefined
  letters.forEach((letter, index) => {
    const isStart = before === undefined || letter.text === '' || before.text === '' || (isSpace(before) && !isSpace(letter))
    if (isStart) {
      starts.push(index)
      texts.push(letter.text)
    } else texts[texts.length - 1] += letter.text
    before = letter
  })
  return { texts, starts: [...starts, letters.length] }
}

function isSpace({ text }: Letter): boolean {
  return /^\s/.test(text)
}

function joinNear(hunks: readonly Hunk[]): readonly Hunk[] {
  const out: Hunk[] = []
  for (let hunk of hunks) {
    for (let last = out.at(-1); last !== undefined && isNear(last, hunk); last = out.at(-1)) {
      out.pop()
      hunk = { aFrom: last.aFrom, aTo: hunk.aTo, bFrom: last.bFrom, bTo: hunk.bTo }
    }
    out.push(hunk)
  }
  return out
}

function isNear(last: Hunk, next: Hunk): boolean {
  return 2 * (next.aFrom - last.aTo) < sizeOf(last) + sizeOf(next)
}

function sizeOf({ aFrom, aTo, bFrom, bTo }: Hunk): number {
  return Math.max(aTo - aFrom, bTo - bFrom)
}

function narrowed(a: readonly Letter[], b: readonly Letter[], hunk: Hunk): Hunk {
  let { aFrom, aTo, bFrom, bTo } = hunk
  const same = (i: number, j: number) => a[i]?.text !== '' && a[i]?.text === b[j]?.text
  while (aFrom < aTo && bFrom < bTo && same(aFrom, bFrom)) {
    aFrom++
    bFrom++
  }
  while (aFrom < aTo && bFrom < bTo && same(aTo - 1, bTo - 1)) {
    aTo--
    bTo--
  }
  return { aFrom, aTo, bFrom, bTo }
}
