import type { LiveDocument, Relay } from '@docrelay/client'
import type { Person } from '../app/views.ts'

/** Open documents of the page. One that is left with unsaved words stays open until they are durable, and is taken up again meanwhile. */
export class OpenDocuments {
  readonly #relay: Relay
  readonly #person: Person
  readonly #open = new Map<string, LiveDocument>()
  readonly #shown = new Set<LiveDocument>()

  constructor(relay: Relay, person: Person) {
    this.#relay = relay
    this.#person = person
  }

  /** Whether anything that was typed is not durable on the relay. */
  get unsaved(): boolean {
    return [...this.#open.values()].some(({ state, gone }) => gone?.unsaved ?? state.saved !== 'saved')
  }

  take(id: string): LiveDocument {
    const { sub, name, color } = this.#person
    const document = this.#open.get(id) ?? this.#relay.open(id, { user: { id: sub, name, color } })
    this.#open.set(id, document)
    this.#shown.add(document)
    return document
  }

  /** Opens a document anew that has ended for this person, who may be let in by now. */
  again(former: LiveDocument): LiveDocument {
    this.#open.delete(former.id)
    return this.take(former.id)
  }

  /** Shows another object for the same document, for example after the local words were dropped. */
  replace(former: LiveDocument, document: LiveDocument): void {
    this.#shown.delete(former)
    this.#shown.add(document)
    this.#open.set(document.id, document)
  }

  /** Closes the document when its words are durable or cannot become so, unless it is shown again before that. */
  async leave(document: LiveDocument): Promise<void> {
    this.#shown.delete(document)
    await settled(document)
    if (this.#shown.has(document)) return
    if (this.#open.get(document.id) === document) this.#open.delete(document.id)
    await document.close()
  }
}

/**
 * Resolves when everything is durable, or when the relay refuses it or has no such document for this person, of which the person has been
 * told. A connection that stopped decides nothing: after signing in again the words are sent.
 */
function settled(document: LiveDocument): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      const { saved } = document.state
      if (saved === 'saving' || saved === 'local') return
      off()
      resolve()
    }
    const off = document.on('state', look)
    // Sends at once what was gathered; whether that worked is in the state.
    document.flush().catch(() => {})
    look()
  })
}
