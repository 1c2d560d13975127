import type { LiveDocument } from '@docrelay/client'
import { type ReadonlySignal, signal } from '@preact/signals'
import { formatBytes } from '../app/amounts.ts'
import { sentenceOf } from '../app/error-words.ts'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { addFile } from './file-edits.ts'
import type { DocumentPage } from './document-files.ts'

const texts = messages.files

/** A file on its way into the document, or one that did not get there. */
export interface Upload {
  readonly key: number
  readonly name: string
  readonly sizeBytes: number
  readonly state: 'waiting' | 'sending' | 'failed'
  /** Why it failed. */
  readonly problem: string | null
}

/** What of a file is needed; a `File` of the browser is one. */
export type ChosenFile = Pick<File, 'name' | 'size' | 'type' | 'arrayBuffer'>

/** Sends files one after another and puts each on a page when the relay has it. */
export class Uploads {
  readonly #session: Session
  readonly #document: LiveDocument
  readonly #newId: () => string
  readonly #list = signal<readonly Upload[]>([])
  readonly #aborts = new Map<number, AbortController>()
  #made = 0
  /** Ends when everything that was taken so far is done. */
  #queue: Promise<void> = Promise.resolve()

  constructor(session: Session, document: LiveDocument, newId: () => string) {
    this.#session = session
    this.#document = document
    this.#newId = newId
  }

  get list(): ReadonlySignal<readonly Upload[]> {
    return this.#list
  }

  /** Resolves when every file is on the page, has failed or was cancelled. */
  take(files: readonly ChosenFile[], page: DocumentPage): Promise<void> {
    for (const file of files) {
      const key = ++this.#made
      this.#list.value = [...this.#list.value, { key, name: file.name, sizeBytes: file.size, state: 'waiting', problem: null }]
      this.#aborts.set(key, new AbortController())
      this.#queue = this.#queue.then(() => this.#send(key, file, page))
    }
    return this.#queue
  }

  /** Gives a file up, or closes the note on one that failed. */
  drop(key: number): void {
    this.#aborts.get(key)?.abort()
    this.#list.value = this.#list.value.filter((upload) => upload.key !== key)
  }

  async #send(key: number, file: ChosenFile, page: DocumentPage): Promise<void> {
    const abort = this.#aborts.get(key)
    if (abort === undefined || abort.signal.aborted) return
    const { signal: stop } = abort
    this.#change(key, { state: 'sending' })
    try {
      const refusal = await this.#refusalOf(file, stop)
      if (refusal !== null) return this.#fail(key, refusal)
      const bytes = await file.arrayBuffer().catch(() => null)
      if (bytes === null) return this.#fail(key, texts.unreadable(file.name))
      const mimeType = file.type === '' ? 'application/octet-stream' : file.type
      const hash = await this.#session.relay.blobs.upload(new Uint8Array(bytes), { mimeType, signal: stop })
      if (stop.aborted) return
      addFile(this.#document.ydoc, page, { hash, name: file.name, mimeType, sizeBytes: file.size }, this.#newId)
      this.drop(key)
      this.#session.announce(texts.added(file.name, page.name))
    } catch (error) {
      if (!stop.aborted) this.#fail(key, sentenceOf(error))
    } finally {
      this.#aborts.delete(key)
    }
  }

  /** Says before anything is sent that there is no space for it. */
  async #refusalOf(file: ChosenFile, stop: AbortSignal): Promise<string | null> {
    if (file.size === 0) return texts.empty(file.name)
    const { storageQuota, storageBytes } = await this.#session.relay.usage({ signal: stop })
    if (storageQuota === null || storageBytes + file.size <= storageQuota) return null
    return texts.noSpace(file.name, formatBytes(file.size), formatBytes(Math.max(0, storageQuota - storageBytes)))
  }

  #change(key: number, change: Partial<Upload>): void {
    this.#list.value = this.#list.value.map((upload) => (upload.key === key ? { ...upload, ...change } : upload))
  }

  #fail(key: number, problem: string): void {
    this.#change(key, { state: 'failed', problem })
    this.#session.announce(problem)
  }
}
