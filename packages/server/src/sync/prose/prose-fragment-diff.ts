/** A range of the first sequence and the different range that replaces it in the second. Ends are exclusive. */
export interface Hunk {
  readonly aFrom: number
  readonly aTo: number
  readonly bFrom: number
  readonly bTo: number
}

/** Up to this many comparisons, the middle of two sequences is compared element by element. A larger middle becomes one hunk. */
const maxComparisons = 1_000_000

/** The differences between two sequences. Common ends are kept; between them the longest common subsequence is. */
export function diff<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean): readonly Hunk[] {
  let start = 0
  let [aEnd, bEnd] = [a.length, b.length]
  while (start < aEnd && start < bEnd && same(a[start] as T, b[start] as T)) start++
  while (aEnd > start && bEnd > start && same(a[aEnd - 1] as T, b[bEnd - 1] as T)) {
    aEnd--
    bEnd--
  }
  if (start === aEnd && start === bEnd) return []
  const whole: Hunk = { aFrom: start, aTo: aEnd, bFrom: start, bTo: bEnd }
  const [rows, columns] = [aEnd - start, bEnd - start]
  if (rows === 0 || columns === 0 || rows * columns > maxComparisons) return [whole]
  return middleHunks(a, b, same, whole)
}

function middleHunks<T>(
  a: readonly T[],
  b: readonly T[],
  same: (a: T, b: T) => boolean,
  { aFrom, aTo, bFrom, bTo }: Hunk,
): readonly Hunk[] {
  const width = bTo - bFrom + 1
  // lengths[i * width + j] is the length of the longest common subsequence of a[aFrom + i…] and b[bFrom + j…].
  const lengths = new Uint32Array((aTo - aFrom + 1) * width)
  for (let i = aTo - aFrom - 1; i >= 0; i--) {
    for (let j = width - 2; j >= 0; j--) {
      const at = i * width + j
      lengths[at] = same(a[aFrom + i] as T, b[bFrom + j] as T)
        ? (lengths[at + width + 1] as number) + 1
        : Math.max(lengths[at + width] as number, lengths[at + 1] as number)
    }
  }
  const hunks: Hunk[] = []
  let [i, j] = [0, 0]
  let [hunkA, hunkB] = [0, 0]
  const close = () => {
    if (hunkA < i || hunkB < j) hunks.push({ aFrom: aFrom + hunkA, aTo: aFrom + i, bFrom: bFrom + hunkB, bTo: bFrom + j })
  }
  while (i < aTo - aFrom && j < width - 1) {
    if (same(a[aFrom + i] as T, b[bFrom + j] as T)) {
      close()
      hunkA = ++i
      hunkB = ++j
    } else if ((lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number)) i++
    else j++
  }
  i = aTo - aFrom
  j = width - 1
  close()
  return hunks
}

/** One character (code point) of a text; the text is empty for anything else, such as an atom. */
export interface Letter {
  readonly text: string
}

/**
 * The differences between two texts by words, with equal characters at the ends of each difference removed. Unchanged text between two
 * differences is replaced together with them when it is shorter than they are on average: any two sentences share some words, and each separate piece
 * of text permanently enlarges the live document.
 */
export function diffText(a: readonly Letter[], b: readonly Letter[]): readonly Hunk[] {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  const hunks = diff(left.texts, right.texts, (one, other) => one !== '' && one === other).map(
    (hunk): Hunk => ({
      aFrom: left.starts[hunk.aFrom] as number,
      aTo: left.starts[hunk.aTo] as number,
      bFrom: right.starts[hunk.bFrom] as number,
      bTo: right.starts[hunk.bTo] as number,
    }),
  )
  return joinNear(hunks).map((hunk) => narrowed(a, b, hunk))
}

interface Words {
  /** Words, each with the white space after it. */
  readonly texts: readonly string[]
  /** The index at which each word begins, and the end of the last one. */
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
