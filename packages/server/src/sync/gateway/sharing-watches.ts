import type { DocumentRef } from '../../documents/document-store.port.ts'
import { documentKey } from './room-table.ts'

/** Shows whether the sharing of a document has changed since a JOIN of this document began. */
export interface SharingWatch extends Disposable {
  readonly changed: boolean
}

/** The JOINs in progress, by document. A document that nobody is joining has no entry. */
export class SharingWatches {
  readonly #watched = new Map<string, Set<{ changed: boolean }>>()

  watch(ref: DocumentRef): SharingWatch {
    const key = documentKey(ref)
    const watch = { changed: false }
    const others = this.#watched.get(key)
    if (others) others.add(watch)
    else this.#watched.set(key, new Set([watch]))
    return {
      get changed() {
        return watch.changed
      },
      [Symbol.dispose]: () => this.#forget(key, watch),
    }
  }

  changed(ref: DocumentRef): void {
    for (const watch of this.#watched.get(documentKey(ref)) ?? []) watch.changed = true
  }

  #forget(key: string, watch: { changed: boolean }): void {
    const watches = this.#watched.get(key)
    watches?.delete(watch)
    if (watches?.size === 0) this.#watched.delete(key)
  }
}
