/** The size of a document's text in bytes. */
export const DOCUMENT_BYTES = 10_000
const VOCABULARY = 50_000

let seed = 20261123
/** Returns numbers from 0 to 1, the same sequence in every run. */
export function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return seed / 0x7fffffff
}

/** Words of one to five syllables. */
function vocabulary(): readonly string[] {
  const syllables =
    'ba be bi bo bu da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to schu con ver ent'.split(
      ' ',
    )
  const made = new Set<string>()
  while (made.size < VOCABULARY) {
    const length = 1 + Math.floor(random() * 4) + (made.size > 100 ? 1 : 0)
    made.add(Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join(''))
  }
  return [...made]
}

/** All words, the most frequent first; the n-th is used about 1/n as often as the first. */
export const words = vocabulary()
const sums: number[] = []
for (const n of words.keys()) sums.push((sums.at(-1) ?? 0) + 1 / (n + 2.7))
const total = sums.at(-1) ?? 1

function pick(): number {
  const at = random() * total
  let [low, high] = [0, sums.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] ?? 0) < at) low = middle + 1
    else high = middle
  }
  return low
}

/** Documents with one prose page of paragraphs. */
export class Corpus {
  /** Bytes of the paragraphs of all documents. */
  textBytes = 0
  /** The number of documents that contain each word. */
  readonly #documentsWith = new Uint32Array(words.length)

  /**
   * Returns the body of document `n`. Its name contains some of the most frequent words, so that the name matches them better than any paragraph
   * does.
   */
  body(n: number): object {
    const blocks: string[] = []
    const seen = new Set<number>()
    for (let bytes = 0; bytes < DOCUMENT_BYTES; bytes += (blocks.at(-1) ?? '').length + 1) {
      const numbers = Array.from({ length: 20 + Math.floor(random() * 50) }, pick)
      for (const number of numbers) seen.add(number)
      blocks.push(numbers.map((number) => words[number]).join(' '))
    }
    for (const number of seen) this.#documentsWith[number] = (this.#documentsWith[number] ?? 0) + 1
    for (const block of blocks) this.textBytes += block.length
    const content = blocks.map((block, at) => `<p id="blk-${n}-${at}">${block}</p>`).join('')
    const name = `Document ${n} ${words[n % 10]} ${words[(n + 1) % 10]}`
    return { name, richTextPages: [{ id: 'p', name: 'Page', content }] }
  }

  /** Returns the words that are in at least one document and in less than `share` of `documents`, the most frequent first. */
  rarerThan(share: number, documents: number): readonly string[] {
    return words.filter((_, n) => {
      const count = this.#documentsWith[n] ?? 0
      return count > 0 && count < share * documents
    })
  }
}
