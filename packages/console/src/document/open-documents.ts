import type { LiveDocument, Relay } from '@docrelay/client'
import type { Person } from '../app/views.ts'
import { type FileUnderWay, filesUnderWay } from './files-under-way.ts'

/** Open documents of the page. One that is left with unsaved words stays open until they are durable, and is taken up again meanwhile. */
export class OpenDocuments {
  readonly #relay: Relay
  readonly #person: Person
  readonly #open = new Map<string, LiveDocument>()
  readonly #shown = new Set<LiveDocument>()
  /** Every document that is not closed yet, with what ends the watch over its files. */
  readonly #watched = new Map<LiveDocument, () => void>()
  /** Documents that were refused after the person had left them, with words that are nowhere else. */
  readonly #refused = new Set<LiveDocument>()
  readonly #watchers = new Set<() => void>()

  constructor(relay: Relay, person: Person) {
    this.#relay = relay
    this.#person = person
  }

  /** Whether anything that was typed, or a file, is not durable on the relay. */
  get unsaved(): boolean {
    if ([...this.#watched.keys()].some((document) => filesUnderWay(document).isSending)) return true
    return [...this.#open.values()].some(({ state, gone }) => gone?.unsaved ?? state.saved !== 'saved')
  }

  /** Files that did not get into their document, and that nothing on the screen shows. */
  get failedFiles(): readonly { readonly document: LiveDocument; readonly file: FileUnderWay }[] {
    return [...this.#watched.keys()].flatMap((document) => filesUnderWay(document).unseen.map((file) => ({ document, file })))
  }

  /** Documents whose words the relay did not take while nothing on the screen showed them. Each stays open until the person has seen it. */
  get refused(): readonly LiveDocument[] {
    return [...this.#refused]
  }

  /** Calls `changed` when there may be others of `failedFiles` or `refused`. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed)
    return () => void this.#watchers.delete(changed)
  }

  take(id: string): LiveDocument {
    const { sub, name, color } = this.#person
    const document = this.#open.get(id) ?? this.#relay.open(id, { user: { id: sub, name, color } })
    this.#keep(document)
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
    this.#keep(document)
  }

  /**
   * Closes the document when its words are durable or cannot become so, unless it is shown again before that. Words that the relay refuses
   * only now are kept for the person, who does not know of it. [CON-24]
   */
  async leave(document: LiveDocument): Promise<void> {
    this.#shown.delete(document)
    const isTold = document.state.saved === 'refused'
    await settled(document)
    if (this.#shown.has(document)) return
    if (!isTold && isLosing(document)) return this.#tellRefused(document)
    if (this.#open.get(document.id) === document) this.#open.delete(document.id)
    this.#watched.get(document)?.()
    this.#watched.delete(document)
    await document.close()
  }

  /** Tells of it until it is shown again, or until the relay has taken the words after all. */
  #tellRefused(document: LiveDocument): void {
    this.#refused.add(document)
    const end = document.on('state', () => {
      if (!this.#refused.has(document)) return end()
      if (document.state.saved !== 'saved') return
      end()
      this.#refused.delete(document)
      void this.leave(document)
      this.#tell()
    })
    this.#tell()
  }

  #keep(document: LiveDocument): void {
    this.#open.set(document.id, document)
    this.#shown.add(document)
    if (this.#refused.delete(document)) this.#tell()
    if (this.#watched.has(document)) return
    const tell = (): void => this.#tell()
    this.#watched.set(document, filesUnderWay(document).watch(tell))
  }

  #tell(): void {
    for (const changed of this.#watchers) changed()
  }
}

/** Whether a document has words that the relay refuses and that are lost when it is closed: of one that is gone nobody would look for a copy on the device. */
function isLosing({ gone, diverged, state }: LiveDocument): boolean {
  return gone?.unsaved ?? (state.saved === 'refused' && diverged !== null && state.localCopy !== 'on')
}

/**
 * Resolves when everything is durable, or when the relay refuses it or has no such document for this person. A connection that stopped
 * decides nothing: after signing in again the words are sent. Files that are on their way are words to come, and the note on one that
 * failed is kept until it is closed.
 */
function settled(document: LiveDocument): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      const { saved } = document.state
      if (saved === 'saving' || saved === 'local' || underWay.files.length > 0) return
      for (const end of ends.splice(0)) end()
      resolve()
    }
    const underWay = filesUnderWay(document)
    const ends = [document.on('state', look)]
    ends.push(underWay.watch(look))
    // Sends at once what was gathered; whether that worked is in the state.
    document.flush().catch(() => {})
    look()
  })
}
