import type { LiveDocument } from '@docrelay/client'
import { Plugin } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import { sentenceOf } from '../app/error-words.ts'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { filesUnderWay } from '../document/files-under-way.ts'
import { addFile } from '../files/file-edits.ts'
import { nodeType } from './node-types.ts'
import { keepPlace } from './places.ts'
import { insertedAt, placeFor } from './text-blocks.ts'

const texts = messages.prose.uploads
const SHOWN_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']

/** Inserts dropped or pasted files into a page at their place: images as blocks, other files as chips. */
export class Uploads {
  readonly #session: Session
  readonly #document: LiveDocument
  readonly #pageId: string
  /** `null` when the page is no longer on the screen. */
  #view: (() => EditorView) | null
  /** The blobs uploaded by this tab, which need no download. */
  readonly #stored = new Map<string, Blob>()

  constructor(session: Session, document: LiveDocument, pageId: string, view: () => EditorView) {
    this.#session = session
    this.#document = document
    this.#pageId = pageId
    this.#view = view
  }

  /** Loads a stored image for its node view. */
  readonly load = async (hash: string, { signal: stop }: { readonly signal: AbortSignal }): Promise<Blob> => {
    const known = this.#stored.get(hash)
    if (known !== undefined) return known
    const { bytes, mimeType } = await this.#session.relay.blobs.download(hash, { signal: stop })
    return new Blob([bytes], { type: mimeType })
  }

  /** Uploads the files, and inserts each into the page when it is durable. */
  take(files: readonly File[], at: number): void {
    if (this.#view === null) return
    const place = keepPlace(this.#view, at)
    for (const file of files) {
      const name = file.name === '' ? texts.unnamed : file.name
      const send = async (stop: AbortSignal): Promise<string | null> => {
        const problem = await this.#send(file, name, place, stop).catch(sentenceOf)
        if (!stop.aborted) this.#session.announce(problem === null ? texts.done(name) : `${name}: ${problem}`)
        return problem
      }
      void filesUnderWay(this.#document).take({ name, sizeBytes: file.size, pageId: this.#pageId }, send)
    }
  }

  /** Called when the page is no longer on the screen. Running uploads continue. */
  destroy(): void {
    this.#view = null
  }

  plugin(): Plugin {
    return new Plugin({
      props: {
        handlePaste: (view, event) => this.#takeFrom(event.clipboardData, view.state.selection.to),
        handleDrop: (view, event) => {
          const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos
          return this.#takeFrom(event.dataTransfer, at ?? view.state.selection.to)
        },
      },
    })
  }

  #takeFrom(data: DataTransfer | null, at: number): boolean {
    // Office programs copy text together with a picture of it; such a paste is handled as text.
    if (data === null || data.files.length === 0 || data.types.includes('text/html')) return false
    this.take([...data.files], at)
    return true
  }

  /** Uploads one file. Returns why it is not in the page, or `null`. */
  async #send(file: File, name: string, place: () => number | null, stop: AbortSignal): Promise<string | null> {
    const bytes = new Uint8Array(await file.arrayBuffer())
    const mimeType = file.type === '' ? 'application/octet-stream' : file.type
    const hash = await this.#session.relay.blobs.upload(bytes, { mimeType, signal: stop })
    if (stop.aborted) return null
    this.#stored.set(hash, new Blob([bytes], { type: mimeType }))
    const view = this.#view?.()
    if (view === undefined) {
      const page = { kind: 'prose', id: this.#pageId, name: this.#pageId } as const
      const stored = { hash, name, mimeType, sizeBytes: file.size }
      return addFile(this.#document, page, stored, () => crypto.randomUUID()) ? null : texts.notAdded
    }
    if (this.#document.level === 'view' || !view.editable) return texts.notAdded
    this.#insert(view, file, hash, place())
    return null
  }

  #insert(view: EditorView, file: File, hash: string, place: number | null): void {
    const { doc, tr, selection } = view.state
    const at = doc.resolve(place ?? selection.to)
    if (SHOWN_TYPES.includes(file.type)) {
      const image = nodeType('image').create({ src: `blob://${hash}`, alt: file.name.replace(/\.[^.]*$/, '') || null })
      const between = placeFor({ $from: at, $to: at })
      if (between !== null) view.dispatch(insertedAt(tr, between.from, between.to, [image]))
      return
    }
    const chip = nodeType('fileRef').create({
      blobRef: `blob://${hash}`,
      fileName: file.name,
      mimeType: file.type || null,
      fileSize: String(file.size),
    })
    view.dispatch(at.parent.inlineContent ? tr.insert(at.pos, chip) : tr.insert(at.pos, nodeType('paragraph').create(null, chip)))
  }
}
