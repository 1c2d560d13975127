import type { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { charactersOf, isLetter, textNodes } from './words.ts'

/** Records from which blocks letters vanished in editors, because the calls that removed letters name these blocks. */
export interface Witnesses {
  /**
   * Returns the ids of the blocks from which a letter vanished in an editor, also when it appeared elsewhere in the same write. Includes the
   * letter's own block, and the first block of the list, table or quote around it, whose id stands for the whole.
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
  doc.on('afterTransaction', (transaction: Y.Transaction) => {
    const typedIn = onlyTypedIn(transaction)
    if (typedIn !== null) {
      for (const text of typedIn) addPlaces(places, text, page)
      return
    }
    const now = placesOn(page)
    for (const [letter, blocks] of places) {
      const stays = new Set(now.get(letter)?.map(({ block }) => block))
      if (blocks.every(({ block }) => stays.has(block))) continue
      const known = vanished.get(letter) ?? new Set()
      vanished.set(letter, known)
      for (const { block, ids } of blocks) {
        if (stays.has(block)) continue
        for (const id of ids) known.add(id)
        // The block of a paragraph without an id may stay and get an id.
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

/**
 * Returns the texts that a transaction wrote into, or `null` when it did anything else. Nearly all transactions only type, and reading the whole
 * long page for each would be slow.
 */
function onlyTypedIn({ changed, deleteSet }: Y.Transaction): readonly Y.XmlText[] | null {
  const texts = [...changed.keys()].flatMap((type) => (type instanceof Y.XmlText ? [type] : []))
  return deleteSet.clients.size === 0 && texts.length === changed.size ? texts : null
}

/** Returns the blocks of each letter. */
function placesOn(page: Y.XmlFragment): Map<string, readonly Place[]> {
  const places = new Map<string, readonly Place[]>()
  for (const top of page.toArray()) {
    const texts = top instanceof Y.XmlElement ? textNodes(top) : []
    const first = firstId(texts)
    for (const text of texts) notePlaces(places, text, first)
  }
  return places
}

function addPlaces(places: Map<string, readonly Place[]>, text: Y.XmlText, page: Y.XmlFragment): void {
  let top = text.parent
  while (top?.parent && top.parent !== page) top = top.parent as Y.XmlElement
  notePlaces(places, text, firstId(top instanceof Y.XmlElement ? textNodes(top) : []))
}

function notePlaces(places: Map<string, readonly Place[]>, text: Y.XmlText, first: string | null): void {
  const block = text.parent as Y.XmlElement
  const ids = [idOf(block), first].filter((id) => id !== null)
  for (const character of charactersOf(text)) {
    if (!isLetter(character)) continue
    const others = places.get(character)?.filter((place) => place.block !== block) ?? []
    places.set(character, [...others, { block, ids }])
  }
}

function firstId(texts: readonly Y.XmlText[]): string | null {
  return texts.map((text) => idOf(text.parent as Y.XmlElement)).find((id) => id !== null) ?? null
}

function idOf(block: Y.XmlElement): string | null {
  const id: unknown = block.getAttribute('id')
  return typeof id === 'string' ? id : null
}
