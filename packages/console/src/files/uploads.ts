import { formatBytes } from '../app/amounts.ts'
import { sentenceOf } from '../app/error-words.ts'
import type { PanelProps } from '../app/views.ts'
import { filesUnderWay } from '../document/files-under-way.ts'
import { messages } from '../messages.en.ts'
import { addFile } from './file-edits.ts'
import type { DocumentPage } from './document-files.ts'

const texts = messages.files

/** The members of a browser `File` that an upload needs. */
export type ChosenFile = Pick<File, 'name' | 'size' | 'type' | 'arrayBuffer'>

/** Uploads files one after another, and puts each on a page when the relay has stored it. */
export class Uploads {
  readonly #target: PanelProps
  readonly #newId: () => string
  /** Resolves when every file taken so far is done. */
  #queue: Promise<void> = Promise.resolve()

  constructor(target: PanelProps, newId: () => string) {
    this.#target = target
    this.#newId = newId
  }

  /** Uploads files onto a page. Resolves when each file is on the page, has failed or was cancelled. */
  take(files: readonly ChosenFile[], page: DocumentPage): Promise<void> {
    const { session, document } = this.#target
    for (const file of files) {
      const { name, size: sizeBytes } = file
      const send = async (stop: AbortSignal): Promise<string | null> => {
        const problem = await this.#send(file, page, stop).catch(sentenceOf)
        if (!stop.aborted) session.announce(problem ?? texts.added(name, page.name))
        return problem
      }
      this.#queue = filesUnderWay(document).take({ name, sizeBytes, pageId: page.id }, send, this.#queue)
    }
    return this.#queue
  }

  /** Uploads one file. Returns why it is not on the page, or `null`. */
  async #send(file: ChosenFile, page: DocumentPage, stop: AbortSignal): Promise<string | null> {
    const { session, document } = this.#target
    const refusal = await this.#refusalOf(file, stop)
    if (refusal !== null) return refusal
    const bytes = await file.arrayBuffer().catch(() => null)
    if (bytes === null) return texts.unreadable(file.name)
    const mimeType = file.type === '' ? 'application/octet-stream' : file.type
    const hash = await session.relay.blobs.upload(new Uint8Array(bytes), { mimeType, signal: stop })
    if (stop.aborted) return null
    const stored = { hash, name: file.name, mimeType, sizeBytes: file.size }
    return addFile(document, page, stored, this.#newId) ? null : texts.notAdded(file.name, page.name)
  }

  /** Returns, before anything is sent, why the file is refused: it is empty, or there is no space for it. */
  async #refusalOf(file: ChosenFile, stop: AbortSignal): Promise<string | null> {
    if (file.size === 0) return texts.empty(file.name)
    const { storageQuota, storageBytes } = await this.#target.session.relay.usage({ signal: stop })
    if (storageQuota === null || storageBytes + file.size <= storageQuota) return null
    return texts.noSpace(file.name, formatBytes(file.size), formatBytes(Math.max(0, storageQuota - storageBytes)))
  }
}
