import type { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { charactersOf, textNodes, type TypedCharacter } from './words.ts'

/** A paragraph of this length gets no more words, so that an answer can quote it whole. */
const FULL_CHARACTERS = 90
/** How many of a hundred words begin a new paragraph. */
const NEW_PARAGRAPHS = 8
const WORD_CHARACTERS = 6

/** A person who types words at random places of a page, one character at a time, as an editor sends them. [AG-97] */
export interface TypingPerson {
  readonly client: SyncClient
  /** The typed characters, in order. */
  readonly typed: readonly TypedCharacter[]
  /** Times from a keystroke to the ack of everything typed, in ms. */
  readonly ackMs: number[]
  /** Types until `running` returns false. */
  type(running: () => boolean): Promise<void>
}

export interface PersonPlan {
  readonly connect: (onState: (state: SyncClient['state']) => void) => SyncClient
  readonly pageId: string
  readonly number: number
  readonly keystrokesPerSec: number
  readonly random: () => number
  /** Returns a letter that nobody else types. */
  readonly letter: () => string
}

export function openTypingPerson(plan: PersonPlan): TypingPerson {
  const { connect, pageId, number, keystrokesPerSec, random, letter } = plan
  const typist = `typist-${number}`
  const typed: TypedCharacter[] = []
  let unsaved: TypedCharacter[] = []
  const ackMs: number[] = []
  let unsavedSince: number | null = null
  const onState = (state: SyncClient['state']): void => {
    if (state.saved !== 'saved' || unsavedSince === null) return
    ackMs.push(performance.now() - unsavedSince)
    unsavedSince = null
    for (const character of unsaved) character.isSaved = true
    unsaved = []
  }
  const client = connect(onState)
  const page = client.doc.getXmlFragment(`prose:${pageId}`)
  const note = (text: string): void => {
    const character = { text, typist, isSaved: false }
    typed.push(character)
    unsaved.push(character)
  }
  const keystroke = async (): Promise<void> => {
    unsavedSince ??= performance.now()
    await new Promise((resolve) => setTimeout(resolve, (500 + 1_000 * random()) / keystrokesPerSec))
  }

  return {
    client,
    typed,
    ackMs,
    async type(running) {
      while (running()) {
        const place = placeIn(page, random) ?? newParagraph(page, random)
        // The key that begins a paragraph is a keystroke as well.
        if (place.isNew) await keystroke()
        let at = Y.createRelativePositionFromTypeIndex(place.text, place.index)
        for (let left = WORD_CHARACTERS; left >= 0; left--) {
          const found = running() ? Y.createAbsolutePositionFromRelativePosition(at, client.doc) : null
          // When the text is gone, the cursor is lost.
          if (found === null || !isIn(found.type, page)) break
          const text = found.type as Y.XmlText
          const isLetter = left > 0
          const character = isLetter ? letter() : ' '
          text.insert(found.index, character)
          if (isLetter) note(character)
          // Keeps the cursor to the right of the typed character, whatever others type there.
          at = Y.createRelativePositionFromTypeIndex(text, found.index + 1, -1)
          await keystroke()
        }
      }
    },
  }
}

interface Place {
  readonly text: Y.XmlText
  readonly index: number
  readonly isNew: boolean
}

/** Returns a place at the start of a text or after a space, so that words do not split each other. `null`: begin a paragraph. */
function placeIn(page: Y.XmlFragment, random: () => number): Place | null {
  const isNew = random() * 100 < NEW_PARAGRAPHS
  const nodes = isNew ? [] : textNodes(page).filter((text) => text.length < FULL_CHARACTERS)
  const text = nodes[Math.floor(random() * nodes.length)]
  if (text === undefined) return null
  const characters = charactersOf(text)
  const starts = [0, ...[...characters].flatMap((character, i) => (character === ' ' ? [i + 1] : []))]
  return { text, index: starts[Math.floor(random() * starts.length)] ?? 0, isNew: false }
}

function newParagraph(page: Y.XmlFragment, random: () => number): Place {
  const paragraph = new Y.XmlElement('paragraph')
  const text = new Y.XmlText()
  paragraph.insert(0, [text])
  page.insert(Math.floor(random() * (page.length + 1)), [paragraph])
  return { text, index: 0, isNew: true }
}

function isIn(type: Y.AbstractType<unknown>, page: Y.XmlFragment): boolean {
  for (let node: Y.AbstractType<unknown> | null = type; node !== null; node = node._item?.parent as never) {
    if (node === page) return true
    if (node._item?.deleted === true) return false
  }
  return false
}
