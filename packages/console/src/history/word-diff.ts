import { Fragment, type Node } from 'prosemirror-model'
import { commonSequence, type Pair } from './common-sequence.ts'

/** A part of the text of a block, with its marks. */
export interface TextRun {
  readonly kind: 'same' | 'added' | 'removed'
  readonly content: Fragment
}

interface Word {
  readonly node: Node
  /** Words with the same key have the same text and the same marks. */
  readonly key: string
  readonly isSpace: boolean
}

/** With a smaller part of common words than this, the whole text is shown as removed and added. */
const LEAST_COMMON = 0.2

/**
 * Compares the text of two blocks word by word. A word whose marks changed counts as removed and added, and so does a changed chip or formula.
 * Runs are in reading order; removed words stand before the words that replaced them.
 */
export function wordDiff(before: Node, after: Node): readonly TextRun[] {
  const [old, now] = [wordsOf(before), wordsOf(after)]
  const pairs = worthShowing(commonSequence(old.map(keyOf), now.map(keyOf)), old, now)
  const runs = new Runs()
  let [i, j] = [0, 0]
  for (const pair of [...pairs, { before: old.length, after: now.length }]) {
    runs.add('removed', old.slice(i, pair.before))
    runs.add('added', now.slice(j, pair.after))
    runs.add('same', now.slice(pair.after, pair.after + 1))
    i = pair.before + 1
    j = pair.after + 1
  }
  return runs.list()
}

/** Returns the words of a block, each as its `key`, without the spaces between them. */
export function wordsIn(block: Node): readonly string[] {
  return wordsOf(block).flatMap(({ key, isSpace }) => (isSpace ? [] : [key]))
}

function wordsOf(block: Node): readonly Word[] {
  const words: Word[] = []
  block.forEach((node) => {
    const marks = node.marks.map((mark) => JSON.stringify(mark.toJSON())).join()
    if (!node.isText) words.push({ node, key: JSON.stringify(node.toJSON()), isSpace: false })
    else
      for (const part of splitWords(node.text ?? ''))
        words.push({ node: node.type.schema.text(part, node.marks), key: `${part}\n${marks}`, isSpace: part.trim() === '' })
  })
  return words
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Splits a text into words, spaces and punctuation. The browser also knows where words end in scripts without spaces. */
function splitWords(text: string): readonly string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

function keyOf({ key }: Word): string {
  return key
}

/** Leaves out pairs of spaces between changed words, which are common only by chance; all pairs when too few words are common. */
function worthShowing(pairs: readonly Pair[], old: readonly Word[], now: readonly Word[]): readonly Pair[] {
  const words = pairs.filter(({ before }) => old[before]?.isSpace === false).length
  const most = Math.max(...[old, now].map((list) => list.filter(({ isSpace }) => !isSpace).length))
  if (words < most * LEAST_COMMON) return []
  return pairs.filter((pair, index) => {
    if (old[pair.before]?.isSpace === false) return true
    const [previous, next] = [pairs[index - 1], pairs[index + 1]]
    const joinsPrevious = previous?.before === pair.before - 1 && previous.after === pair.after - 1
    const joinsNext = next?.before === pair.before + 1 && next.after === pair.after + 1
    const isFirst = pair.before === 0 && pair.after === 0
    const isLast = pair.before === old.length - 1 && pair.after === now.length - 1
    return joinsPrevious || joinsNext || isFirst || isLast
  })
}

class Runs {
  readonly #runs: { kind: TextRun['kind']; nodes: Node[] }[] = []

  add(kind: TextRun['kind'], words: readonly Word[]): void {
    if (words.length === 0) return
    const last = this.#runs.at(-1)
    const nodes = words.map(({ node }) => node)
    if (last?.kind === kind) last.nodes.push(...nodes)
    else this.#runs.push({ kind, nodes })
  }

  list(): readonly TextRun[] {
    // `fromArray` joins neighbouring texts with equal marks.
    return this.#runs.map(({ kind, nodes }) => ({ kind, content: Fragment.fromArray(nodes) }))
  }
}
