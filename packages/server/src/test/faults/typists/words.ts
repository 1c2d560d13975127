import * as Y from 'yjs'

/** A character that a person typed. No other person or agent types it, and no word has it twice, so each can be looked for. */
export interface TypedCharacter {
  readonly text: string
  readonly typist: string
  /** Whether the relay has acknowledged the character. */
  isSaved: boolean
}

/** Letters of scripts that nothing else on the page uses: CJK, its extension A, and Hangul syllables. */
const LETTERS = [
  { first: 0x4e00, last: 0x9fff },
  { first: 0x3400, last: 0x4dbf },
  { first: 0xac00, last: 0xd7a3 },
] as const

export function isLetter(character: string): boolean {
  const code = character.charCodeAt(0)
  return LETTERS.some(({ first, last }) => first <= code && code <= last)
}

/** Returns a function that returns a new letter at each call, and throws when there are no more. */
export function letters(): () => string {
  return lettersOf(LETTERS.slice(0, 2))
}

/** Returns the same for people in the other thread, with letters that the main thread does not use. */
export function distantLetters(): () => string {
  return lettersOf(LETTERS.slice(2))
}

function lettersOf(ranges: readonly (typeof LETTERS)[number][]): () => string {
  const all = lettersInOrder(ranges)
  return () => {
    const { value, done } = all.next()
    if (done === true) throw new Error('more was typed than there are letters')
    return value
  }
}

function* lettersInOrder(ranges: readonly (typeof LETTERS)[number][]): Generator<string, void> {
  for (const { first, last } of ranges) for (let code = first; code <= last; code++) yield String.fromCharCode(code)
}

/** Returns every text node below a fragment, in document order. */
export function textNodes(root: Y.XmlFragment | Y.XmlElement): Y.XmlText[] {
  return root.toArray().flatMap((node) => {
    if (node instanceof Y.XmlText) return [node]
    return node instanceof Y.XmlElement ? textNodes(node) : []
  })
}

/** Returns the characters of a text node, with a space for each chip or other embed. */
export function charactersOf(text: Y.XmlText): string {
  return (text.toDelta() as { insert: unknown }[]).map(({ insert }) => (typeof insert === 'string' ? insert : ' ')).join('')
}
