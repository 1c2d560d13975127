import type { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'

/** A word that a person typed, which no other person or agent types. */
export interface TypedWord {
  /** What was typed of it so far, from its first character on. */
  text: string
  /** Whether the relay acknowledged everything typed of it. */
  saved: boolean
  readonly typist: string
  /** Ids of the blocks into which it was typed. */
  readonly blocks: Set<string>
}

/** Shorter beginnings of a word may occur elsewhere by chance. */
const TELLING_CHARACTERS = 6

/** The words of which enough was typed and acknowledged to be looked for. */
export function wordsToFind(words: readonly TypedWord[]): readonly TypedWord[] {
  return words.filter(({ text, saved }) => saved && text.length >= TELLING_CHARACTERS)
}

/** The word number `count` of the typist number `typist`: its first six characters occur in no other word. */
export function wordOf(typist: number, count: number): string {
  const name = `${typist.toString(36).padStart(2, '0')}${count.toString(36).padStart(3, '0')}`
  return `w${name}${'xyz'}`
}

/** Every text node below a fragment, in document order. */
export function textNodes(root: Y.XmlFragment | Y.XmlElement): Y.XmlText[] {
  return root.toArray().flatMap((node) => {
    if (node instanceof Y.XmlText) return [node]
    return node instanceof Y.XmlElement ? textNodes(node) : []
  })
}

/** The characters of a text node, each chip or other embedded thing as one space. */
export function charactersOf(text: Y.XmlText): string {
  return (text.toDelta() as { insert: unknown }[]).map(({ insert }) => (typeof insert === 'string' ? insert : ' ')).join('')
}

/** All text of a page as one client has it. */
export function pageText(client: SyncClient, pageId: string): string {
  return textNodes(client.doc.getXmlFragment(`prose:${pageId}`))
    .map(charactersOf)
    .join('\n')
}
