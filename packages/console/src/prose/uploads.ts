import type { LiveDocument } from '@docrelay/client'
import { signal } from '@preact/signals'
import { Plugin } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import { sentenceOf } from '../app/error-words.ts'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { nodeType } from './node-types.ts'
import { keepPlace } from './places.ts'
import { insertedAt, placeFor } from './text-blocks.ts'

const texts = messages.prose.uploads
const SHOWN_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']

/** A file on its way to the relay, or one that did not get there. */
export interface Upload {
  readonly key: number
  readonly name: string
  readonly bytes: number
  /** Why it failed; `null` while it runs. */
  readonly flaw: string | null
  readonly cancel: () => void
}

/** Takes files into a page: images as blocks, other files as chips, at the place where they were dropped or pasted. */
export class Uploads {
  readonly list = signal<readonly Upload[]>([])
  readonly #session: Session
  readonly #document: LiveDocument
  readonly #view: () => EditorView
  readonly #stop = new AbortController()
  /** What was stored from here, so that it need not be fetched to be shown. */
  readonly #stored = new Map<string, Blob>()
  #made = 0

  constructor(session: Session, document: LiveDocument, view: () => EditorView) {
    this.#session = session
    this.#document = document
    this.#view = view
  }

  /** Loads a stored image for a view. */
  readonly load = async (hash: string, { signal: stop }: { readonly signal: AbortSignal }): Promise<Blob> => {
    const known = this.#stored.get(hash)
    if (known !== undefined) return known
    const { bytes, mimeType } = await this.#session.relay.blobs.download(hash, { signal: stop })
    return new Blob([bytes], { type: mimeType })
  }

  /** Stores the files and puts each into the page when it is durable. */
  take(files: readonly File[], at: number): void {
    const place = keepPlace(this.#view, at)
    for (const file of files) void this.#upload(file, place)
  }

  dismiss(key: number): void {
    this.list.value = this.list.value.filter((upload) => upload.key !== key)
  }

  destroy(): void {
    this.#stop.abort()
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
    // Words with a picture of themselves, as office programs copy them, are pasted as words.
    if (data === null || data.files.length === 0 || data.types.includes('text/html')) return false
    this.take([...data.files], at)
    return true
  }

  async #upload(file: File, place: () => number | null): Promise<void> {
    const key = ++this.#made
    const stop = new AbortController()
    const name = file.name === '' ? texts.unnamed : file.name
    const cancel = () => {
      stop.abort()
      this.dismiss(key)
    }
    this.list.value = [...this.list.value, { key, name, bytes: file.size, flaw: null, cancel }]
    try {
      const bytes = new Uint8Array(await file.arrayBuffer())
      const mimeType = file.type === '' ? 'application/octet-stream' : file.type
      const hash = await this.#session.relay.blobs.upload(bytes, {
        mimeType,
        signal: AbortSignal.any([stop.signal, this.#stop.signal]),
      })
      this.#stored.set(hash, new Blob([bytes], { type: mimeType }))
      this.#insert(file, hash, place())
      this.dismiss(key)
      this.#session.announce(texts.done(name))
    } catch (error) {
      if (stop.signal.aborted || this.#stop.signal.aborted) return
      const flaw = sentenceOf(error)
      this.list.value = this.list.value.map((upload) => (upload.key === key ? { ...upload, flaw } : upload))
      this.#session.announce(`${name}: ${flaw}`)
    }
  }

  #insert(file: File, hash: string, place: number | null): void {
    const view = this.#view()
    if (this.#document.level === 'view' || !view.editable) return
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
