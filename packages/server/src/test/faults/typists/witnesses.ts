import type { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { charactersOf, isLetter, textNodes } from './words.ts'

/** Editors that remember from which blocks letters vanished: the calls that removed them speak of these blocks. */
export interface Witnesses {
  /**
   * Ids of the blocks in which a letter stood each time that it vanished from what an editor shows: of its own block, and the first one in the
   * list, table or quote around it, which names that as a whole.
   */
  lastSeenIn(letter: string): ReadonlySet<string>
}

export function openWitnesses(clients: readonly SyncClient[], pageId: string): Witnesses {
  const vanished = new Map<string, Set<string>>()
  for (const client of clients) watch(client, pageId, vanished)
  const none = new Set<string>()
  return { lastSeenIn: (letter) => vanished.get(letter) ?? none }
}

function watch({ doc }: SyncClient, pageId: string, vanished: Map<string, Set<string>>): void {
  const page = doc.getXmlFragment(`prose:${pageId}`)
  let places = placesOn(page)
  doc.on('update', () => {
    const now = placesOn(page)
    for (const [letter, blocks] of places) {
      if (now.has(letter)) continue
      const known = vanished.get(letter) ?? new Set()
      vanished.set(letter, known)
      for (const { block, ids } of blocks) {
        for (const id of ids) known.add(id)
        // The block of a paragraph that had no id may stay and get one.
        const id = idOf(block)
        if (id !== null) known.add(id)
      }
    }
    places = now
  })
}

interface Place {
  readonly block: Y.XmlElement
  readonly ids: readonly string[]
}

/** For each letter the blocks that have it. */
function placesOn(page: Y.XmlFragment): Map<string, readonly Place[]> {
  const places = new Map<string, readonly Place[]>()
  for (const top of page.toArray()) {
    const texts = top instanceof Y.XmlElement ? textNodes(top) : []
    const blocks = texts.map((text) => text.parent as Y.XmlElement)
    const first = blocks.map(idOf).find((id) => id !== null)
    for (const [index, text] of texts.entries()) {
      const block = blocks[index] as Y.XmlElement
      const ids = [idOf(block), first].filter((id) => typeof id === 'string')
      for (const character of charactersOf(text))
        if (isLetter(character)) places.set(character, [...(places.get(character) ?? []), { block, ids }])
    }
  }
  return places
}

function idOf(block: Y.XmlElement): string | null {
  const id: unknown = block.getAttribute('id')
  return typeof id === 'string' ? id : null
}
