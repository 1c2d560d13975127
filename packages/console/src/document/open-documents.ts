import type { LiveDocument, Relay } from '@docrelay/client'
import type { Person } from '../app/views.ts'
import { type FileUnderWay, filesUnderWay } from './files-under-way.ts'

/**
 * The open documents of the page. A document left with unsaved words stays open until they are durable; opening it again meanwhile gives the same
 * object.
 */
export class OpenDocuments {
  readonly #relay: Relay
  readonly #person: Person
  readonly #open = new Map<string, LiveDocument>()
  readonly #shown = new Set<LiveDocument>()
  /** Every document that is not closed yet, with the function that stops watching its files. */
  readonly #watched = new Map<LiveDocument, () => void>()
  /** Documents with words that are nowhere else, which the relay refused after the person had left. */
  readonly #refused = new Set<LiveDocument>()
  readonly #watchers = new Set<() => void>()

  constructor(relay: Relay, person: Person) {
    this.#relay = relay
    this.#person = person
  }

  /** Whether any words or files are not durable on the relay. */
  get unsaved(): boolean {
    if ([...this.#watched.keys()].some((document) => filesUnderWay(document).isSending)) return true
    return [...this.#open.values()].some(({ state, gone }) => gone?.unsaved ?? state.saved !== 'saved')
  }

  /** Files that failed and that no view shows. */
  get failedFiles(): readonly { readonly document: LiveDocument; readonly file: FileUnderWay }[] {
    return [...this.#watched.keys()].flatMap((document) => filesUnderWay(document).unseen.map((file) => ({ document, file })))
  }

  /** Documents whose words the relay refused while no view showed them. Each stays open until the person has seen it. */
  get refused(): readonly LiveDocument[] {
    return [...this.#refused]
  }

  /** Calls `changed` when `failedFiles` or `refused` may have changed; the returned function removes the listener. */
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

  /** Opens a document again that ended for this person, who may have got access since. */
  again(former: LiveDocument): LiveDocument {
    this.#open.delete(former.id)
    return this.take(former.id)
  }

  /** Replaces the live document by another one with the same id, for example after the local words were dropped. */
  replace(former: LiveDocument, document: LiveDocument): void {
    this.#shown.delete(former)
    this.#keep(document)
  }

  /**
   * Closes the document when its words are durable or cannot become durable, unless it is shown again before that. Keeps it open when the relay
   * refuses words only now, since the person does not know yet. [CON-24]
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

  /** Lists the document in `refused` until it is shown again, or until the relay has accepted the words after all. */
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

/**
 * Whether closing the document would lose words that the relay refuses. A copy on the device counts only for a document that still exists, since
 * nobody would look for the copy of a document that is gone.
 */
function isLosing({ gone, diverged, state }: LiveDocument): boolean {
  return gone?.unsaved ?? (state.saved === 'refused' && diverged !== null && state.localCopy !== 'on')
}

/**
 * Resolves when everything is durable, or when the relay refuses it or has no such document for this person. Does not resolve while a connection
 * has merely stopped, because the words are sent after signing in again. Waits also for files that are being sent, and until the notes about
 * failed ones are closed.
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
    // Sends the gathered edits at once. An error of `flush` shows in the state as well.
    document.flush().catch(() => {})
    look()
  })
}
